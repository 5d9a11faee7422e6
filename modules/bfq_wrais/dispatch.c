// SPDX-License-Identifier: GPL-2.0-only
/*
 * The three events of a request, and which queue is served out of turn.
 *
 * A raised queue goes before all others, and BFQ keeps the device idle for it while its
 * next request is expected. The requests of wrais_reasons are dispatched nevertheless, as
 * BFQ injects requests into the service of another queue.
 *
 * Locking: all of it under bfqd->lock. Scans are bounded by WRAIS_SCAN.
 */

#include <linux/backing-dev-defs.h>
#include <linux/bitops.h>
#include <linux/blk-mq.h>
#include <linux/minmax.h>

#include "bfq-iosched.h"
#include "blk-mq.h"
#include "privilege.h"
#include "trace.h"
#include "waits.h"

/* The device is kept idle for a raised queue that pauses for less. */
#define WRAIS_PAUSE_NS		NSEC_PER_MSEC
/* How many longer pauses in a row count. */
#define WRAIS_PAUSES		2
/* How often an overdue request is searched, and a late read. */
#define WRAIS_LOOK_NS		NSEC_PER_MSEC
/* Queues that a scan tests, the one served longest ago first. */
#define WRAIS_SCAN		64
/* Reads of fewer sectors than this can be random, as in BFQQ_SECT_THR_NONROT. */
#define WRAIS_RANDOM_SECTORS	64
/* Of a queue's last 32 requests, those that make it seek, as in BFQQ_SEEKY(). */
#define WRAIS_SEEKS		19
/* No request takes longer; a part may have been switched on while one was under way. */
#define WRAIS_SPENT_MAX		NSEC_PER_SEC

typedef bool (*wrais_kind_fn)(struct bfq_queue *bfqq);

/* Return @bfqq if it is of that kind and has waited longer than @oldest. */
static struct bfq_queue *wrais_older(struct bfq_queue *bfqq, struct bfq_queue *oldest,
				     wrais_kind_fn is_wanted)
{
	if (!bfqq || !bfqq->next_rq || !is_wanted(bfqq))
		return oldest;
	return !oldest || wrais_head(bfqq)->start_time_ns < wrais_head(oldest)->start_time_ns ?
	       bfqq : oldest;
}

/*
 * The queue of that kind with the request that has waited longest, or NULL. The queue in
 * service is not in the list.
 */
static struct bfq_queue *wrais_oldest(struct bfq_data *bfqd, wrais_kind_fn is_wanted)
{
	struct bfq_queue *bfqq, *oldest;
	int i, scan = WRAIS_SCAN;

	oldest = wrais_older(bfqd->in_service_queue, NULL, is_wanted);
	for (i = 0; i < bfqd->num_actuators; i++) {
		list_for_each_entry_reverse(bfqq, &bfqd->active_list[i], bfqq_list) {
			if (!scan--)
				return oldest;
			oldest = wrais_older(bfqq, oldest, is_wanted);
		}
	}
	return oldest;
}

/* The raised queue with a request that has had least, or NULL. */
static struct bfq_queue *wrais_least_served(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;
	struct bfq_queue *least = bfqq && bfqq->next_rq && bfq_bfqq_wrais(bfqq) ? bfqq : NULL;
	int i, scan = WRAIS_SCAN;

	for (i = 0; i < bfqd->num_actuators; i++) {
		list_for_each_entry_reverse(bfqq, &bfqd->active_list[i], bfqq_list) {
			if (!scan--)
				return least;
			if (bfqq->next_rq && bfq_bfqq_wrais(bfqq) &&
			    (!least || bfqq->wrais.served < least->wrais.served))
				least = bfqq;
		}
	}
	return least;
}

/* Is the queue in service privileged, and without a request? */
static bool wrais_is_idling(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	return bfqq && bfq_bfqq_wrais(bfqq) && !bfqq->next_rq;
}

/* The floor of the others. */
static bool wrais_floor_due(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;

	dev->floor_due = wrais_on(WRAIS_FLOOR) && wrais_floor_has_deficit(dev);
	return dev->floor_due;
}

/* The queue that gets the deficit of the others. */
static struct bfq_queue *wrais_for_deficit(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_oldest(bfqd, wrais_is_other);

	/*
	 * Tasks that read close to each other share a queue. BFQ tests for requests that
	 * have waited too long once in each service, which does not happen here.
	 */
	if (bfqq && blk_time_get_ns() >= wrais_head(bfqq)->fifo_time)
		bfqq->next_rq = wrais_head(bfqq);
	bfqd->wrais.for_deficit = bfqq;
	return bfqq;
}

