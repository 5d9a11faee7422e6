// SPDX-License-Identifier: GPL-2.0-only
/*
 * The draw.
 */

#include <linux/init.h>
#include <linux/math64.h>
#include <linux/mmu_context.h>
#include <linux/percpu.h>
#include <linux/prandom.h>

#include "sched.h"

#include "trace.h"

/*
 * Not get_random_u32(), which takes a local lock. One state a CPU, used
 * under the lock of that CPU's rq, whoever holds it.
 */
static DEFINE_PER_CPU(struct rnd_state, lottery_rnd);

/*
 * How often a number is thrown away that would favour some tickets. Each
 * try fails with a probability below 1/2, and below 2^-10 for up to four
 * million tickets; the work under the rq lock has to end.
 */
#define LOTTERY_TRIES 32

/**
 * lottery_random_below() - an unbiased random number
 * @rnd: the generator's state
 * @total: above every number that can be drawn; 1 to 2^63
 *
 * Multiply-shift with rejection (Lemire: "Fast random integer generation in
 * an interval", 2019): no division unless a number is close to rejection. A
 * total that does not fit 32 bits is drawn from 64, where the bias of the
 * plain multiply-shift is below 2^-20 for all that a run queue can hold.
 *
 * Return: a number in [0, @total).
 */
u64 lottery_random_below(struct rnd_state *rnd, u64 total)
{
	u32 below = total, reject;
	int tries = LOTTERY_TRIES;
	u64 m;

	if (total > U32_MAX) {
		u64 r = prandom_u32_state(rnd);

		r = r << 32 | prandom_u32_state(rnd);
		return mul_u64_u64_shr(r, total, 64);
	}

	m = mul_u32_u32(prandom_u32_state(rnd), below);
	if ((u32)m < below) {
		reject = -below % below;
		while ((u32)m < reject && --tries)
			m = mul_u32_u32(prandom_u32_state(rnd), below);
	}
	return m >> 32;
}

/**
 * lottery_draw() - hold a lottery among the queued tasks
 * @rq: a run queue with at least one lottery task, locked
 *
 * The winner becomes the holder of a full turn.
 *
 * Return: the winner.
 */
struct task_struct *lottery_draw(struct rq *rq)
{
	struct lottery_rq *lrq = &rq->lottery;
	struct lottery_pool *pool = &lrq->pool;
	u64 begin = lottery_stats_begin();
	struct lottery_entry *e;
	struct task_struct *p;
	u64 winning = 0;

	/* The only ticket holder wins; it needs no random number for that. */
	if (pool->nr > 1)
		winning = lottery_random_below(per_cpu_ptr(&lottery_rnd, cpu_of(rq)),
					       pool->tickets);

	e = lottery_pool_draw(pool, winning);
	lottery_stats_end(lrq, LOTTERY_DRAW, begin);

	p = container_of(e, struct task_struct, lottery.entry);
	lrq->holder = p;
	lrq->ticks_left = lottery_quantum_ticks(p);
	lrq->lotteries++;
	trace_lottery_draw(rq, p);
	return p;
}

static int __init lottery_seed(void)
{
	prandom_init_once(&lottery_rnd);
	return 0;
}
early_initcall(lottery_seed);
