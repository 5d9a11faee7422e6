// SPDX-License-Identifier: GPL-2.0-only
/*
 * The poller: one timer for all ports that are polled.
 *
 * Its function runs as a softirq. A thread would have to be switched to and
 * from in every round, and compete for the CPU with the applications whose
 * frames it brings; what it may use is decided here, not by the scheduler.
 */

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>

#include "nll.h"

/* Interrupt entry, timer and softirq in front of a round, at the very most. */
#define NLL_LATE_MAX_NS	(100 * NSEC_PER_USEC)

static struct {
	spinlock_t lock;	/* of all this; inside a port's */
	struct list_head ports;
	struct nll_rounds rounds;
	struct hrtimer timer;
	u64 interval;		/* to this round from the one before, ns */
	u32 phase;
} nll_poller;

/* The golden ratio's fraction: multiples of it fall evenly on a circle. */
#define NLL_PHASE_STEP	0x9e3779b9U

/*
 * Whose turn it is; NULL if there is nobody. The order stays from one round to
 * the next: who got nothing because the time was up is the first one then.
 */
static struct nll_port *nll_poller_next(void)
{
	struct nll_port *port;
	unsigned long flags;

	spin_lock_irqsave(&nll_poller.lock, flags);
	port = list_first_entry_or_null(&nll_poller.ports, struct nll_port, polled);
	if (port)
		list_move_tail(&port->polled, &nll_poller.ports);
	spin_unlock_irqrestore(&nll_poller.lock, flags);
	return port;
}

/*
 * When to poll again. Whoever runs pays for a round with his time slice: rounds
 * in step with the scheduler's tick would have one task pay for all of them, so
 * they are half an interval to one and a half apart.
 */
static u64 nll_poller_interval(unsigned int us)
{
	u64 ns = us * (u64)NSEC_PER_USEC;

	nll_poller.phase += NLL_PHASE_STEP;
	return ns / 2 + mul_u64_u32_shr(ns, nll_poller.phase, 32);
}

/* Turns, until nobody in a row has both frames and time for them. */
static void nll_poller_turns(void)
{
	unsigned int idle = 0;

	while (idle < READ_ONCE(nll_poller.rounds.ports)) {
		struct nll_port *port = nll_poller_next();

		if (!port)
			break;
		idle = nll_port_round(port, nll_poller.interval) ? 0 : idle + 1;
	}
}

/* Everybody once more. Returns the shortest interval that one of them wants, us. */
static unsigned int nll_poller_ends(void)
{
	unsigned int count = READ_ONCE(nll_poller.rounds.ports);
	unsigned int us = NLL_POLL_MAX_US;

	while (count--) {
		struct nll_port *port = nll_poller_next();

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
	unsigned long flags;
	unsigned int us;
	bool again;

	nll_charge(local_clock(), clamp(late, 0, NLL_LATE_MAX_NS));
	rcu_read_lock();
	nll_poller_turns();
	us = nll_poller_ends();
	rcu_read_unlock();

	spin_lock_irqsave(&nll_poller.lock, flags);
	again = nll_rounds_again(&nll_poller.rounds);
	spin_unlock_irqrestore(&nll_poller.lock, flags);
	if (!again)
		return HRTIMER_NORESTART;
	nll_poller.interval = nll_poller_interval(us);
	hrtimer_forward_now(timer, ns_to_ktime(nll_poller.interval));
	return HRTIMER_RESTART;
}

/**
 * nll_poller_add() - poll a port from now on
 * @port: that is not polled yet; its lock is held
 */
void nll_poller_add(struct nll_port *port)
{
	spin_lock(&nll_poller.lock);
	list_add_tail(&port->polled, &nll_poller.ports);
	port->is_polled = true;
	if (nll_rounds_join(&nll_poller.rounds)) {
		nll_poller.interval = port->params.poll_us * (u64)NSEC_PER_USEC;
		hrtimer_start(&nll_poller.timer, ktime_add_ns(ktime_get(), nll_poller.interval),
			      HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock(&nll_poller.lock);
}

/**
 * nll_poller_remove() - do not poll a port any more, if it is
 * @port: whose lock is held
 *
 * A round may still be at work on it until the next grace period.
 */
void nll_poller_remove(struct nll_port *port)
{
	if (!port->is_polled)
		return;
	spin_lock(&nll_poller.lock);
	list_del(&port->polled);
	port->is_polled = false;
	nll_rounds_leave(&nll_poller.rounds);
	spin_unlock(&nll_poller.lock);
}

/**
 * nll_poller_init() - before the first port
 */
void nll_poller_init(void)
{
	spin_lock_init(&nll_poller.lock);
	INIT_LIST_HEAD(&nll_poller.ports);
	hrtimer_init(&nll_poller.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nll_poller.timer.function = nll_poller_round;
}

/**
 * nll_poller_exit() - after the last port
 */
void nll_poller_exit(void)
{
	hrtimer_cancel(&nll_poller.timer);
}
