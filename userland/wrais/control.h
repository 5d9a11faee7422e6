/* SPDX-License-Identifier: GPL-2.0 */
/* control.h - the kernel's switches, knobs and counters of privileged I/O. */
#ifndef WRAIS_CONTROL_H
#define WRAIS_CONTROL_H

#include "types.h"

#define WRAIS_SYSCTL	"/proc/sys/kernel/wrais"
#define WRAIS_DEBUGFS	"/sys/kernel/debug/wrais"
#define WRAIS_STAT	WRAIS_DEBUGFS "/stat"
#define WRAIS_MISSING	"this kernel has no privileged I/O (CONFIG_BFQ_WRAIS)"

/* The switch of all, which is a sysctl; the others are below WRAIS_DEBUGFS. */
#define WRAIS_MASTER	"enabled"

/* The parts by the names of their switches; the table ends with NULL. */
extern const char *const wrais_parts[];

/* The kernel's numbers other than the switches, and their bounds. */
struct wrais_knob {
	const char *name;
	u32 usual;
	u32 min;
	u32 max;
};

extern const struct wrais_knob wrais_knobs[];
extern const unsigned int wrais_nr_knobs;

/* WRAIS_STAT */
#define WRAIS_STATS_MAX		32U

struct wrais_stat {
	char name[32];
	u64 value;
};

struct wrais_stats {
	unsigned int count;	/* without the version */
	struct wrais_stat stat[WRAIS_STATS_MAX];
};

bool wrais_supported(void);

/* Exits with EXIT_UNSUPPORTED and one clear line unless wrais_supported(). */
void wrais_require(void);

/* A switch or knob; 0 or -errno, -ENOENT when the part is not compiled in. */
int wrais_get(const char *name, u64 *value);
int wrais_set(const char *name, u64 value);

/* Read and parse it; false when the kernel has none. Exits when it is bad. */
bool wrais_read(struct wrais_stats *stats);

/* The value with that name; false when it does not exist. */
bool wrais_find(const struct wrais_stats *stats, const char *name, u64 *value);

/* A choice of parts, one bit for each of wrais_parts. */
struct wrais_choice {
	bool any;		/* the master switch */
	u32 on;
	u32 named;		/* one by one: these must exist */
};

/*
 * A list like "dirty,tags", "all", "none", "all,-tags", for the option @what; exits with
 * EXIT_USAGE.
 */
struct wrais_choice wrais_choose(const char *what, const char *text);

/*
 * Exits with EXIT_UNSUPPORTED before anything is changed when a part that was
 * named is missing, with EXIT_FAILED when it is not permitted.
 */
void wrais_check(const struct wrais_choice *choice);
void wrais_apply(const struct wrais_choice *choice);

#endif /* WRAIS_CONTROL_H */