/* Are the requests of privileged tasks only random reads with a deficit? */
static bool wrais_random_due(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;
	struct bfq_queue *debtor = bfqd->in_service_queue;

	if (!wrais_on(WRAIS_FLOOR) || dev->floor_due || !dev->debts || dev->reducing ||
	    wrais_oldest(bfqd, wrais_is_raised_without_debt))
		return false;
	/* It may be about to have its next request. */
	if (!debtor || !bfq_bfqq_wrais(debtor))
		debtor = wrais_oldest(bfqd, wrais_is_raised);
	dev->debts = debtor && wrais_in_debt(&debtor->wrais, dev->others_ns);
	return dev->debts;
}

static struct bfq_queue *wrais_for_debt(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_for_deficit(bfqd);

	bfqd->wrais.reducing |= !!bfqq;
	return bfqq;
}

/* Is it time to search again? Usually no such request waits. */
static bool wrais_may_look(u64 *looked_ns)
{
	u64 now_ns = blk_time_get_ns();

	if (now_ns - *looked_ns < WRAIS_LOOK_NS)
		return false;
	*looked_ns = now_ns;
	return true;
}

static bool wrais_overdue_due(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;

	return wrais_on(WRAIS_FLOOR) && wrais_overdue_may_go(dev, true) &&
	       wrais_may_look(&dev->looked_ns);
}

static struct bfq_queue *wrais_overdue(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_oldest(bfqd, wrais_is_overdue);

	bfqd->wrais.overdue = bfqq;
	return bfqq;
}

static bool wrais_late_due(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;

	return wrais_on(WRAIS_FLOOR) && wrais_late_may_go(dev) &&
	       wrais_may_look(&dev->looked_late_ns);
}

static struct bfq_queue *wrais_late(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_oldest(bfqd, wrais_is_late);

	if (bfqq) {
		bfqq->next_rq = wrais_head(bfqq);
		bfqd->wrais.late = true;
	}
	return bfqq;
}

/* What a privileged task waits for. */
static bool wrais_inherit_due(struct bfq_data *bfqd)
{
	bfqd->wrais.contended = false;
	return wrais_has_waiters();
}

/*
 * The queue that a privileged task waits for, or NULL: a raised queue that has a request
 * goes first unless it has had more.
 */
static struct bfq_queue *wrais_waited_for(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_oldest(bfqd, wrais_is_waited_for);

	if (!bfqq || !wrais_oldest(bfqd, wrais_is_raised)) {
		bfqd->wrais.lead = 0;
		return bfqq;
	}
	bfqd->wrais.contended = true;
	return wrais_waiter_first(&bfqd->wrais) ? bfqq : NULL;
}

/*
 * Writeback of a page that a privileged task waits for, or NULL. An fsync also waits for
 * pages that it writes itself, which go first.
 */
static struct bfq_queue *wrais_folio_waited_for(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	if ((bfqq && bfq_bfqq_wrais(bfqq) && bfqq->dispatched) ||
	    wrais_oldest(bfqd, wrais_is_raised))
		return NULL;
	return wrais_oldest(bfqd, wrais_has_folio);
}

static struct bfq_queue *wrais_inherits(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_waited_for(bfqd) ?: wrais_folio_waited_for(bfqd);

	return bfqq && (bfq_bfqq_sync(bfqq) || !wrais_is_full(bfqd)) ? bfqq : NULL;
}

/*
 * Privileged queues among themselves wait for one of them with a deficit (accounts.c).
 * Where the queue in service has no request and another one has, that is served next, and
 * the device is kept idle for it afterwards. Not on a disk with a seek, where it is better
 * to wait for the next request of one reader.
 */
static bool wrais_fellow_due(struct bfq_data *bfqd)
{
	bool awaits;

	if (!wrais_on(WRAIS_RAISE))
		return false;
	/* In any case: it ends a wait that has lasted too long. */
	awaits = wrais_fair_awaits(&bfqd->wrais);
	return (awaits || wrais_is_idling(bfqd)) &&
	       !(bfqd->queue->limits.features & BLK_FEAT_ROTATIONAL);
}

static struct bfq_queue *wrais_fellow(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_least_served(bfqd);
	struct wrais_device *dev = &bfqd->wrais;

	if (!bfqq)
		return NULL;
	dev->waits = wrais_fair_waits(dev, &bfqq->wrais);
	/* The next request may not come, and nothing be in the device. */
	if (dev->waits)
		blk_mq_delay_run_hw_queues(bfqd->queue,
					   WRAIS_FAIR_NEXT_NS / NSEC_PER_MSEC + 1);
	return dev->waits || !wrais_is_idling(bfqd) ? NULL : bfqq;
}

