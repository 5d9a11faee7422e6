/* SPDX-License-Identifier: GPL-2.0 */
/*
 * top.h - lottery top: what tickets buy and what tasks get, look by look.
 *
 * The kernel counts CPU time and draws. What a task has won is not counted; its
 * CPU time in quanta is as good, and says it here as a part of a CPU.
 */
#ifndef LOTTERY_TOP_H
#define LOTTERY_TOP_H

#include <stdio.h>
#include <sys/types.h>

#include "lottery_sched.h"
#include "types.h"

struct top_task {
	pid_t tid;
	u64 started_ticks;	/* with tid: which task it is */
	char name[64];		/* printable */
	char state;
	u32 cpu;		/* where it runs or ran last */
	u64 cpus;		/* where it may run */
	u32 tickets;
	bool derived;		/* from its nice value */
	u32 worth;		/* in base tickets, when it was last queued */
	u64 quantum_ns;		/* 0: one tick */

	u64 read_ns;		/* when the following was read */
	u64 ran_ns;		/* CPU time so far */
	u64 waited_ns;		/* on a run queue, up to when it last ran; 0: not counted */
	u64 runs;		/* how often it was put on a CPU; 0: not counted */

	/* since the look before, see top_compare() */
	bool known;		/* it was there then; or got and runs_s mean nothing */
	bool wanted;		/* it was runnable, at least for a while */
	double got;		/* in CPUs */
	double due;		/* in CPUs, if it wanted and due_known */
	double runs_s;
};

/* One look at everything. */
struct top_look {
	u64 read_ns;		/* when state was read */
	u64 ended_ns;
	u64 waited_ns;		/* for a CPU, from its beginning to its end */
	struct lottery_state state;
	struct top_task *task;
	size_t count;
	size_t room;
	bool due_known;
	bool recorded;		/* whence its tickets are, and quanta, is not known */
};

/* All lottery tasks that /proc shows; @look is empty or has been used before. */
void top_look(struct top_look *look);

/*
 * A recording, as trace-cmd report prints it, as one look of all of it; "-" is the
 * standard input. Exits with EXIT_FAILED where it cannot be read or tells nothing.
 */
void top_trace(const char *path, struct top_look *look, struct top_look *before);

/* A name can hold anything, and a terminal obeys what it is sent. */
void copy_printable(char *to, const char *from);

/* What has happened since @before, whose tasks it sorts. */
void top_compare(struct top_look *look, struct top_look *before);

/* From one look to the other, and how many draws a second were held at @cpu; NAN: not known. */
double top_seconds(const struct top_look *look, const struct top_look *before);
double top_draws(const struct top_look *look, const struct top_look *before,
		 const struct lottery_cpu *cpu);

enum top_sort {
	TOP_BY_TICKETS,
	TOP_BY_GOT,
	TOP_SORTS,
};

/* Their names; ends with NULL. */
extern const char *const top_sorts[];

void top_sort(struct top_look *look, enum top_sort sort);

/*
 * Print a look, of which it sorts the tasks, as lines that end with @end: all, if
 * @rows is 0, or at most @rows of them (8 if that is less), with a word on keys.
 */
void top_show(struct top_look *look, const struct top_look *before, enum top_sort sort,
	      const char *end, unsigned int rows);
/* The same as a line of JSON. */
void top_json(struct top_look *look, const struct top_look *before, enum top_sort sort);

/* SIGINT and SIGTERM end the program with a good status, and close the screen. */
void screen_end_well(void);

/* Take the terminal, up to the end of the program. False if stdout is not a usable one. */
bool screen_open(void);
unsigned int screen_rows(void);

/* The next key that is pressed before @until_ns; '\0', and only then, if none is. */
char screen_key(u64 until_ns);

#endif /* LOTTERY_TOP_H */
