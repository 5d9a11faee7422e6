/* SPDX-License-Identifier: GPL-2.0 */
/* container_runtime.h - the programs that run containers. */
#ifndef IPCLAT_CONTAINER_RUNTIME_H
#define IPCLAT_CONTAINER_RUNTIME_H

#include "container_files.h"

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
/* The program that runs containers, NULL if there is none. */
const char *runtime_path(void);
/* NULL, or why there can be no containers here. */
const char *containers_missing(void);

#endif /* IPCLAT_CONTAINER_RUNTIME_H */