/* A task that waits for the journal comes back when the commit is done. */
static bool wrais_pause_due(struct bfq_data *bfqd)
{
	return wrais_on(WRAIS_RAISE) && wrais_is_idling(bfqd) && !bfqd->tot_rq_in_driver &&
	       bfqd->in_service_queue->wrais.pauses == WRAIS_PAUSES &&
	       !wrais_waits_for_journal(bfqd);
}

static struct bfq_queue *wrais_in_pause(struct bfq_data *bfqd)
{
	return wrais_oldest(bfqd, wrais_is_other);
}

/**
 * struct wrais_reason - a reason to serve a queue out of turn
 * @why: its counter, and its name in the tracepoint
 * @is_due: does it apply now? Queues are scanned only if it does
 * @find: the queue, or NULL if none has such a request
 * @by_bfq: BFQ finds that queue once the one in service is expired
 */
struct wrais_reason {
	enum wrais_event why;
	bool (*is_due)(struct bfq_data *bfqd);
	struct bfq_queue *(*find)(struct bfq_data *bfqd);
	bool by_bfq;
};

/* In order of precedence: the first one that is due and finds a queue holds. */
static const struct wrais_reason wrais_reasons[] = {
	/* The deficit of the others, their overdue requests, and their late reads. */
	{ WRAIS_FLOOR_TURNS,	wrais_floor_due,	wrais_for_deficit },
	{ WRAIS_RANDOM_TURNS,	wrais_random_due,	wrais_for_debt },
	{ WRAIS_OVERDUE_TURNS,	wrais_overdue_due,	wrais_overdue },
	{ WRAIS_LATE_TURNS,	wrais_late_due,		wrais_late },
	/* It shares the device with the requests of a raised queue. */
	{ WRAIS_INHERITS,	wrais_inherit_due,	wrais_inherits },
	/* The threads of an application wait for each other. */
	{ WRAIS_FELLOW_TURNS,	wrais_fellow_due,	wrais_fellow,	.by_bfq = true },
	/* One request of the others while the raised queue pauses, as it usually does. */
	{ WRAIS_THINK_TURNS,	wrais_pause_due,	wrais_in_pause },
};

/* Serve a queue for that reason. Return it, or NULL if BFQ is to find it. */
static struct bfq_queue *
wrais_grant(struct bfq_data *bfqd, struct bfq_queue *bfqq, const struct wrais_reason *reason)
{
	wrais_count(reason->why);
	trace_wrais_turn(bfqd->queue, bfqq->pid, reason->why);
	if (reason->by_bfq) {
		bfq_bfqq_expire(bfqd, bfqd->in_service_queue, false, BFQQE_NO_MORE_REQUESTS);
		return NULL;
	}
	/* The next scan tests it last. */
	if (bfqq != bfqd->in_service_queue)
		list_move(&bfqq->bfqq_list, &bfqd->active_list[bfqq->actuator_idx]);
	return bfqq;
}

/* The queue that is served next out of turn, or NULL to go on as BFQ does. */
struct bfq_queue *wrais_out_of_turn(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;
	const struct wrais_reason *reason;
	struct bfq_queue *bfqq;
	int i;

	dev->for_deficit = false;
	dev->overdue = false;
	dev->waits = false;
	if (!wrais_enabled()) {
		dev->contended = false;
		return NULL;
	}
	for (i = 0; i < ARRAY_SIZE(wrais_reasons); i++) {
		reason = &wrais_reasons[i];
		bfqq = reason->is_due(bfqd) ? reason->find(bfqd) : NULL;
		if (bfqq)
			return wrais_grant(bfqd, bfqq, reason);
	}
	return NULL;
}

/*
 * The privileged queue in service is about to have its next request. BFQ waits for it, but
 * injects other requests meanwhile if several queues are raised, or after a long pause of
 * the task, which BFQ does not measure again while the queue always has a request. Here
 * others are served when the task pauses, and when it waits for them.
 */
static bool wrais_is_expected(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	return wrais_is_idling(bfqd) &&
	       (bfqd->wr_busy_queues > 1 || bfqq->wrais.pauses < WRAIS_PAUSES) &&
	       (bfq_bfqq_wait_request(bfqq) || bfqq->dispatched);
}

/* Is the device kept idle for an expected request? wrais_out_of_turn() has found nothing. */
bool wrais_plugs(struct bfq_data *bfqd)
{
	return wrais_on(WRAIS_RAISE) &&
	       (bfqd->wrais.waits || wrais_is_expected(bfqd) ||
		(wrais_is_full(bfqd) && !wrais_oldest(bfqd, wrais_is_raised)));
}

