/* SPDX-License-Identifier: GPL-2.0 */
/*
 * schedule.h - what a worker sends when. It knows no clock: times count from the
 * start of the run, and the same parameters always give the same batches.
 */
#ifndef UDPRATE_SCHEDULE_H
#define UDPRATE_SCHEDULE_H

#include "rate.h"
#include "types.h"

#define WORKERS_MAX		64U
#define PACKET_MIN		64U	/* a packet may be half as great, and has a header */
#define PACKET_MAX		65507U
#define BATCH_MAX		64U	/* packets: what the kernel cuts one send into */
#define BATCH_BYTES_MAX		65507U

/* A worker's part of the rate. */
struct plan {
	u64 bytes_per_s;	/* of all workers */
	u32 workers;
	u32 worker;		/* this one, from 0 */
	u32 size;		/* of a packet, the most */
	u64 stop_ns;		/* nothing is due then or later */
	u64 quantum_ns;		/* no two batches are closer, if that can be */
	struct nll_rate_params rate;	/* its packets and per_ns are filled in */
};

struct batch {
	u64 due_ns;		/* never sent before */
	u64 begin_ns;		/* its packets' own times, if they were ... */
	u64 gap_ns;		/* ... sent one by one */
	u32 packets;
	u32 size;		/* of each, bytes */
};

/*
 * At a constant rate: @per_s batches a second, all with the same number of packets,
 * whose size differs from batch to batch so that whole seconds carry the same. A batch
 * is due in the middle of its time, so that one that is a little late still counts
 * for its own second. With the other shapes packets are of one size, due one by one,
 * and batches are those that would be too close.
 */
struct schedule {
	struct plan plan;
	u32 packets;
	u64 per_s;
	u64 batch;		/* the next, from 0 */
	struct nll_rate rate;
	u64 next_ns;
};

/* NULL, or what is wrong with the plan: a name, a colon, and what is allowed. */
const char *schedule_fault(const struct plan *plan);

/* The plan has no fault. */
void schedule_init(struct schedule *s, const struct plan *plan);

/* The time between batches, and between packets if they were all of full size. */
u64 schedule_period(const struct schedule *s);
u64 schedule_full_gap(const struct schedule *s);

/* What is due of all workers in the run, at a constant rate. */
u64 schedule_bytes(const struct schedule *s);

/* False at the end. */
bool schedule_next(struct schedule *s, struct batch *batch);

/*
 * The controller of a worker: the time to sleep until before a deadline. It knows no
 * clock either. Deadlines are absolute, so that delays do not add up; but the kernel
 * wakes the worker late. The controller measures by how much, and asks to be woken
 * earlier by that. If it is then awake too early, it spins until the deadline, which must
 * stay cheap.
 */

#define SPIN_MAX_US	1000U
#define SPIN_AUTO_NS	50000U		/* the most that is spun without --spin */
#define SPIN_AUTO_PART	50U		/* and not more than this part of the time */

struct pace {
	u64 spin_ns;		/* the most that is spun */
	u64 early_ns;		/* how much before a deadline to be woken */
	u64 woken_ns;		/* when that was asked for */
};

/* @spin_ns: of one deadline; they are @period_ns apart. */
void pace_init(struct pace *p, u64 spin_ns);
u64 pace_auto_spin(u64 period_ns);

/* Until when to sleep for @due_ns: not at all if that is not after now. */
u64 pace_sleep_until(struct pace *p, u64 due_ns);

/* The sleeper is back at @now_ns; learn from it. */
void pace_woke(struct pace *p, u64 now_ns);

/* What became of numbered packets on their way. */

#define SEQUENCE_WINDOW	65536U

/* All 0 is the start. */
struct sequence {
	u64 next;		/* one more than the newest number */
	u64 received;		/* numbers, each once */
	u64 late;		/* after one with a greater number */
	u64 duplicates;		/* packets whose number had come before */
};

/* Which of the newest numbers have come: a bit each, at the number modulo the window. */
struct window {
	u64 seen[SEQUENCE_WINDOW / 64];
};

/*
 * Whether the number has arrived with this packet. One that is older than the window may
 * have come before: it is late, and stays lost.
 */
bool sequence_see(struct sequence *s, struct window *w, u64 number);

/* Numbers below the newest that have not come. */
u64 sequence_lost(const struct sequence *s);

/*
 * Where packets are missing: runs of numbers that have not come. A late packet makes its
 * hole smaller, and one that is filled gives its place back.
 */

#define HOLES_MAX	64U

struct hole {
	u64 first;		/* number */
	u64 size;		/* numbers from there on */
	u64 missing;		/* of them */
	u64 at_ns;		/* when it was seen, after the first packet */
	u32 worker;
	u32 unused;
};

struct holes {
	struct hole hole[HOLES_MAX];
	u32 count;
	u32 unused;
	u64 unnamed;		/* holes for which there was no place */
};

void holes_open(struct holes *h, u32 worker, u64 first, u64 size, u64 at_ns);

/* A packet has come that was behind. */
void holes_fill(struct holes *h, u32 worker, u64 number);

/*
 * A clock that may be set, against CLOCK_MONOTONIC. How far it is ahead is the same until
 * it is set; it knows neither clock.
 */

/* All 0 is the start. */
struct wall {
	u64 ahead_ns;
};

/*
 * The clock showed @wall_ns between @before_ns and @after_ns. What is known stays if it
 * agrees: a reader that is off the CPU in between changes nothing.
 */
void wall_learn(struct wall *w, u64 before_ns, u64 wall_ns, u64 after_ns);

/*
 * When the clock showed @wall_ns. If it was set since, that is not known: it was not
 * before @earliest_ns or after @latest_ns.
 */
u64 wall_time(const struct wall *w, u64 wall_ns, u64 earliest_ns, u64 latest_ns);

#endif
