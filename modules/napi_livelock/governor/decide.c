// SPDX-License-Identifier: GPL-2.0-only
/*
 * When the next round is.
 *
 * While no other task wants the CPU each frame has its interrupt. While one does, and a
 * round would gather several frames, they wait for rounds: more frames share the cost of
 * an interrupt, at the price of half of a round of latency. Receiving that has had its
 * part of the CPU waits until the others have had theirs. And while only hot sockets get
 * frames, they stay in the ring, where they cost nothing.
 */

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>
#include <linux/time64.h>

#include "decide.h"

/* After this pause the mean begins anew [ns]. */
#define NLL_GAP_MAX_NS		(10 * NSEC_PER_MSEC)
/* The CPU counts as wanted from this many of the last 256 polls. */
#define NLL_WANTED_ON		128
/* A round has to gather three frames in two times; with three in one, it is longer. */
#define NLL_GATHER		3
/* Pause while only hot sockets get frames; doubles each time [ns]. */
#define NLL_AWAY_MIN_NS		(2 * NSEC_PER_MSEC)
#define NLL_AWAY_MAX_NS		(16 * NSEC_PER_MSEC)

/* Time between two tests of whether the pause has to go on [ns]. */
#define NLL_LOOK_NS		NSEC_PER_MSEC

static void nll_see(struct nll_governed *g, const struct nll_seen *seen)
{
	u64 past = min(seen->now - g->ended, NLL_GAP_MAX_NS);
	s64 gap = past;

	if (g->work)
		gap = div_u64(past, g->work);
	else
		gap = max(past, g->gap);
	if (2 * gap < g->gap)
		g->gap /= 2;
	else
		g->gap += (gap - (s64)g->gap) / NLL_MEAN_PARTS;
	if (past == NLL_GAP_MAX_NS)
		g->gap = gap;
	g->wanted += ((seen->wanted ? 256 : 0) - (int)g->wanted) / NLL_MEAN_PARTS;
	g->ended = seen->now;
}

static enum nll_why nll_reason(const struct nll_governed *g,
			       const struct nll_governor_params *p,
			       const struct nll_seen *seen)
{
	u64 round = (u64)p->round_us * NSEC_PER_USEC;

	if (g->governing == NLL_GOVERN_POLL)
		return seen->owed && seen->wanted ? NLL_WHY_LIMIT : NLL_WHY_ASKED;
	if (seen->owed && seen->wanted)
		return nll_is_hot(g, seen->now) ? NLL_WHY_HOT : NLL_WHY_LIMIT;
	if (g->wanted < NLL_WANTED_ON ||
	    NLL_GATHER * g->gap >= 2 * round)
		return NLL_WHY_NONE;
	return nll_is_hot(g, seen->now) ? NLL_WHY_HOT : NLL_WHY_WANTED;
}

/**
 * nll_decide() - the next round
 * @g: the instance
 * @p: its parameters
 * @seen: what is known
 *
 * Return: ns until the next round, 0 for interrupts.
 */
u64 nll_decide(struct nll_governed *g, const struct nll_governor_params *p,
	       const struct nll_seen *seen)
{
	u64 delay = (u64)p->round_us * NSEC_PER_USEC;
	enum nll_why why;

	nll_see(g, seen);
	if (NLL_GATHER * g->gap < delay)
		delay += delay / 2;
	why = nll_reason(g, p, seen);
	g->work = 0;
	if (why == NLL_WHY_HOT)
		g->away = clamp(2 * g->away, NLL_AWAY_MIN_NS, NLL_AWAY_MAX_NS);

	if (why != NLL_WHY_NONE)
		g->reason_at = seen->now;
	else if (g->why != NLL_WHY_NONE &&
		 seen->now - g->reason_at < (u64)p->hold_us * NSEC_PER_USEC)
		why = NLL_WHY_WANTED;

	if (!why != !g->why)
		g->switches++;
	g->why = why;
	g->rounds[why]++;
	g->weight = why == NLL_WHY_HOT ? NLL_HOT_PROBE : 0;
	switch (why) {
	case NLL_WHY_LIMIT:
	case NLL_WHY_HOT:
		g->not_before = seen->now + seen->owed;
		g->until = why == NLL_WHY_HOT ? max(seen->now + g->away, g->not_before) :
						g->not_before;
		return nll_wait_ns(g, p, seen->now);
	case NLL_WHY_ASKED:
	case NLL_WHY_WANTED:
		return delay;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(nll_decide);

/**
 * nll_wait_ns() - the time of a round has come: is it of use?
 * @g: the instance, as nll_decide() has left it
 * @p: its parameters
 * @now: the time [ns]
 *
 * Otherwise the test is repeated, for the CPU may become free, or a socket cold.
 *
 * Return: ns until the next test, 0 for a round now.
 */
u64 nll_wait_ns(const struct nll_governed *g, const struct nll_governor_params *p, u64 now)
{
	u64 round = (u64)READ_ONCE(p->round_us) * NSEC_PER_USEC;
	u64 not_before = READ_ONCE(g->not_before), until = READ_ONCE(g->until);

	if (now < not_before)
		return clamp(not_before - now, round, max(round, 2 * NLL_LOOK_NS));
	return now < until ? max(round, NLL_LOOK_NS) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(nll_wait_ns);
