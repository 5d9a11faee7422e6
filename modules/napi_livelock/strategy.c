// SPDX-License-Identifier: GPL-2.0-only
/*
 * When a port leaves interrupts for polling, and when it returns.
 *
 * A full ring is no sign of overload by itself: interrupts keep it empty while
 * frames die further up. Therefore the port looks downstream: at what the stack
 * drops, and at how many of its own buffers the sockets have not given back.
 */

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/minmax.h>

#include "strategy.h"

/**
 * nll_strategy_set() - change the mode
 * @strategy: of the port
 * @mode: the new one
 * @now: the time, ns
 *
 * A hybrid port begins with interrupts.
 */
void nll_strategy_set(struct nll_strategy *strategy, enum nll_mode mode, u64 now)
{
	strategy->mode = mode;
	strategy->polling = mode == NLL_POLL;
	strategy->since = now;
	strategy->hold = 0;
	strategy->is_calm = false;
}
EXPORT_SYMBOL_IF_KUNIT(nll_strategy_set);

/* What keeps the port from receiving by interrupts, if anything. */
static enum nll_reason nll_strategy_trouble(const struct nll_sample *sample)
{
	if (sample->drops >= NLL_DROPS_MANY)
		return NLL_DROPS;
	if (sample->held_high)
		return NLL_HELD;
	if (sample->ring_high)
		return NLL_RING;
	if (sample->over_limit)
		return NLL_LIMIT;
	return NLL_STAY;
}

/*
 * Interrupts for a shorter time than it was calm before: they were not the
 * answer, next time wait longer.
 */
static u64 nll_strategy_hold(const struct nll_strategy *strategy, u64 now, u64 hold)
{
	if (!strategy->hold || now - strategy->since >= strategy->hold)
		return hold;
	return clamp(2 * strategy->hold, hold, NLL_HOLD_GROWTH * hold);
}

static void nll_strategy_turn(struct nll_strategy *strategy, bool polling, u64 now)
{
	strategy->polling = polling;
	strategy->since = now;
	strategy->is_calm = false;
	strategy->switches++;
}

/**
 * nll_strategy_step() - look at a port and switch if that is due
 * @strategy: of the port
 * @sample: what is known of it now
 * @hold: how long it has to be calm at least, ns
 *
 * Return: why it switched, or NLL_STAY.
 */
enum nll_reason nll_strategy_step(struct nll_strategy *strategy,
				  const struct nll_sample *sample, u64 hold)
{
	enum nll_reason trouble;

	if (strategy->mode != NLL_HYBRID)
		return NLL_STAY;

	trouble = nll_strategy_trouble(sample);
	if (!strategy->polling) {
		if (trouble == NLL_STAY)
			return NLL_STAY;
		strategy->hold = nll_strategy_hold(strategy, sample->now, hold);
		nll_strategy_turn(strategy, true, sample->now);
		return trouble;
	}

	if (trouble != NLL_STAY || !sample->calm) {
		strategy->is_calm = false;
		return NLL_STAY;
	}
	if (!strategy->is_calm) {
		strategy->is_calm = true;
		strategy->calm_since = sample->now;
	}
	if (sample->now - strategy->calm_since < strategy->hold)
		return NLL_STAY;
	nll_strategy_turn(strategy, false, sample->now);
	return NLL_CALM;
}
EXPORT_SYMBOL_IF_KUNIT(nll_strategy_step);

/**
 * nll_rounds_join() - one more port wants to be polled
 * @rounds: of the poller, whose lock is held
 *
 * Return: the caller has to start the timer.
 */
bool nll_rounds_join(struct nll_rounds *rounds)
{
	bool start = !rounds->armed;

	rounds->ports++;
	rounds->armed = true;
	return start;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rounds_join);

/**
 * nll_rounds_leave() - one port less
 * @rounds: of the poller, whose lock is held
 *
 * The timer notices at the end of its next round.
 */
void nll_rounds_leave(struct nll_rounds *rounds)
{
	rounds->ports--;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rounds_leave);

/**
 * nll_rounds_again() - a round has ended
 * @rounds: of the poller, whose lock is held
 *
 * A port that joins from here on starts the timer; one that joined before is
 * counted here. Deciding in one place and marking in another would lose it.
 *
 * Return: whether there has to be another round.
 */
bool nll_rounds_again(struct nll_rounds *rounds)
{
	rounds->armed = rounds->ports;
	return rounds->armed;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rounds_again);
