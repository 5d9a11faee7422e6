// SPDX-License-Identifier: GPL-2.0-only
/*
 * The floor of the others.
 *
 * The others get floor_pct of what the device does in any window of floor_window_ms. The
 * deficit is computed once privileged tasks have used the device in more than
 * WRAIS_FREE_SLOTS of the window's slots, so that a start-up of seconds pays nothing, and
 * then served with at most one part in WRAIS_PAY_PART of the device.
 *
 * Some requests of the others keep a lock or a transaction from being released. They do
 * not wait for the floor: once they are overdue (turn.c) they get up to one part in
 * WRAIS_OVERDUE_PART of the device.
 *
 * Costs are in sectors, with WRAIS_REQUEST_COST for each request.
 *
 * Locking: all of it under bfqd->lock.
 */

#include <linux/blk-mq.h>
#include <linux/jiffies.h>
#include <linux/minmax.h>

#include "bfq-iosched.h"
#include "internal.h"

/* Slots in which privileged tasks may use the device for free. */
#define WRAIS_FREE_SLOTS	4
/* The window slides by slots: keep a point more than is promised [percent]. */
#define WRAIS_FLOOR_MARGIN	1
/* The part of the device that serves the deficit. */
#define WRAIS_PAY_PART		5
/* The part of the device for overdue requests of the others, at any time. */
#define WRAIS_OVERDUE_PART	20
/* How many small overdue requests may go one after the other. */
#define WRAIS_OVERDUE_BURST	10
/* The cost of a request besides its sectors, a fraction of a millisecond. */
#define WRAIS_REQUEST_COST	16
/* By how much one side may get ahead of the other, about a megabyte. */
#define WRAIS_LEAD_MAX		2048LL

unsigned int wrais_floor_pct = 5;
unsigned int wrais_floor_window_ms = 30000;

/* Forget the slots that have left the window. */
static void wrais_slide(struct wrais_device *dev)
{
	unsigned long now = jiffies / max(msecs_to_jiffies(READ_ONCE(wrais_floor_window_ms)) /
					  WRAIS_SLOTS, 1UL);
	unsigned long steps = min(now - dev->slot, (unsigned long)WRAIS_SLOTS);

	while (steps--)
		memset(&dev->cost[(now - steps) % WRAIS_SLOTS], 0, sizeof(dev->cost[0]));
	dev->slot = now;
}

/* A request of that cost reduces the deficit of the others; the window is up to date. */
void wrais_pay(struct wrais_device *dev, u64 cost)
{
	dev->credit -= min(dev->credit, cost * (WRAIS_PAY_PART - 1));
}

/* Only overdue requests count here: the others may have more in other ways. */
static void wrais_charge_overdue(struct wrais_device *dev, enum wrais_kind kind, u64 cost)
{
	s64 most = WRAIS_OVERDUE_BURST * WRAIS_OVERDUE_PART * WRAIS_REQUEST_COST;

	if (kind != WRAIS_OTHERS) {
		dev->overdue_credit = min(dev->overdue_credit + (s64)cost, most);
	} else if (dev->overdue) {
		dev->overdue_credit -= (s64)cost * (WRAIS_OVERDUE_PART - 1);
		dev->overdue = false;
	}
}

/* Add a request of that kind to the accounts; the window is up to date. */
void wrais_charge(struct wrais_device *dev, enum wrais_kind kind, u64 cost)
{
	dev->cost[dev->slot % WRAIS_SLOTS][kind] += cost;

	if (kind == WRAIS_OTHERS)
		wrais_pay(dev, cost);
	else
		dev->credit += cost;
	wrais_charge_overdue(dev, kind, cost);
}

/**
 * wrais_overdue_may_go() - is there time for an overdue request of the others?
 * @dev: the device
 * @waited: it has waited for long; one that goes at once leaves half of the
 *	allowance to those
 *
 * A large one is charged after it has gone.
 */
bool wrais_overdue_may_go(const struct wrais_device *dev, bool waited)
{
	s64 requests = waited ? 1 : WRAIS_OVERDUE_BURST / 2;

	return dev->overdue_credit >= requests * WRAIS_OVERDUE_PART * WRAIS_REQUEST_COST;
}

/**
 * wrais_lead_by() - a request goes while two sides want the device
 * @dev: the device
 * @waited_for: a privileged task waits for it, or else it is its own
 * @cost: its cost
 */
void wrais_lead_by(struct wrais_device *dev, bool waited_for, u64 cost)
{
	s64 lead = dev->lead + (waited_for ? (s64)cost : -(s64)cost);

	dev->lead = clamp(lead, -WRAIS_LEAD_MAX, WRAIS_LEAD_MAX);
}

/* Does a request that is waited for go before a privileged one? */
bool wrais_waiter_first(const struct wrais_device *dev)
{
	return dev->lead < 0;
}

/* Charge a dispatched request; under bfqd->lock. */
void wrais_account(struct bfq_queue *bfqq, struct request *rq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;
	u64 cost = blk_rq_sectors(rq) + WRAIS_REQUEST_COST;
	enum wrais_kind kind = wrais_is_other(bfqq) ? WRAIS_OTHERS : WRAIS_PRIVILEGED;

	if (dev->contended && kind != WRAIS_OTHERS)
		wrais_lead_by(dev, wrais_is_waited_for(bfqq), cost);
	if (bfq_bfqq_wrais(bfqq))
		wrais_fair_dispatched(bfqq, cost);
	wrais_fill_dispatched(bfqq, blk_rq_sectors(rq));
	if (!wrais_on(WRAIS_FLOOR))
		return;

	wrais_slide(dev);
	if (dev->pays && kind != WRAIS_OTHERS)
		wrais_pay(dev, cost);
	else
		wrais_charge(dev, kind, cost);
	wrais_random_dispatched(bfqq, rq);
}

/**
 * wrais_floor_is_due() - is it the others' turn?
 * @dev: what the device did, with its window up to date
 * @pct: the others' part of that
 */
bool wrais_floor_is_due(const struct wrais_device *dev, unsigned int pct)
{
	u64 raised = 0, others = 0;
	int i, used = 0;

	if (!pct || dev->credit < WRAIS_PAY_PART * WRAIS_REQUEST_COST)
		return false;

	for (i = 0; i < WRAIS_SLOTS; i++) {
		u64 cost = dev->cost[i][WRAIS_PRIVILEGED];

		raised += cost;
		others += dev->cost[i][WRAIS_OTHERS];
		used += cost > 0;
	}
	return used > WRAIS_FREE_SLOTS &&
	       others * 100 < (raised + others) * (pct + WRAIS_FLOOR_MARGIN);
}

/* Does the floor have a deficit? */
bool wrais_floor_owes(struct wrais_device *dev)
{
	wrais_slide(dev);
	return wrais_floor_is_due(dev, READ_ONCE(wrais_floor_pct));
}