/* A request arrives at a raised queue: has its task paused for long? */
static void wrais_note_pause(struct bfq_queue *bfqq)
{
	/* The pause ends when the task asks for a tag, if it has to. */
	u64 until_ns = bfqq->wrais.asked_ns ?: blk_time_get_ns();
	/* Under a plug the clock can be behind the last completion. */
	s64 pause_ns = until_ns - bfqq->ttime.last_end_request;

	bfqq->wrais.asked_ns = 0;
	if (bfqq->dispatched || bfqq->next_rq || pause_ns <= (s64)WRAIS_PAUSE_NS)
		bfqq->wrais.pauses = 0;
	else if (bfqq->wrais.pauses < WRAIS_PAUSES)
		bfqq->wrais.pauses++;
}

/**
 * wrais_insert() - a request comes to a separate queue
 * @bfqq: the queue, with its bfqd locked; the request is not queued yet
 * @bic: brings it
 * @bio: the request's first bio
 */
void wrais_insert(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio)
{
	struct bfq_data *bfqd = bfqq->bfqd;

	if (!wrais_set_class(bfqq, bic, bio))
		return;
	wrais_count(WRAIS_RAISED_REQUESTS);
	wrais_note_active(&bfqd->queue->disk->bdi->wrais);
	wrais_note_pause(bfqq);
	wrais_fair_arrived(&bfqd->wrais, &bfqq->wrais);
}

static void wrais_time_dispatched(struct bfq_queue *bfqq, struct request *rq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	if (!bfqq->bfqd->tot_rq_in_driver) {
		dev->busy_ns = blk_time_get_ns();
		dev->reducing = false;
	}
	bfqq->wrais.random = bfq_bfqq_wrais(bfqq) && rq_data_dir(rq) == READ &&
			     blk_rq_sectors(rq) < WRAIS_RANDOM_SECTORS &&
			     hweight32(bfqq->seek_history) > WRAIS_SEEKS;
}

/* A request goes to the device. */
void wrais_dispatch(struct bfq_queue *bfqq, struct request *rq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;
	u64 cost = blk_rq_sectors(rq) + WRAIS_REQUEST_COST;
	enum wrais_kind kind = wrais_is_other(bfqq) ? WRAIS_OTHERS : WRAIS_PRIVILEGED;

	if (dev->contended && kind != WRAIS_OTHERS)
		wrais_lead_by(dev, wrais_is_waited_for(bfqq), cost);
	if (bfq_bfqq_wrais(bfqq))
		wrais_fair_dispatched(dev, &bfqq->wrais, wrais_fair_share(cost, bfqq->ioprio));
	wrais_fill_dispatched(bfqq, blk_rq_sectors(rq));
	if (!wrais_on(WRAIS_FLOOR))
		return;
	wrais_floor_dispatched(dev, kind, cost);
	wrais_time_dispatched(bfqq, rq);
}

/* The device's time for a request, in each account of time. */
static void wrais_time_completed(struct bfq_queue *bfqq, u64 now_ns)
{
	enum wrais_kind kind = wrais_is_unraised(bfqq) ? WRAIS_OTHERS : WRAIS_PRIVILEGED;
	struct wrais_device *dev = &bfqq->bfqd->wrais;
	u64 spent_ns = min(now_ns - min(now_ns, dev->busy_ns), (u64)WRAIS_SPENT_MAX);

	dev->busy_ns = now_ns;
	dev->late &= bfqq->bfqd->tot_rq_in_driver > 0;
	wrais_late_spend(dev, kind, spent_ns);
	if (kind == WRAIS_OTHERS) {
		dev->others_ns += spent_ns;
		dev->reducing = false;
	} else if (bfqq->wrais.random) {
		wrais_random_spend(&bfqq->wrais, now_ns, spent_ns, dev->others_ns);
		dev->debts |= wrais_in_debt(&bfqq->wrais, dev->others_ns);
	}
}

/* A request is completed. */
void wrais_complete(struct bfq_queue *bfqq, u64 now_ns)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	wrais_fill_completed(bfqq);
	if (bfq_bfqq_wrais(bfqq) && !bfqq->next_rq && !bfqq->dispatched && !bfqq->wrais.pauses)
		wrais_fair_await(dev, &bfqq->wrais, now_ns + WRAIS_FAIR_NEXT_NS);
	if (wrais_on(WRAIS_FLOOR))
		wrais_time_completed(bfqq, now_ns);
}
