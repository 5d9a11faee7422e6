// SPDX-License-Identifier: GPL-2.0-only
/*
 * The lag of tasks: what they lack of their due.
 *
 * Due is the water-filled share of all CPUs. A CPU whose sum of tickets is the average,
 * taken without the CPUs that one task has to itself by its tickets, gives each ticket its
 * due; with fewer tickets a CPU gives more, with more it gives less. That is counted once
 * for all tickets of a CPU (@behind of struct lottery_account), at ticks, and a task takes
 * its part along when it moves. Luck in draws is not in it: chance makes up for that by
 * itself.
 *
 * The lag that all CPUs share, by the fair server and interrupts, says nothing about the
 * placement of tasks; each CPU forgets it bit by bit.
 *
 * Locking: accounts are protected by the rq lock. The average is computed from the sums of
 * other CPUs, read without their locks.
 */

#include <linux/cpumask.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mmu_context.h>
#include <linux/rcupdate.h>
#include <linux/tick.h>

#include "balance.h"
#include "pelt.h"

/* Ticks for which a real-time task has to run to take the CPU's capacity. */
#define LOTTERY_BLOCKED		2

/*
 * The CPUs with lottery tasks that wait and may move: a pull searches them, and does not
 * search if there are 0. Each bit is changed under the lock of its rq, at ticks, and read
 * without it.
 */
struct cpumask lottery_waiting;

/*
 * What RT and DL leave of a CPU, at least 1. The signals of an idle CPU are old, and those
 * of a real-time task that does not stop take 100 ms to rise.
 */
unsigned long lottery_capacity(struct rq *rq)
{
	unsigned long max = arch_scale_cpu_capacity(cpu_of(rq));
	unsigned long used = cpu_util_rt(rq) + cpu_util_dl(rq);

	if (available_idle_cpu(cpu_of(rq)))
		return max;
	if (READ_ONCE(rq->lottery.account.blocked) >= LOTTERY_BLOCKED &&
	    lottery_rt_runs(rq))
		return 1;
	return used < max ? max - used : 1;
}

/* Parts of a ticket for a whole CPU, see LOTTERY_LOAD_SHIFT; up to 2^62. */
u64 lottery_load(struct rq *rq, u64 tickets)
{
	unsigned long capacity = lottery_capacity(rq);

	if (capacity == SCHED_CAPACITY_SCALE)
		return tickets << LOTTERY_LOAD_SHIFT;
	return div64_ul(tickets << (LOTTERY_LOAD_SHIFT + SCHED_CAPACITY_SHIFT),
			capacity);
}

u64 lottery_load_now(struct rq *rq)
{
	return lottery_load(rq, READ_ONCE(rq->lottery.owned));
}

/* Run time for each of the tickets. */
static s64 lottery_each(s64 ns, u64 owned)
{
	return div64_s64(ns * BIT(LOTTERY_LAG_SHIFT), owned);
}

/**
 * lottery_account_fold() - update the lag of a CPU's tasks
 * @a: its account
 * @owned: the tickets of its tasks
 * @nr: how many they are
 * @now: the time [ns of rq_clock_task()]
 *
 * A task alone on its CPU is not due more than that. The lag of all together is
 * LOTTERY_LAG_MAX at most, either way.
 */
void lottery_account_fold(struct lottery_account *a, u64 owned, unsigned int nr, u64 now)
{
	u64 elapsed = min_t(u64, now - a->clock, LOTTERY_LAG_MAX);
	s64 ran = min_t(u64, a->ran, elapsed), due, got, lag;

	a->clock = now;
	a->ran = 0;
	if (!owned)
		return;

	got = lottery_each(ran, owned);
	due = a->average ? div64_u64(elapsed << (LOTTERY_LAG_SHIFT + LOTTERY_LOAD_SHIFT),
				     a->average) : got;
	if (nr == 1)
		due = min(due, lottery_each(elapsed, owned));
	a->behind += due - got;

	lag = lottery_account_lag(a, owned, a->carried);
	a->lag = clamp(lag, -(s64)LOTTERY_LAG_MAX, (s64)LOTTERY_LAG_MAX);
	a->behind += lottery_each(a->lag - lag, owned);
}

/* A task that is alone and has more than @average has its CPU, and no part in it. */
static bool lottery_is_capped(struct rq *rq, u64 average)
{
	return READ_ONCE(rq->lottery.nr) == 1 && lottery_load_now(rq) > average;
}

/* The load of each shared CPU if all were even. Reads all CPUs, without any lock, under RCU. */
static u64 lottery_average(struct rq *rq, u64 capped_above, s64 *drift)
{
	u64 tickets = 0, capacity = 0;
	s64 lag = 0;
	int cpu;

	for_each_cpu_and(cpu, rq->rd->span, cpu_active_mask) {
		struct rq *other = cpu_rq(cpu);

		if (lottery_is_capped(other, capped_above))
			continue;
		tickets += READ_ONCE(other->lottery.owned);
		capacity += lottery_capacity(other);
		if (READ_ONCE(other->lottery.pool.nr))
			lag += READ_ONCE(other->lottery.account.lag);
	}
	*drift = tickets ? lottery_each(lag, tickets) : 0;
	return capacity ? div64_u64(tickets << (SCHED_CAPACITY_SHIFT + LOTTERY_LOAD_SHIFT),
				    capacity) : 0;
}

/* See struct lottery_survey. */
static struct rq *lottery_find_tickless(struct rq *rq)
{
	struct rq *best = NULL;
#ifdef CONFIG_NO_HZ_FULL
	u64 best_load = U64_MAX, load;
	int cpu;

	if (!tick_nohz_full_enabled())
		return NULL;
	for_each_cpu_and(cpu, rq->rd->span, tick_nohz_full_mask) {
		struct rq *other = cpu_rq(cpu);

		if (other == rq || !cpu_active(cpu) || !tick_nohz_tick_stopped_cpu(cpu) ||
		    !READ_ONCE(other->lottery.pool.nr) || lottery_rt_runs(other))
			continue;
		load = lottery_load_now(other);
		if (load < best_load) {
			best_load = load;
			best = other;
		}
	}
#endif
	return best;
}

/* Survey the CPUs; under RCU, @rq is not locked. */
void lottery_look_around(struct rq *rq, struct lottery_survey *s)
{
	s64 most = LOTTERY_LAG_MOVE, lag;
	u64 average = U64_MAX;
	int cpu, round;

	/* Each round leaves out those that have their CPU by the last one. */
	for (round = 0; round < LOTTERY_ROUNDS; round++) {
		s->average = lottery_average(rq, average, &s->drift);
		if (s->average == average)
			break;
		average = s->average;
	}

	s->tickless = lottery_find_tickless(rq);
	s->behind = NULL;
	for_each_cpu_and(cpu, rq->rd->span, &lottery_waiting) {
		lag = READ_ONCE(cpu_rq(cpu)->lottery.account.lag);
		if (cpu_rq(cpu) != rq && lag >= most) {
			most = lag;
			s->behind = cpu_rq(cpu);
		}
	}
}
