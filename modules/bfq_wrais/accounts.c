// SPDX-License-Identifier: GPL-2.0-only
/*
 * The accounts: what the others get under privileged tasks, and these from each other.
 *
 * The floor: the others get floor_pct of what the device does in any window of
 * floor_window_ms. The deficit is computed once privileged tasks have used the device in
 * more than WRAIS_FREE_SLOTS of the window's slots, so that a start-up of seconds is free,
 * and then served with at most one part in WRAIS_DEFICIT_PART of the device. Costs are in
 * sectors, with WRAIS_REQUEST_COST for each request.
 *
 * Overdue requests: some requests of the others keep a lock or a transaction from being
 * released. They do not wait for the floor: once they are overdue (queue.c) they get up to
 * one part in WRAIS_OVERDUE_PART of the device.
 *
 * Late reads: a task that reads data may hold a lock as well, or the page that a privileged
 * task wants. Once they are late (queue.c) they get up to one part in WRAIS_LATE_PART of the
 * device's time: reads from elsewhere cost a disk with a seek more than their sectors.
 *
 * Reads at random: a task that reads small pieces from all over the device occupies it for
 * few bytes. A start-up may. Later its share falls gradually to random_pct, if the others
 * want the rest: its use for such reads, less a tenth of the time that has passed, is free
 * up to a third of floor_window_ms, and costs the most from a half on. The others' claim is
 * a debt of that queue alone: it is not served while a privileged queue without debt has a
 * request. This account is in device time, between two completions or from when the device
 * had nothing to do, so that no model of the device is needed.
 *
 * Privileged queues among themselves: a reader of small pieces has one request in the
 * device and the next one only when that is done. BFQ keeps the device idle for a queue
 * where weights differ; where all are raised it serves request by request, and a reader of
 * 128 KiB at a time has a quarter of a reader of 512. So each queue has an account: while
 * one with a deficit has a request in the device or is about to have one, the others wait.
 * That is for queues that use all they get. One that pauses for long is not waited for, and
 * has no claim to what it did not use: the threads of an application wait for each other,
 * and BFQ shares the device among them.
 *
 * Locking: all of it under bfqd->lock.
 */

#include <linux/ioprio.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/string.h>

#include "accounts.h"
#include "blk.h"

/* Slots in which privileged tasks may use the device for free. */
#define WRAIS_FREE_SLOTS	4
/* The window slides by slots: keep a point more than is promised [percent]. */
#define WRAIS_FLOOR_MARGIN	1
/* The part of the device that serves the deficit. */
#define WRAIS_DEFICIT_PART	5
/* The part of the device for overdue requests of the others, at any time. */
#define WRAIS_OVERDUE_PART	20
/* That of its time for late reads, and the most that is saved or due. */
#define WRAIS_LATE_PART		50
#define WRAIS_LATE_MAX		((s64)NSEC_PER_SEC)
/* How many small overdue requests may go one after the other. */
#define WRAIS_OVERDUE_BURST	10
/* By how much one side may get ahead of the other, about a megabyte. */
#define WRAIS_LEAD_MAX		2048LL
/* Parts of the window: what is free, and the range in which the share falls. */
#define WRAIS_FREE_PART		3
#define WRAIS_FALL_PART	6
/* The part of the passing time that is forgotten. */
#define WRAIS_FORGET_PART	10
/* The largest debt either way. */
#define WRAIS_DEBT_MAX		(100 * NSEC_PER_MSEC)
/* The deficit of a queue before the others wait, about a megabyte. */
#define WRAIS_FAIR_SLACK	2048ULL
/* Its largest deficit. */
#define WRAIS_FAIR_LAG		(2 * WRAIS_FAIR_SLACK)
/* How long a request in the device is waited for. */
#define WRAIS_FAIR_DONE_NS	(100 * NSEC_PER_MSEC)

unsigned int wrais_floor_pct = 5;
unsigned int wrais_floor_window_ms = 30000;
unsigned int wrais_random_pct = 30;

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
static void wrais_serve_deficit(struct wrais_device *dev, u64 cost)
{
	dev->credit -= min(dev->credit, cost * (WRAIS_DEFICIT_PART - 1));
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
		wrais_serve_deficit(dev, cost);
	else
		dev->credit += cost;
	wrais_charge_overdue(dev, kind, cost);
}

