// SPDX-License-Identifier: GPL-2.0-only
/* How much of a CPU's time went into receiving, by windows of 10 ms. */

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "window.h"

/*
 * Windows follow one another without gaps; whole ones without work are skipped.
 * Work is not cut off in the middle of a batch: what went beyond the share is
 * paid back in the next window.
 */
static void nll_window_roll(struct nll_window *window, u64 now)
{
	u64 age = now - window->start;

	/* The clocks of two CPUs may be a little apart. */
	if ((s64)age < NLL_WINDOW_NS)
		return;
	if (age < 2 * NLL_WINDOW_NS) {
		window->start += NLL_WINDOW_NS;
		window->used -= min(window->share, window->used);
	} else {
		window->start = now;
		window->used = 0;
	}
}

/**
 * nll_window_charge() - count time spent
 * @window: of the CPU that spent it
 * @now: when it ended, ns
 * @ns: how long it was
 */
void nll_window_charge(struct nll_window *window, u64 now, u64 ns)
{
	nll_window_roll(window, now);
	window->used += ns;
}
EXPORT_SYMBOL_IF_KUNIT(nll_window_charge);

/**
 * nll_window_open() - whether receiving may go on
 * @window: of this CPU
 * @now: the time, ns
 * @limit: per cent of a window, 1 to NLL_LIMIT_MAX
 * @ahead: of how much more time the share may be used already, ns; NLL_WINDOW_NS
 *	for the whole window's
 *
 * A port that receives at intervals gives one of them, lest the whole share be
 * used up at the beginning of a window.
 *
 * Return: true unless the share has been used.
 */
bool nll_window_open(struct nll_window *window, u64 now, unsigned int limit, u64 ahead)
{
	u64 until;

	nll_window_roll(window, now);
	window->share = limit * (NLL_WINDOW_NS / 100);
	until = min(now - window->start + ahead, NLL_WINDOW_NS);
	return window->used < div_u64(limit * until, 100);
}
EXPORT_SYMBOL_IF_KUNIT(nll_window_open);
