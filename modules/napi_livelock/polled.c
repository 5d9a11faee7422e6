// SPDX-License-Identifier: GPL-2.0-only
/*
 * The ports that are polled, whose turn it is, and the timer that runs while there
 * are any. What is done in a round is the poller's.
 */

#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/list.h>

#include "nll.h"

static struct {
	spinlock_t lock;	/* of all this; inside a port's */
	struct list_head ports;
	struct nll_rounds rounds;
	struct hrtimer timer;
	u64 interval;		/* to this round from the one before, ns */
} nll_polled;

/**
 * nll_polled_next() - whose turn it is
 *
 * The order stays from one round to the next: who got nothing because the time was
 * up is the first one then.
 *
 * Return: the port, or NULL if there is none.
 */
struct nll_port *nll_polled_next(void)
{
	struct nll_port *port;
	unsigned long flags;

	spin_lock_irqsave(&nll_polled.lock, flags);
	port = list_first_entry_or_null(&nll_polled.ports, struct nll_port, polled);
	if (port)
		list_move_tail(&port->polled, &nll_polled.ports);
	spin_unlock_irqrestore(&nll_polled.lock, flags);
	return port;
}

/**
 * nll_polled_count() - how many ports are polled
 *
 * Return: their number.
 */
unsigned int nll_polled_count(void)
{
	return READ_ONCE(nll_polled.rounds.ports);
}

/**
 * nll_polled_interval() - how long it was from the round before to this one
 *
 * Return: the time, ns.
 */
u64 nll_polled_interval(void)
{
	return nll_polled.interval;
}

/**
 * nll_polled_add() - poll a port from now on
 * @port: that is not polled yet; its lock is held
 */
void nll_polled_add(struct nll_port *port)
{
	lockdep_assert_held(&port->lock);
	spin_lock(&nll_polled.lock);
	list_add_tail(&port->polled, &nll_polled.ports);
	port->is_polled = true;
	if (nll_rounds_join(&nll_polled.rounds)) {
		nll_polled.interval = port->params.poll_us * (u64)NSEC_PER_USEC;
		hrtimer_start(&nll_polled.timer, ktime_add_ns(ktime_get(), nll_polled.interval),
			      HRTIMER_MODE_ABS_SOFT);
	}
	spin_unlock(&nll_polled.lock);
}

/**
 * nll_polled_remove() - do not poll a port any more, if it is
 * @port: whose lock is held
 *
 * A round may still be at work on it until the next grace period.
 */
void nll_polled_remove(struct nll_port *port)
{
	lockdep_assert_held(&port->lock);
	if (!port->is_polled)
		return;
	spin_lock(&nll_polled.lock);
	list_del(&port->polled);
	port->is_polled = false;
	nll_rounds_leave(&nll_polled.rounds);
	spin_unlock(&nll_polled.lock);
}

/**
 * nll_polled_again() - a round has ended
 *
 * Return: whether there has to be another one, for which nll_polled_forward() is called.
 */
bool nll_polled_again(void)
{
	unsigned long flags;
	bool again;

	spin_lock_irqsave(&nll_polled.lock, flags);
	again = nll_rounds_again(&nll_polled.rounds);
	spin_unlock_irqrestore(&nll_polled.lock, flags);
	return again;
}

/**
 * nll_polled_forward() - when the next round is
 * @interval: from now, ns
 */
void nll_polled_forward(u64 interval)
{
	nll_polled.interval = interval;
	hrtimer_forward_now(&nll_polled.timer, ns_to_ktime(interval));
}

/**
 * nll_polled_init() - before the first port
 * @round: the timer's function
 */
void nll_polled_init(enum hrtimer_restart (*round)(struct hrtimer *timer))
{
	spin_lock_init(&nll_polled.lock);
	INIT_LIST_HEAD(&nll_polled.ports);
	hrtimer_init(&nll_polled.timer, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	nll_polled.timer.function = round;
}

/**
 * nll_polled_exit() - after the last port
 */
void nll_polled_exit(void)
{
	hrtimer_cancel(&nll_polled.timer);
}
