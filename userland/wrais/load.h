/* SPDX-License-Identifier: GPL-2.0 */
/*
 * load.h - background load: copies of dd that read and write files, and that
 * are started again as often as they end.
 */
#ifndef WRAIS_LOAD_H
#define WRAIS_LOAD_H

#include <sys/types.h>

#include "crew.h"
#include "diskfile.h"
#include "types.h"

/* Of each kind. */
#define LOAD_WORKERS_MAX	128U

struct load_options {
	const char *dir;
	u32 readers;
	u32 writers;
	u64 read_size;		/* bytes of a reader's file */
	u64 write_size;		/* bytes that a writer's file has at most, roughly */
	u64 pass_size;		/* bytes that a worker moves before it is started anew */
	u64 block_size;		/* bytes that it moves at a time */
	u64 stagger_ms;		/* a worker begins so long after the one before it */
	u64 sync_ms;		/* between two calls of sync(2), 0: never */
	bool prio_set;
	struct ioprio prio;	/* I/O priority of the readers and writers */
};

struct load {
	const struct load_options *o;
	struct crew crew;	/* readers, writers, a syncer; value is bytes moved */
	unsigned int count;
	int *pidfd;
	u64 *marked;		/* bytes that each had moved by load_mark() */
};

/* Make the readers' files. Exits with EXIT_FAILED when that cannot be done. */
void load_prepare(const struct load_options *o);

/* Start the workers. */
void load_start(struct load *load, const struct load_options *o);

/*
 * Replace workers that end, until @fd (-1: none) is readable; false when it is
 * not by @deadline_ns. Exits with EXIT_FAILED when a worker fails.
 */
bool load_watch(struct load *load, int fd, u64 deadline_ns);

/* All workers have moved their first bytes. */
bool load_runs(const struct load *load);

/* Bytes moved until now. */
u64 load_read_bytes(const struct load *load);
u64 load_written_bytes(const struct load *load);

/* How many workers have moved nothing since the last load_mark(). */
void load_mark(struct load *load);
unsigned int load_starved(const struct load *load);

/* Kill the workers, wait for their end, remove what they wrote. */
void load_stop(struct load *load);

#endif /* WRAIS_LOAD_H */
