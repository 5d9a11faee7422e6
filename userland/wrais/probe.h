/* SPDX-License-Identifier: GPL-2.0 */
/* probe.h - the latency probe: an application that starts, and every stall of it. */
#ifndef WRAIS_PROBE_H
#define WRAIS_PROBE_H

#include "app.h"
#include "types.h"

/* The stall that a person notices; the name of the figure has the number. */
#define STALL_MS	300U

#define PROBE_PAGES	52800U
#define PROBE_PAGES_MAX	16777216U

enum probe_op {
	PROBE_OPEN,
	PROBE_READ,
	PROBE_WRITE,
	PROBE_FSYNC,
	PROBE_OPS,
};

extern const char *const probe_ops[];

struct probe_options {
	const char *file;	/* read */
	const char *output;	/* written, from its start */
	u32 pages;		/* how many reads of one page */
	u32 write_every;	/* a write behind the first of this many reads, 0: none */
	u64 write_bytes;	/* all writes together; 0: one page each */
	u32 fsync_every;	/* writes; 0: never */
	u64 think_us;		/* sleep so long */
	u64 think_every;	/* whenever so many bytes were read; 0: never */
	bool random;		/* pages in random order, without readahead */
	bool write_only;	/* no reads: the step of a page is the write behind it */
	const struct app_shape *app;	/* reads of this shape in place of all that; or NULL */
	u64 seed;
	u64 endless_ns;		/* read so long instead of @pages reads; 0: no */
	u64 stall_ns;		/* report what takes longer */
};

/* Kept up to date, so that it tells of a probe that was killed, too. */
struct probe_result {
	u64 begin_ns;		/* CLOCK_MONOTONIC */
	u64 end_ns;		/* 0 while it runs */
	u64 reads;
	u64 writes;
	u64 fsyncs;
	u64 read_bytes;
	u64 written_bytes;
	u64 stalls;		/* over STALL_MS */
	u64 op_begin_ns;	/* of the operation under way, 0: none */
	u32 op;
	struct {
		u64 sum_ns;
		u64 max_ns;
	} times[PROBE_OPS];
};

/* The usual kinds of application: names for --probe, ends with NULL. */
extern const char *const probe_kinds[];

struct probe_options probe_defaults(void);

/* Change what makes up the kind with this index in probe_kinds. */
void probe_set_kind(struct probe_options *o, unsigned int kind);

/* Go on for @ns; a probe that reads does not write. */
void probe_set_endless(struct probe_options *o, u64 ns);

/* Run it. Exits with EXIT_USAGE when the file is too short, else EXIT_FAILED. */
void probe_run(const struct probe_options *o, struct probe_result *result);

/* Count an operation that took @ns. */
void probe_account(struct probe_result *result, enum probe_op op, u64 ns);

/* Count the operation that a killed probe was in until @now_ns. */
void probe_close(struct probe_result *result, u64 now_ns);

/* The longest operation of all, and which it was. */
enum probe_op probe_worst(const struct probe_result *result);

/* The members of an open JSON object. */
void probe_json(const struct probe_result *result);

#endif /* WRAIS_PROBE_H */
