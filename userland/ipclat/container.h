/* SPDX-License-Identifier: GPL-2.0 */
/* container.h - two containers: what they are made of, and who makes it. */
#ifndef IPCLAT_CONTAINER_H
#define IPCLAT_CONTAINER_H

#include "ipclat.h"
#include "program.h"

struct container {
	char id[48];
	pid_t holder;		/* our child that holds its network, 0 if the runtime does */
	pid_t network;		/* somebody in its network */
	pid_t program;		/* the runtime's, our child; 0 when there is none */
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

/* container_net.c APIs; each exits with EXIT_FAILED when that cannot be done */
/* A network that is held by a child of ours. */
void start_network(struct container *one);
void stop_network(struct container *one);
/* A pair of interfaces between the two, each with its address. */
void join_networks(const struct containers *c);

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

/* container_runtime.c API: the one that was asked for or found, NULL if none */
const struct runtime *the_runtime(void);

#endif /* IPCLAT_CONTAINER_H */
