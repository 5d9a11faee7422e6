// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is served out of turn.
 *
 * A raised queue goes before all others, and BFQ keeps the device idle for it
 * while it is about to come back. Three kinds of requests are dispatched all
 * the same, as BFQ injects requests into the service of another queue:
 *  - I/O that a privileged task waits for (inherit.c);
 *  - one request of the others while the raised queue thinks, if it has taken
 *    longer than WRAIS_THINK_NS to come back for WRAIS_THINKS times in a row;
 *  - the floor: the others get floor_pct of what the device does in any window
 *    of floor_window_ms. It is looked at once the privileged have used the
 *    device in more than WRAIS_FREE_SLOTS of the window's slots, so that a
 *    start-up of seconds pays nothing, and then paid back with at most one
 *    part in WRAIS_PAY_PART of the device.
 *
 * Locking: all of it under bfqd->lock. Scans are bounded by WRAIS_SCAN.
 */

#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "bfq-iosched.h"
#include "blk-mq.h"
#include "internal.h"

/* A raised queue that thinks for less has the device kept idle for it. */
#define WRAIS_THINK_NS		NSEC_PER_MSEC
/*
 * While a privileged task waits for the journal, the others stay out for so
 * long after each request of the commit: an fsync is a chain of requests, and
 * behind each gap in it one of theirs would take the device.
 */
#define WRAIS_PLUG_NS		(3 * NSEC_PER_MSEC)
/* How often in a row it has to think for longer. */
#define WRAIS_THINKS		2
/* Slots in which the privileged may use the device for nothing. */
#define WRAIS_FREE_SLOTS	4
/* The window slides by slots: keep a point more than is promised [percent]. */
#define WRAIS_FLOOR_MARGIN	1
/* What the others are paid back with, a part of the device. */
#define WRAIS_PAY_PART		5
/* What a request costs besides its sectors, a fraction of a millisecond. */
#define WRAIS_REQUEST_COST	16
/* Queues that are looked at to find one. */
#define WRAIS_SCAN		64

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

/**
 * wrais_account() - a request is dispatched
 * @bfqq: its queue, with its bfqd locked
 * @sectors: its size
 */
void wrais_account(struct bfq_queue *bfqq, unsigned long sectors)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;
	bool other = !bfq_bfqq_wrais(bfqq);
	u64 cost = sectors + WRAIS_REQUEST_COST;

	if (!wrais_on(WRAIS_FLOOR))
		return;

	wrais_slide(dev);
	dev->cost[dev->slot % WRAIS_SLOTS][other] += cost;
	if (other)
		dev->credit -= min(dev->credit, cost * (WRAIS_PAY_PART - 1));
	else
		dev->credit += cost;
}

/**
 * wrais_note_think() - a request comes to a raised queue
 * @bfqq: the queue, with its bfqd locked; the request is not queued yet
 */
void wrais_note_think(struct bfq_queue *bfqq)
{
	/* Under a plug the clock can be behind the last completion. */
	s64 think_ns = blk_time_get_ns() - bfqq->ttime.last_end_request;

	if (bfqq->dispatched || bfqq->next_rq || think_ns <= (s64)WRAIS_THINK_NS)
		bfqq->wrais_thinks = 0;
	else if (bfqq->wrais_thinks < WRAIS_THINKS)
		bfqq->wrais_thinks++;
}

static bool wrais_is_waited_for(struct bfq_queue *bfqq)
{
	if (!bfq_bfqq_sync(bfqq))
		return wrais_waits_for(WRAIS_FOR_FLUSHER);
	return bfq_bfqq_wrais_carrier(bfqq) && wrais_waits_for(WRAIS_FOR_JOURNAL);
}

static bool wrais_is_other(struct bfq_queue *bfqq)
{
	return !bfq_bfqq_wrais(bfqq);
}

/* The queue of that kind whose next request has waited longest, or NULL. */
static struct bfq_queue *
wrais_oldest(struct bfq_data *bfqd, bool (*is_wanted)(struct bfq_queue *bfqq))
{
	struct bfq_queue *bfqq, *oldest = NULL;
	int i, scan = WRAIS_SCAN;

	for (i = 0; i < bfqd->num_actuators; i++) {
		list_for_each_entry(bfqq, &bfqd->active_list[i], bfqq_list) {
			if (!scan--)
				return oldest;
			if (!bfqq->next_rq || !is_wanted(bfqq))
				continue;
			if (!oldest || bfqq->next_rq->start_time_ns <
				       oldest->next_rq->start_time_ns)
				oldest = bfqq;
		}
	}
	return oldest;
}

