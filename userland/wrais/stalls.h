/* SPDX-License-Identifier: GPL-2.0 */
/* stalls.h - the kernel's trace of sleeping and waking, made into waits. */
#ifndef WRAIS_STALLS_H
#define WRAIS_STALLS_H

#include <sys/types.h>

#include "types.h"

#define STACK_MAX	2048U	/* characters */
#define COMM_MAX	16U

/* One wait, from going to sleep until running again. */
struct stall {
	pid_t tid;
	char comm[COMM_MAX];
	char state;		/* 'D', 'S' ... */
	u64 begin_ns;		/* CLOCK_MONOTONIC, as exact as the trace */
	u64 woken_ns;		/* 0: not seen */
	u64 end_ns;
	char waker[COMM_MAX + 16];	/* comm-pid, empty: not seen */
	char stack[STACK_MAX];	/* functions, innermost first, one a line */
};

struct stalls;

/* @report is called for each wait that has ended. */
struct stalls *stalls_new(void (*report)(const struct stall *stall, void *arg), void *arg);
void stalls_free(struct stalls *s);

/* Follow this thread; what it forks is followed by itself. */
void stalls_follow(struct stalls *s, pid_t tid);

/* A line of the trace, of the kernel or of trace-cmd report, without its newline. */
void stalls_line(struct stalls *s, const char *line);

/* Report the waits that are still under way at @now_ns. */
void stalls_finish(struct stalls *s, u64 now_ns);

/* Events that the kernel had no room for. */
u64 stalls_lost(const struct stalls *s);

#endif /* WRAIS_STALLS_H */
