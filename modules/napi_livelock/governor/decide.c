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
#define RXGOV_GAP_MAX_NS		(10 * NSEC_PER_MSEC)
/* The CPU counts as wanted from this many of the last 256 polls. */
#define RXGOV_WANTED_ON		128
/* A round has to gather three frames in two times; with three in one, it is longer. */
#define RXGOV_GATHER		3
/* Pause while only hot sockets get frames; doubles each time [ns]. */
#define RXGOV_AWAY_MIN_NS		(2 * NSEC_PER_MSEC)
#define RXGOV_AWAY_MAX_NS		(16 * NSEC_PER_MSEC)

static void rxgov_see(struct rxgov_napi *g, const struct rxgov_seen *seen)
{
	u64 past = min(seen->now - g->ended, RXGOV_GAP_MAX_NS);
	s64 gap = past;

	if (g->work)
		gap = div_u64(past, g->work);
	else
		gap = max(past, g->gap);
	if (2 * gap < g->gap)
		g->gap /= 2;
	else
		g->gap += (gap - (s64)g->gap) / RXGOV_MEAN_PARTS;
	if (past == RXGOV_GAP_MAX_NS)
		g->gap = gap;
	g->wanted += ((seen->wanted ? 256 : 0) - (int)g->wanted) / RXGOV_MEAN_PARTS;
	g->ended = seen->now;
}

static enum rxgov_why rxgov_reason(const struct rxgov_napi *g,
				   const struct rxgov_params *p,
			       const struct rxgov_seen *seen)
{
	u64 round = (u64)p->round_us * NSEC_PER_USEC;

	if (g->governing == RXGOV_POLL)
		return seen->deficit && seen->wanted ? RXGOV_WHY_LIMIT : RXGOV_WHY_ASKED;
	if (seen->deficit && seen->wanted)
		return rxgov_is_hot(g, seen->now) ? RXGOV_WHY_HOT : RXGOV_WHY_LIMIT;
	if (g->wanted < RXGOV_WANTED_ON ||
	    RXGOV_GATHER * g->gap >= 2 * round)
		return RXGOV_WHY_NONE;
	return rxgov_is_hot(g, seen->now) ? RXGOV_WHY_HOT : RXGOV_WHY_WANTED;
}

/**
 * rxgov_decide() - the next round
 * @g: the instance
 * @p: its parameters
 * @seen: what is known
 *
 * Return: ns until the next round, 0 for interrupts.
 */
u64 rxgov_decide(struct rxgov_napi *g, const struct rxgov_params *p,
		 const struct rxgov_seen *seen)
{
	u64 delay = (u64)p->round_us * NSEC_PER_USEC;
	enum rxgov_why why;

	rxgov_see(g, seen);
	if (RXGOV_GATHER * g->gap < delay)
		delay += delay / 2;
	why = rxgov_reason(g, p, seen);
	g->work = 0;
	if (why == RXGOV_WHY_HOT)
		g->away = clamp(2 * g->away, RXGOV_AWAY_MIN_NS, RXGOV_AWAY_MAX_NS);

	if (why != RXGOV_WHY_NONE)
		g->reason_at = seen->now;
	else if (g->why != RXGOV_WHY_NONE &&
		 seen->now - g->reason_at < (u64)p->hold_us * NSEC_PER_USEC)
		why = RXGOV_WHY_WANTED;

	if (!why != !g->why)
		g->switches++;
	g->why = why;
	g->rounds[why]++;
	g->weight = why == RXGOV_WHY_HOT ? RXGOV_HOT_PROBE : 0;
	switch (why) {
	case RXGOV_WHY_LIMIT:
	case RXGOV_WHY_HOT:
		g->not_before = seen->now + seen->deficit;
		g->until = why == RXGOV_WHY_HOT ? max(seen->now + g->away, g->not_before) :
						g->not_before;
		return rxgov_wait_ns(g, p, seen->now);
	case RXGOV_WHY_ASKED:
	case RXGOV_WHY_WANTED:
		return delay;
	default:
		return 0;
	}
}
EXPORT_SYMBOL_IF_KUNIT(rxgov_decide);

/**
 * rxgov_wait_ns() - the time of a round has come: is it of use?
 * @g: the instance, as rxgov_decide() has left it
 * @p: its parameters
 * @now: the time [ns]
 *
 * Otherwise the test is repeated, for the CPU may become free, or a socket cold.
 *
 * Return: ns until the next test, 0 for a round now.
 */
u64 rxgov_wait_ns(const struct rxgov_napi *g, const struct rxgov_params *p, u64 now)
{
	u64 round = (u64)READ_ONCE(p->round_us) * NSEC_PER_USEC;
	u64 not_before = READ_ONCE(g->not_before), until = READ_ONCE(g->until);

	if (now < not_before)
		return clamp(not_before - now, round, max(round, 2 * RXGOV_LOOK_NS));
	return now < until ? max(round, READ_ONCE(g->look)) : 0;
}
EXPORT_SYMBOL_IF_KUNIT(rxgov_wait_ns);
