/* SPDX-License-Identifier: GPL-2.0 */
/* run.h - wrais-run: one measurement of a start-up under a background load. */
#ifndef WRAIS_RUN_H
#define WRAIS_RUN_H

#include <limits.h>
#include <sys/types.h>

#include "control.h"
#include "diskfile.h"
#include "load.h"
#include "probe.h"
#include "types.h"

#define TUNES_MAX	16U
#define EXPECTED_MAX	16U

/* What a counter of WRAIS_STAT does while the probe runs. */
struct expectation {
	const char *counter;
	bool grows;
};

struct run_options {
	const char *label;	/* NULL: none */
	const char *disk;	/* the name in /sys/block */
	const char *dir;
	bool mount;
	const char *mount_options;
	const char *scheduler;	/* NULL: as it is */
	u64 slice_idle_us;
	bool slice_idle_set;
	const char *tune[TUNES_MAX];	/* NAME=VALUE of the disk's queue */
	unsigned int tunes;
	u64 dirty_bytes;	/* 0: as it is */
	u64 dirty_background_bytes;
	bool wrais_set;
	struct wrais_choice wrais;
	const char *knob[TUNES_MAX];	/* NAME=VALUE of the kernel's numbers */
	unsigned int knobs;
	struct expectation expected[EXPECTED_MAX];
	unsigned int nr_expected;
	u64 longest_ns;		/* that an operation of the probe may take; 0: any time */
	u32 share;		/* percent of the device that the load is to have, ... */
	u32 share_max;		/* ... and not to exceed; 0: any */
	bool no_priority;
	struct ioprio_options prio;
	u32 probe_weight;	/* io.bfq.weight of their cgroups, 0: they have none */
	u32 load_weight;
	bool member;		/* io.wrais of the probe's */
	struct load_options load;
	unsigned int kind;	/* the index in probe_kinds */
	struct probe_options probe;
	char **command;		/* in place of the probe, NULL: none */
	u32 repeats;
	u64 phase_ms;
	u64 phase_step_ms;
	u64 limit_s;
	u32 window_s;		/* 0: no look at the load in windows */
	bool keep_caches;
	const char *tracer;	/* NULL: none */
	const char *trace_events;	/* NULL: none */
	const char *trace_filter;	/* functions of a tracer, NULL: all */
	const char *trace_file;
	u64 trace_start_ms;
	u64 trace_stop_ms;	/* how long */
	u64 trace_kib;
	char file[PATH_MAX];	/* of the probe */
	char output[PATH_MAX];
};

/* run_options.c: exits with EXIT_USAGE */
const struct run_options *run_parse(int argc, char **argv);

/* run_setup.c: exits with one clear line when something cannot be had */
void run_setup(const struct run_options *o);
/* Undo the mount. */
void run_unmount(const struct run_options *o);

/*
 * run_groups.c: two cgroups with the io controller. Exits with one clear line when they
 * cannot be had.
 */
void groups_parse(const char *text, struct run_options *o);
/* Make them; the caller is in that of the load from now on. */
void groups_make(const struct run_options *o);
void groups_join_probe(void);
/* When no task but the caller is left in them. */
void groups_remove(void);

/* run_trace.c */
void trace_setup(const struct run_options *o);
/* Start the child that opens the window in @repeat; its pid, 0 for none. */
pid_t trace_start(const struct run_options *o, u32 repeat);
/* Wait until the trace is in its file. */
void trace_finish(const struct run_options *o, pid_t pid);
void trace_list(void);

#endif /* WRAIS_RUN_H */
