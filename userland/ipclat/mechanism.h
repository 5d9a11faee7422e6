/* SPDX-License-Identifier: GPL-2.0 */
/*
 * mechanism.h - what a way from one thread to another consists of, and what both sides
 * share.
 *
 * The sender reads the clock, publishes that reading through the mechanism, and waits
 * for an answer through the same mechanism before it does so again. The receiver reads
 * the clock when it has the message, answers, and notes the difference. So a stamp is
 * never overwritten before it is used, and an answer is never measured.
 */
#ifndef IPCLAT_MECHANISM_H
#define IPCLAT_MECHANISM_H

#include <semaphore.h>

#include "clock.h"
#include "histogram.h"
#include "policy.h"
#include "types.h"

enum side { SENDER, RECEIVER, SIDES };

/* What is sent instead of a stamp; a stamp is never so small. */
#define WORD_ANSWER	1ULL
#define WORD_STOP	2ULL

#define ENDPOINT_MAX	128U

/* A word that has a cache line for itself. */
struct slot {
	u64 word;
} __aligned(64);

/* All that the two sides share; plain memory, which two containers may map. */
struct page {
	u64 iterations;
	u64 warmup;
	u64 limit_cycles;	/* of the sender: it stops after that time */
	struct policy policy;
	s32 cpu[SIDES];		/* that each runs on; -1: any */
	u32 arrived;
	u32 inside;		/* how many sides are in their containers */
	u32 connected;		/* and that these have their networks */
	char endpoint[ENDPOINT_MAX];
	struct slot slot[SIDES];	/* to this side: spinning, futex, stamps */
	sem_t semaphore[SIDES];
	struct histogram histogram;	/* cycles, as they were read */
};

struct mechanism {
	const char *name;
	const char *text;
	bool threads;		/* the sides are threads of one process */
	bool spins;		/* needs a CPU for each side */
	bool pinned;		/* each side on one CPU */
	bool containers;	/* the sides are in two containers */
	bool baseline;		/* not a mechanism, but what one is compared with */
	/* NULL, or why it cannot be used here */
	const char *(*missing)(void);
	/* before there are sides; may be NULL, as attach, detach and clean_up */
	void (*set_up)(struct page *page);
	/* by a side, with its policy */
	void (*attach)(struct page *page, enum side side);
	/* to the other side */
	void (*send)(struct page *page, enum side side, u64 word);
	u64 (*receive)(struct page *page, enum side side);
	void (*detach)(struct page *page, enum side side);
	/* when there are no sides any more, however they ended */
	void (*clean_up)(struct page *page);
	/* baselines: everything that a side does */
	void (*run)(struct page *page, enum side side);
};

/* In mechanisms.c and via_zmq.c */
extern const struct mechanism via_spin, via_spin_affinity, via_spin_shm, via_semaphore,
	via_zmq_inproc, via_zmq_ipc, via_zmq_tcp, via_zmq_containers, via_shm_containers,
	via_futex, via_pipe, via_eventfd, via_unix, via_mq, base_flag, base_zmq_perf;

static inline enum side other(enum side side)
{
	return side == SENDER ? RECEIVER : SENDER;
}

#endif /* IPCLAT_MECHANISM_H */