/**
 * wrais_floor_is_due() - is it the others' turn?
 * @dev: what the device did, with its window up to date
 * @pct: what the others are to have of that
 */
bool wrais_floor_is_due(const struct wrais_device *dev, unsigned int pct)
{
	u64 raised = 0, others = 0;
	int i, used = 0;

	if (!pct || dev->credit < WRAIS_PAY_PART * WRAIS_REQUEST_COST)
		return false;

	for (i = 0; i < WRAIS_SLOTS; i++) {
		raised += dev->cost[i][0];
		others += dev->cost[i][1];
		used += dev->cost[i][0] > 0;
	}
	return used > WRAIS_FREE_SLOTS &&
	       others * 100 < (raised + others) * (pct + WRAIS_FLOOR_MARGIN);
}

static bool wrais_owes(struct wrais_device *dev)
{
	if (!wrais_on(WRAIS_FLOOR))
		return false;

	wrais_slide(dev);
	return wrais_floor_is_due(dev, READ_ONCE(wrais_floor_pct));
}

/* Somebody who waits for the journal comes back when that is done. */
static bool wrais_thinks(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	return bfqq && bfq_bfqq_wrais(bfqq) && !bfqq->next_rq &&
	       !bfqd->tot_rq_in_driver && bfqq->wrais_thinks == WRAIS_THINKS &&
	       !wrais_waits_for(WRAIS_FOR_JOURNAL);
}

static bool wrais_is_raised(struct bfq_queue *bfqq)
{
	return bfq_bfqq_wrais(bfqq);
}

/**
 * wrais_completed() - a request is done
 * @bfqq: its queue, with its bfqd locked
 * @now_ns: when
 */
void wrais_completed(struct bfq_queue *bfqq, u64 now_ns)
{
	if (bfq_bfqq_wrais(bfqq) || bfq_bfqq_wrais_carrier(bfqq))
		bfqq->bfqd->wrais.done_ns = now_ns;
}

/**
 * wrais_plugs() - is the device kept idle for what is about to come?
 * @bfqd: the device, locked; wrais_out_of_turn() has found nothing
 */
bool wrais_plugs(struct bfq_data *bfqd)
{
	if (!wrais_on(WRAIS_INHERIT) || !wrais_waits_for(WRAIS_FOR_JOURNAL) ||
	    blk_time_get_ns() - bfqd->wrais.done_ns >= WRAIS_PLUG_NS ||
	    wrais_oldest(bfqd, wrais_is_raised))
		return false;

	/* Nobody else may be there to come back. */
	blk_mq_delay_run_hw_queues(bfqd->queue, WRAIS_PLUG_NS / NSEC_PER_MSEC + 1);
	return true;
}

/**
 * wrais_out_of_turn() - whose request comes next, if not in turn
 * @bfqd: the device, locked
 *
 * Return: a queue with a request, or NULL to go on as ever.
 */
struct bfq_queue *wrais_out_of_turn(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq;

	/* Queues are scanned only if there is a reason to. */
	if (wrais_on(WRAIS_INHERIT) && (wrais_waits_for(WRAIS_FOR_FLUSHER) ||
					wrais_waits_for(WRAIS_FOR_JOURNAL))) {
		bfqq = wrais_oldest(bfqd, wrais_is_waited_for);
		if (bfqq) {
			wrais_count(WRAIS_INHERITS);
			return bfqq;
		}
	}

	if (wrais_owes(&bfqd->wrais)) {
		bfqq = wrais_oldest(bfqd, wrais_is_other);
		if (bfqq) {
			wrais_count(WRAIS_FLOOR_TURNS);
			return bfqq;
		}
	}

	if (wrais_on(WRAIS_RAISE) && wrais_thinks(bfqd)) {
		bfqq = wrais_oldest(bfqd, wrais_is_other);
		if (bfqq)
			wrais_count(WRAIS_THINK_TURNS);
		return bfqq;
	}
	return NULL;
}
