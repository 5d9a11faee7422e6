/* SPDX-License-Identifier: GPL-2.0-only */
/* The cost of receiving for a CPU, and the time up to which it has had its part. */
#ifndef RXGOV_COST_H
#define RXGOV_COST_H

#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/time64.h>
#include <linux/types.h>

/* The longest unused time of the CPU that is saved. */
#define RXGOV_COST_BURST_NS	(3 * NSEC_PER_MSEC)
/*
 * The longest wait for a debt. A poll of 64 frames takes 13 ms on a kernel with checks,
 * and counts as a whole then too.
 */
#define RXGOV_COST_DEBT_NS	(50 * NSEC_PER_MSEC)

/**
 * struct rxgov_cost - the account of a CPU
 * @used_until: receiving has had its part up to this time [ns], which may be in the future
 *
 * A poll of C ns at a limit of L % moves @used_until on by C * 100 / L. That is the generic cell
 * rate algorithm (ITU-T I.371): there is no window whose begin uses up the part, and the
 * excess of one poll is a deficit.
 */
struct rxgov_cost {
	u64 used_until;
};

/* A poll that began at @now - @ns is over. @limit: per cent. */
static inline void rxgov_cost_charge(struct rxgov_cost *cost, u64 now, u64 ns, unsigned int limit)
{
	u64 began = now - ns;

	if ((s64)(began - cost->used_until) > RXGOV_COST_BURST_NS)
		cost->used_until = began - RXGOV_COST_BURST_NS;
	cost->used_until += div_u64(100 * ns, limit);
	if ((s64)(cost->used_until - now) > RXGOV_COST_DEBT_NS)
		cost->used_until = now + RXGOV_COST_DEBT_NS;
}

/* How long receiving has to leave the CPU alone [ns]. */
static inline u64 rxgov_cost_deficit(const struct rxgov_cost *cost, u64 now)
{
	return (s64)(cost->used_until - now) > 0 ? cost->used_until - now : 0;
}

/* The CPU is idle: no task has missed anything. */
static inline void rxgov_cost_clear(struct rxgov_cost *cost, u64 now)
{
	if ((s64)(cost->used_until - now) > 0)
		cost->used_until = now;
}

#endif /* RXGOV_COST_H */
