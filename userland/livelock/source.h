/* SPDX-License-Identifier: GPL-2.0 */
/* source.h - the kernel's source of frames, /sys/kernel/debug/nll_source. */
#ifndef LIVELOCK_SOURCE_H
#define LIVELOCK_SOURCE_H

#include "nic.h"

#define SOURCE_DRIVER	"nll_source"
#define SOURCE_FILES	"/sys/kernel/debug/nll_source"
#define SOURCE_TARGETS	8

struct source_counts {
	u64 due;
	u64 sent;
	u64 tail;		/* the receiver's ring had no room */
	u64 full;		/* how often that began */
	u64 malformed;
};

struct source_effort {
	u64 shots;
	u64 timer_ns;
	u64 late_max_ns;
	u64 busy;
};

/* A whole run, or its window. */
struct source_span {
	struct source_effort effort;
	struct source_counts target[SOURCE_TARGETS];
	unsigned int targets;
};

struct source_results {
	struct source_span total;
	struct source_span window;
};

/* Forget all receivers; send from @sender to address @ip and UDP port @port of @receiver. */
int source_clear(void);
int source_add(const struct nic *sender, const struct nic *receiver, u32 ip, u16 port);

/* Change some names and values of the configuration. 0 or -errno. */
int source_configure(const char *format, ...) __printf(1, 2);

int source_start(void);
int source_stop(void);

/* The run has ended, with its lag. */
bool source_done(void);

/* 0 or -errno. */
int source_read(struct source_results *results);

/* The counts of all targets together. */
struct source_counts source_sum(const struct source_span *span);

#endif /* LIVELOCK_SOURCE_H */
