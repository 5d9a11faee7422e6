/* SPDX-License-Identifier: GPL-2.0 */
/* ipclat.h - what was asked for, and what came of it. */
#ifndef IPCLAT_H
#define IPCLAT_H

#include <stdio.h>

#include "interval.h"
#include "mechanism.h"
#include "side.h"
#include "types.h"

/*
 * Ctrl-C and other requests to end wait until what has been made is removed again.
 * hold_interrupts(); make things, start children, each with release_interrupts();
 * await_signal(...); returns early when there is a request remove the things;
 * end_interrupts(); ends the program if there was one
 */

/* From here on SIGHUP, SIGINT, SIGQUIT and SIGTERM wait, and SIGCHLD does. */
void hold_interrupts(void);

/* In a child: they do what they did before. */
void release_interrupts(void);

/*
 * Sleep until a child ends or there is a request, or @deadline_ns (CLOCK_MONOTONIC).
 * It may also return for nothing.
 */
void await_signal(u64 deadline_ns);

/* Whether there is or was a request. */
bool interrupted(void);

/* They do what they did before; if there was a request, that ends us here. */
void end_interrupts(void);

#define CHOSEN_MAX	64U
#define PERCENTILES_MAX	16U

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

/* A mechanism that was asked for, and what came of it. */
struct chosen {
	const struct mechanism *m;
	bool named;		/* by its own name: then it must be there */
	bool back;		/* the sides have changed their CPUs */
	const char *missing;	/* why it was not measured, NULL when it was */
	struct histogram *histogram;	/* cycles, as they were read */
	struct repeat *repeats;
	u32 measured;		/* how many of them */
};

struct percentile {
	const char *text;	/* as it was asked for */
	double q;
};

struct csv_file {
	const char *path;
	FILE *file;
};

struct options {
	struct settings s;
	struct chosen chosen[CHOSEN_MAX];
	unsigned int count;
	const char *list;	/* the text of --mechanism */
	bool available;		/* a name is no demand */
	bool both_ways;
	const char *policy;
	const char *cpus;	/* the text of --cpus */
	const char *side;
	u32 hogs;
	u32 hog_tickets;
	struct percentile percentile[PERCENTILES_MAX];
	unsigned int percentiles;
	struct csv_file histogram, repeats;
	enum form form;
	bool buckets;
};

/* Exits with EXIT_USAGE for anything that is not allowed. */
struct options parse_options(int argc, char **argv);

/* Names with commas between them; exits with EXIT_USAGE for one that there is not. */
void choose_list(struct options *o, const char *text);
const struct mechanism *find_mechanism(const char *name);
void __noreturn list_mechanisms(void);
/* Exits, with nothing measured, when one that must be there is not. */
void check_mechanisms(struct options *o);

/* What was measured, as a table, as JSON or CSV, and in files. */

/* Before anything is measured: exits with EXIT_USAGE for a file that cannot be written. */
void open_outputs(struct options *o);

/* A repeat that has just been measured, to --repeats-csv. */
void note_repeat(struct options *o, const struct chosen *c, u32 repeat,
		 const struct histogram *one);

/* All of it; exits with EXIT_FAILED when it cannot be written. */
void report(struct options *o, bool complete);

/* What is taken off the samples of a mechanism, cycles. */
double clock_cost(const struct options *o, const struct chosen *c);

/* Both sides, from their start to their end. */

/*
 * One repeat; its samples are added to @h. NULL, or why that failed: a side died or
 * did not end in time.
 */
const char *run_pair(const struct settings *s, const struct mechanism *m, struct histogram *h);

/* Words through file descriptors. */

/* Whole words only; exit with EXIT_FAILED, naming @what, otherwise. */
void write_word(const char *what, int fd, u64 word);
u64 read_word(const char *what, int fd);

/* Other programs: where they are, and running them. */

#define PATH_SIZE	192
#define WORDS_MAX	48U

/* A command line; its last word is followed by NULL. */
struct words {
	const char *word[WORDS_MAX];
	unsigned int count;
};

#define __sentinel	attribute(__sentinel__)