/* A request of that kind goes to the device. */
void wrais_floor_dispatched(struct wrais_device *dev, enum wrais_kind kind, u64 cost)
{
	wrais_slide(dev);
	if (dev->for_deficit && kind != WRAIS_OTHERS)
		wrais_serve_deficit(dev, cost);
	else
		wrais_charge(dev, kind, cost);
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

	if (!pct || dev->credit < WRAIS_DEFICIT_PART * WRAIS_REQUEST_COST)
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
bool wrais_floor_has_deficit(struct wrais_device *dev)
{
	wrais_slide(dev);
	return wrais_floor_is_due(dev, READ_ONCE(wrais_floor_pct));
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

/* Is there time for a late read? One at a time: it is charged once it is done. */
bool wrais_late_may_go(const struct wrais_device *dev)
{
	return dev->late_ns > 0 && !dev->late;
}

/* The device has worked for so long on a request of that kind. */
void wrais_late_spend(struct wrais_device *dev, enum wrais_kind kind, u64 spent_ns)
{
	s64 ns = spent_ns;

	if (kind == WRAIS_OTHERS) {
		ns = dev->late ? -ns * (WRAIS_LATE_PART - 1) : 0;
		dev->late = false;
	}
	dev->late_ns = clamp(dev->late_ns + ns, -WRAIS_LATE_MAX, WRAIS_LATE_MAX);
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

/**
 * wrais_random_lost() - the share that a random reader leaves to the others
 * @used_ns: its use for random reads
 * @window_ns: the window
 * @pct: its least share [percent]
 *
 * Return: percent, less than 100.
 */
unsigned int wrais_random_lost(u64 used_ns, u64 window_ns, unsigned int pct)
{
	u64 free_ns = div_u64(window_ns, WRAIS_FREE_PART);
	u64 fall_ns = div_u64(window_ns, WRAIS_FALL_PART);
	u64 over_ns = used_ns - min(used_ns, free_ns);

	return div64_u64(min(over_ns, fall_ns) * (100 - pct), fall_ns);
}

/* Does the queue have a debt, at that device time of the others? */
bool wrais_in_debt(const struct wrais_queue *q, u64 others_ns)
{
	return q->debt_ns > (s64)(others_ns - q->settled_ns);
}

static s64 wrais_within_debt_max(s64 debt_ns)
{
	return clamp(debt_ns, -(s64)WRAIS_DEBT_MAX, (s64)WRAIS_DEBT_MAX);
}

/**
 * wrais_random_spend() - a queue has used the device for a random read
 * @q: of the queue
 * @now_ns: when
 * @spent_ns: for how long
 * @others_ns: the others' use of the device
 */
void wrais_random_spend(struct wrais_queue *q, u64 now_ns, u64 spent_ns, u64 others_ns)
{
	u64 window_ns = READ_ONCE(wrais_floor_window_ms) * (u64)NSEC_PER_MSEC;
	unsigned int pct = READ_ONCE(wrais_random_pct), lost;
	u64 forgotten_ns = div_u64(now_ns - q->used_at_ns, WRAIS_FORGET_PART);

	q->used_ns = min(q->used_ns - min(q->used_ns, forgotten_ns) + spent_ns, window_ns);
	q->used_at_ns = now_ns;
	lost = wrais_random_lost(q->used_ns, window_ns, pct);

	q->debt_ns = wrais_within_debt_max(q->debt_ns - (s64)(others_ns - q->settled_ns));
	q->debt_ns = wrais_within_debt_max(q->debt_ns +
					   (s64)div_u64(spent_ns * lost, 100 - lost));
	q->settled_ns = others_ns;
}

/* The share of a request of that cost; a higher level (0 to 7) gets less, as in BFQ. */
u64 wrais_fair_share(u64 cost, unsigned int level)
{
	return cost * IOPRIO_NR_LEVELS / (IOPRIO_NR_LEVELS - level);
}

/* No queue has a larger deficit than that. */
static void wrais_fair_within(const struct wrais_device *dev, struct wrais_queue *q, u64 lag)
{
	q->served = max(q->served, dev->served_most - min(dev->served_most, lag));
}

/* Add a request to the account of its queue. */
void wrais_fair_charge(struct wrais_device *dev, struct wrais_queue *q, u64 share)
{
	wrais_fair_within(dev, q, WRAIS_FAIR_LAG);
	q->served += share;
	dev->served_most = max(dev->served_most, q->served);
}

/* Is a privileged queue about to have its next request? */
bool wrais_fair_awaits(struct wrais_device *dev)
{
	if (dev->awaited && blk_time_get_ns() >= dev->awaited_until_ns)
		dev->awaited = NULL;
	return dev->awaited;
}

/* The others wait for the next request of @q until then, if its deficit is the largest. */
void wrais_fair_await(struct wrais_device *dev, const struct wrais_queue *q, u64 until_ns)
{
	if (wrais_fair_awaits(dev) && dev->awaited != q && dev->awaited_served < q->served)
		return;
	dev->awaited = q;
	dev->awaited_served = q->served;
	dev->awaited_until_ns = until_ns;
}

/* A request arrives at a privileged queue; the pauses of its task are up to date. */
void wrais_fair_arrived(struct wrais_device *dev, struct wrais_queue *q)
{
	if (dev->awaited == q)
		dev->awaited = NULL;
	if (q->pauses)
		wrais_fair_within(dev, q, WRAIS_FAIR_SLACK);
}

/* A request of a privileged queue goes to the device. */
void wrais_fair_dispatched(struct wrais_device *dev, struct wrais_queue *q, u64 share)
{
	wrais_fair_charge(dev, q, share);
	if (!q->pauses)
		wrais_fair_await(dev, q, blk_time_get_ns() + WRAIS_FAIR_DONE_NS);
}

/* Does a privileged queue wait for @q, which has had least of those with a request? */
bool wrais_fair_waits(const struct wrais_device *dev, const struct wrais_queue *q)
{
	return dev->awaited && dev->awaited != q &&
	       dev->awaited_served + WRAIS_FAIR_SLACK < q->served;
}
