/* SPDX-License-Identifier: GPL-2.0-only */
/* When the next round is: arithmetic only, so that every case can be tested. */
#ifndef RXGOV_DECIDE_H
#define RXGOV_DECIDE_H

#include <linux/jiffies.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include <linux/rxgov/governed.h>

/* Of a buffer [%]. Hooks look at buffers that are filled to a quarter. */
#define RXGOV_HIGH_MIN		26
#define RXGOV_HIGH_DEFAULT	30
#define RXGOV_LOW_DEFAULT		20

/* Only a full socket is hot if none has lost a frame for so long [jiffies]. */
#define RXGOV_FULL_FOR		HZ
/* A round goes on for so long, whatever its quota of frames is [ns]. */
#define RXGOV_ROUND_NS		(500 * NSEC_PER_USEC)

#define RXGOV_ROUND_MIN_US	50
#define RXGOV_ROUND_MAX_US	10000
/* The part of a change by which the means follow it. */
#define RXGOV_MEAN_PARTS		8
/* A switch takes two changes: at most 100 of them a second. */
#define RXGOV_HOLD_MIN_US	20000
#define RXGOV_HOLD_MAX_US	1000000

/**
 * struct rxgov_seen - what is known at the end of a round
 * @now: the time [ns]
 * @deficit: what receiving has had too much of the CPU [ns]
 * @wanted: another task could use the CPU now
 */
struct rxgov_seen {
	u64 now;
	u64 deficit;
	bool wanted;
};

/* By interrupts, and no other task has recently wanted the CPU. */
static inline bool rxgov_is_at_rest(const struct rxgov_napi *g)
{
	return g->why == RXGOV_WHY_NONE && g->wanted < RXGOV_MEAN_PARTS;
}

/* Only hot sockets get frames: this many in a row, and for this long none for others. */
#define RXGOV_HOT_RUN		64U
#define RXGOV_HOT_ALONE_NS	(50 * NSEC_PER_MSEC)
/* This many frames test whether that is still so. */
#define RXGOV_HOT_PROBE		8

/* Recently only hot sockets got frames. */
static inline bool rxgov_is_hot(const struct rxgov_napi *g, u64 now)
{
	/* Clocks of CPUs may differ: @other_at is of the last one that polled. */
	return g->hot_run >= RXGOV_HOT_RUN && (s64)(now - g->other_at) > (s64)RXGOV_HOT_ALONE_NS;
}

/* The longest time between two tests of whether a pause has to go on [ns]. */
#define RXGOV_LOOK_NS		NSEC_PER_MSEC

/*
 * A whole poll took @ns. A pause is tested as often: what one poll brings does not last longer
 * for a reader that has the CPU, and a test costs little against it. A poll that drops early
 * takes less, so the longest of the last ones counts.
 */
static inline void rxgov_note_poll(struct rxgov_napi *g, u64 ns)
{
	WRITE_ONCE(g->look, min(max(ns, g->look - g->look / RXGOV_MEAN_PARTS), RXGOV_LOOK_NS));
}

/* A socket had no room for a frame. */
static inline void rxgov_note_full(struct rxgov_napi *g)
{
	g->full_at = jiffies ?: 1;
}

/* From which fill level on is a socket hot [%]? A burst that its buffer holds is no overload. */
static inline unsigned int rxgov_high_mark(const struct rxgov_napi *g,
					   const struct rxgov_params *p)
{
	return g->full_at && time_before(jiffies, g->full_at + RXGOV_FULL_FOR) ?
	       READ_ONCE(p->high) : 100;
}

/* Is it time for the others? A quota of frames is little for a fast CPU. */
static inline bool rxgov_round_is_full(const struct rxgov_napi *g, const struct rxgov_params *p,
				       u64 now)
{
	return g->work >= READ_ONCE(p->quota) && now - g->round_began >= RXGOV_ROUND_NS;
}

/* A poll handed on @work frames. */
static inline void rxgov_count(struct rxgov_napi *g, unsigned int work, u64 now)
{
	if (g->other) {
		g->other_at = now;
		g->hot_run = 0;
		g->away = 0;
	} else if (g->hot) {
		g->hot_run = min(g->hot_run + g->hot, RXGOV_HOT_RUN);
	} else if (work) {
		/* No socket is hot any longer. */
		g->hot_run = 0;
	}
	g->work += work;
	g->other = 0;
	g->hot = 0;
}

/* Frames came by interrupts. The means begin anew. */
static inline void rxgov_rest(struct rxgov_napi *g)
{
	g->ended = 0;
	g->work = 0;
	g->hot = 0;
	g->hot_run = 0;
	g->other = 0;
}

/* It is governed in another way from now on, and begins with interrupts. */
static inline void rxgov_set_mode(struct rxgov_napi *g, unsigned int mode)
{
	rxgov_rest(g);
	if (g->why != RXGOV_WHY_NONE)
		g->switches++;
	g->why = RXGOV_WHY_NONE;
	g->weight = 0;
	g->governing = mode;
}

u64 rxgov_decide(struct rxgov_napi *g, const struct rxgov_params *p,
		 const struct rxgov_seen *seen);

u64 rxgov_wait_ns(const struct rxgov_napi *g, const struct rxgov_params *p, u64 now);

#endif /* RXGOV_DECIDE_H */
