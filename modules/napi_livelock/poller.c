// SPDX-License-Identifier: GPL-2.0-only
/*
 * The poller: rounds in which all ports that are polled have their turns.
 *
 * A round runs as a softirq. A thread would have to be switched to and from in
 * every round, and compete for the CPU with the applications whose frames it
 * brings; what it may use is decided here, not by the scheduler.
 */

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>

#include "nll.h"

/* Interrupt entry, timer and softirq in front of a round, at the very most. */
#define NLL_LATE_MAX_NS	(100 * NSEC_PER_USEC)

/* The golden ratio's fraction: multiples of it fall evenly on a circle. */
#define NLL_PHASE_STEP	0x9e3779b9U

/*
 * When to poll again. The task that runs pays for a round with its slice: rounds
 * in step with the scheduler's tick would have one task pay for all of them, so
 * they are half an interval to one and a half apart.
 */
static u64 nll_poller_interval(unsigned int us)
{
	u64 ns = us * (u64)NSEC_PER_USEC;
	static u32 phase;

	phase += NLL_PHASE_STEP;
	return ns / 2 + mul_u64_u32_shr(ns, phase, 32);
}

/* Turns, until no port in a row has both frames and time for them. */
static void nll_poller_turns(void)
{
	u64 interval = nll_polled_interval();
	unsigned int idle = 0;

	while (idle < nll_polled_count()) {
		struct nll_port *port = nll_polled_next();

		if (!port)
			break;
		idle = nll_port_round(port, interval) ? 0 : idle + 1;
	}
}

/* All of them once more. Returns the shortest interval that one of them wants, us. */
static unsigned int nll_poller_ends(void)
{
	unsigned int count = nll_polled_count();
	unsigned int us = NLL_POLL_MAX_US;

	while (count--) {
		struct nll_port *port = nll_polled_next();

		if (!port)
			break;
		us = min(us, READ_ONCE(port->params.poll_us));
		nll_port_round_end(port);
	}
	return us;
}

/* A port that goes away waits for a grace period, hence for the end of this. */
static enum hrtimer_restart nll_poller_round(struct hrtimer *timer)
{
	s64 late = ktime_to_ns(ktime_sub(ktime_get(), hrtimer_get_expires(timer)));
	unsigned int us;

	nll_charge(local_clock(), clamp(late, 0, NLL_LATE_MAX_NS));
	rcu_read_lock();
	nll_poller_turns();
	us = nll_poller_ends();
	rcu_read_unlock();

	if (!nll_polled_again())
		return HRTIMER_NORESTART;
	nll_polled_forward(nll_poller_interval(us));
	return HRTIMER_RESTART;
}

/**
 * nll_poller_init() - before the first port
 */
void nll_poller_init(void)
{
	nll_polled_init(nll_poller_round);
}
