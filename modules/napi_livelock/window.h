/* SPDX-License-Identifier: GPL-2.0-only */
/* How much of a CPU's time went into receiving, by windows of 10 ms. */
#ifndef NLL_WINDOW_H
#define NLL_WINDOW_H

#include <linux/time64.h>
#include <linux/types.h>

#define NLL_WINDOW_NS	(10 * NSEC_PER_MSEC)
/* With all of it a round of polling would never end. */
#define NLL_LIMIT_MAX	95

/**
 * struct nll_window - what was used of the current window
 * @start: when it began, ns
 * @used: time spent in it, ns, and what an earlier one had too much of
 * @share: how much of it may be used, ns, as last asked for
 */
struct nll_window {
	u64 start;
	u64 used;
	u64 share;
};

/* window.c APIs: */
void nll_window_charge(struct nll_window *window, u64 now, u64 ns);
bool nll_window_open(struct nll_window *window, u64 now, unsigned int limit, u64 ahead);

#endif /* NLL_WINDOW_H */