/* NULL ends what is added. */
void add_words(struct words *w, ...) __sentinel;

/* Where @name is: by PATH, unless it has a slash. False when it is no program. */
bool find_program(const char *name, char *path, size_t size);

/*
 * Run a program to its end; NULL ends its words. 0 when it was good. It gets a session
 * of its own: what interrupts us does not end it half-way.
 */
int call(const char *program, ...) __sentinel;
/* The same, and whatever it says is dropped. */
int call_quietly(const char *program, ...) __sentinel;
/* The same, with what it prints, cut off at @size, in @answer; complaints are dropped. */
int ask(char *answer, size_t size, const char *program, ...) __sentinel;

/* Two containers, and the files that they are made of. */

struct container {
	char id[48];
	pid_t holder;		/* our child that holds its network, 0 if the runtime does */
	pid_t network;		/* a process in its network */
	pid_t program;		/* the runtime's, our child; 0: it does not run */
	bool left;		/* it was started, and may still be there */
};

struct containers {
	char dir[64];
	char name[32];		/* that what belongs to them is named after */
	const struct mechanism *m;
	struct page *page;
	struct container side[SIDES];
};

extern const char *const side_names[];

/* A path in the directory of @c; @path has PATH_SIZE. */
void path_in(const struct containers *c, char *path, const char *format, ...) __printf(3, 4);
/* Exits when the file cannot be written. */
void write_file(const char *path, const void *data, size_t size);

/*
 * What the containers see: a root with this program in it, and a directory that both
 * have mounted, with the page. Each of these exits with EXIT_FAILED when it cannot.
 */
void make_files(struct containers *c);
/* In a container: the page, NULL outside of one. */
struct page *contained_page(void);
void remove_files(struct containers *c);

/* The networks of two containers. Each of these exits with EXIT_FAILED when it cannot. */

/* A network that a child process of ours keeps in being. */
void start_network(struct container *one);
void stop_network(struct container *one);
/* A pair of interfaces between the two, each with its address. */
void join_networks(const struct containers *c);

/* The programs that run containers. */

/* How a kind of runtime is called. */
struct runtime {
	const char *name;	/* that its program's name begins with */
	bool networks;		/* it makes them, each for a container that runs */
	/* NULL, or why the program that was found is of no use; may be NULL */
	const char *(*missing)(void);
	/* what a container needs before it is started; may be NULL, as clean_up */
	void (*prepare)(const struct containers *c, enum side side);
	/* in a child: be the program that runs the container to its end */
	void (*run)(const struct containers *c, enum side side);
	/* of runtimes that make the networks: a process of the container, 0 if none */
	pid_t (*pid)(const struct containers *c, enum side side);
	/* whatever there is of the container, if anything */
	void (*remove)(const struct containers *c, enum side side);
	/* when there are no containers any more */
	void (*clean_up)(const struct containers *c);
};

/* The one that was asked for or found, NULL if none. */
const struct runtime *the_runtime(void);

/* A program by its name or path; exits with EXIT_USAGE when it cannot be used. */
void set_runtime(const char *name);
/* The program that runs containers, NULL if it does not exist. */
const char *runtime_path(void);
/* NULL, or why there can be no containers here. */
const char *containers_missing(void);

/*
 * The two sides in two containers, each with mounts, processes, IPC and a network of its
 * own.
 */

/* One repeat; its samples are added to @h. NULL, or why that failed. */
const char *run_containers(const struct settings *s, const struct mechanism *m,
			   struct histogram *h);

/* In a container, as ipclat --side NAME: the exit status. */
int contained_side(const struct mechanism *m, const char *name);

/* ZeroMQ for other files: one socket a side, at the page's endpoint. */

void zmq_start(struct page *page, enum side side, int type);
void zmq_put(struct page *page, enum side side, u64 word);
u64 zmq_get(struct page *page, enum side side);
void zmq_stop(struct page *page, enum side side);
/* NULL, or why TMPDIR cannot hold the socket. */
const char *zmq_ipc_missing(void);
void zmq_ipc_endpoint(struct page *page);
void zmq_ipc_remove(struct page *page);

#endif
