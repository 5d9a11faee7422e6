/* SPDX-License-Identifier: GPL-2.0-only */
/* When the next round is: arithmetic only, so that every case can be tested. */
#ifndef NLL_DECIDE_H
#define NLL_DECIDE_H

#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

#include <linux/nll/governed.h>

/* Of a buffer [%]. Hooks look at buffers that are filled to a quarter. */
#define NLL_HIGH_MIN		26
#define NLL_HIGH_DEFAULT	30
#define NLL_LOW_DEFAULT		20

#define NLL_ROUND_MIN_US	50
#define NLL_ROUND_MAX_US	10000
/* The part of a change by which the means follow it. */
#define NLL_MEAN_PARTS		8
/* A switch takes two changes: at most 100 of them a second. */
#define NLL_GOVERN_HOLD_MIN_US	20000
#define NLL_GOVERN_HOLD_MAX_US	1000000

/**
 * struct nll_seen - what is known at the end of a round
 * @now: the time [ns]
 * @owed: what receiving has had too much of the CPU [ns]
 * @wanted: another task could use the CPU now
 */
struct nll_seen {
	u64 now;
	u64 owed;
	bool wanted;
};

/* By interrupts, and no other task has recently wanted the CPU. */
static inline bool nll_is_at_rest(const struct nll_governed *g)
{
	return g->why == NLL_WHY_NONE && g->wanted < NLL_MEAN_PARTS;
}

/* Only hot sockets get frames: this many in a row, and for this long none for others. */
#define NLL_HOT_RUN		64U
#define NLL_HOT_ALONE_NS	(50 * NSEC_PER_MSEC)
/* This many frames test whether that is still so. */
#define NLL_HOT_PROBE		8

/* Recently only hot sockets got frames. */
static inline bool nll_is_hot(const struct nll_governed *g, u64 now)
{
	return g->hot_run >= NLL_HOT_RUN && now - g->other_at > NLL_HOT_ALONE_NS;
}

/* A poll handed on @work frames. */
static inline void nll_count(struct nll_governed *g, unsigned int work, u64 now)
{
	if (g->other) {
		g->other_at = now;
		g->hot_run = 0;
		g->away = 0;
	} else if (g->hot) {
		g->hot_run = min(g->hot_run + g->hot, NLL_HOT_RUN);
	} else if (work) {
		/* No socket is hot any longer. */
		g->hot_run = 0;
	}
	g->work += work;
	g->other = 0;
	g->hot = 0;
}

/* Frames came by interrupts. The means begin anew. */
static inline void nll_rest(struct nll_governed *g)
{
	g->ended = 0;
	g->work = 0;
	g->hot = 0;
	g->hot_run = 0;
	g->other = 0;
}

/* It is governed in another way from now on, and begins with interrupts. */
static inline void nll_govern(struct nll_governed *g, unsigned int mode)
{
	nll_rest(g);
	if (g->why != NLL_WHY_NONE)
		g->switches++;
	g->why = NLL_WHY_NONE;
	g->weight = 0;
	g->governing = mode;
}

u64 nll_decide(struct nll_governed *g, const struct nll_governor_params *p,
	       const struct nll_seen *seen);

u64 nll_wait_ns(const struct nll_governed *g, const struct nll_governor_params *p, u64 now);

#endif /* NLL_DECIDE_H */
