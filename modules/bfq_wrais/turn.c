// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who is served out of turn.
 *
 * A raised queue goes before all others, and BFQ keeps the device idle for it
 * while it is about to come back. These requests are dispatched all the
 * same, as BFQ injects requests into the service of another queue:
 *  - what the others are owed (floor.c, random.c), and what of theirs is overdue;
 *  - I/O that a privileged task waits for (inherit.c); where a raised queue has
 *    a request, too, they share the device;
 *  - those of another raised queue while the one in service has none: the
 *    threads of an application wait for each other;
 *  - one request of the others while the raised queue thinks, if it has taken
 *    longer than WRAIS_THINK_NS to come back for WRAIS_THINKS times in a row.
 *
 * Locking: all of it under bfqd->lock. Scans are bounded by WRAIS_SCAN.
 */

#include <linux/backing-dev-defs.h>

#include "bfq-iosched.h"
#include "blk-mq.h"
#include "internal.h"
#include "trace.h"

/* A raised queue that thinks for less has the device kept idle for it. */
#define WRAIS_THINK_NS		NSEC_PER_MSEC
/*
 * While a privileged task waits for the journal, the others stay out for so
 * long after each request of the commit: an fsync is a chain of requests, and
 * behind each gap in it one of theirs would take the device.
 */
#define WRAIS_PLUG_NS		(3 * NSEC_PER_MSEC)
/* How long writeback is of use to somebody privileged who was to wait for it. */
#define WRAIS_WRITES_FOR	HZ
/*
 * How long a request of the others is left alone that may be waited for by those who
 * wait for its owner. A commit is a chain of some.
 */
#define WRAIS_OVERDUE_NS	(100 * NSEC_PER_MSEC)
/* How often one of these is looked for. */
#define WRAIS_LOOK_NS		NSEC_PER_MSEC
/* How often in a row it has to think for longer. */
#define WRAIS_THINKS		2
/* Queues that are looked at to find one: who has been served longest ago first. */
#define WRAIS_SCAN		64

/**
 * wrais_note_think() - a request comes to a raised queue
 * @bfqq: the queue, with its bfqd locked; the request is not queued yet
 */
void wrais_note_think(struct bfq_queue *bfqq)
{
	/* Until it asks for a tag, if it has not got one with another request. */
	u64 until_ns = bfqq->wrais.asked_ns ?: blk_time_get_ns();
	/* Under a plug the clock can be behind the last completion. */
	s64 think_ns = until_ns - bfqq->ttime.last_end_request;

	bfqq->wrais.asked_ns = 0;
	if (bfqq->dispatched || bfqq->next_rq || think_ns <= (s64)WRAIS_THINK_NS)
		bfqq->wrais.thinks = 0;
	else if (bfqq->wrais.thinks < WRAIS_THINKS)
		bfqq->wrais.thinks++;
}

static struct wrais_bdi *wrais_bdi(struct bfq_data *bfqd)
{
	return &bfqd->queue->disk->bdi->wrais;
}

/* Who waits for a page of the writeback that a queue has, or NULL if not known. */
static struct wrais_waits *wrais_folio_waits(struct bfq_queue *bfqq)
{
#if defined(CONFIG_BFQ_GROUP_IOSCHED) && defined(CONFIG_BFQ_WRAIS_INHERIT)
	return &bfqg_to_blkg(bfqq_group(bfqq))->wrais_waits;
#else
	return NULL;
#endif
}

/*
 * Is it the writeback of a cgroup of whose pages somebody privileged waits for one? That of
 * the root cgroup is everybody's.
 */
static bool wrais_has_folio(struct bfq_queue *bfqq)
{
	struct wrais_waits *waits = wrais_folio_waits(bfqq);

	return wrais_on(WRAIS_INHERIT) && !bfq_bfqq_sync(bfqq) && waits &&
	       bfqq_group(bfqq) != bfqq->bfqd->root_group && wrais_is_waited(waits);
}

/* Also of the root cgroup: beside a privileged reader its writeback may not go for long. */
static bool wrais_has_folio_long(struct bfq_queue *bfqq)
{
	struct wrais_waits *waits = wrais_folio_waits(bfqq);

	return waits && wrais_is_waited_long(waits);
}

/* Somebody privileged waits for metadata, and the queue has some, which BFQ chooses first. */
static bool wrais_has_metadata(struct bfq_queue *bfqq)
{
	return bfqq->meta_pending && wrais_is_waited(&wrais_bdi(bfqq->bfqd)->metadata);
}

static bool wrais_waits_for_journal(struct bfq_data *bfqd)
{
	return wrais_on(WRAIS_INHERIT) && wrais_is_waited(&wrais_bdi(bfqd)->journal);
}

/* Writeback has the tags, and somebody with a handle waits for one. */
static bool wrais_keeps_tags(struct bfq_queue *bfqq)
{
	return !bfq_bfqq_sync(bfqq) && wrais_is_waited(&wrais_bdi(bfqq->bfqd)->tags);
}

/**
 * wrais_is_waited_for() - does somebody privileged wait for a queue's requests?
 * @bfqq: the queue, with its bfqd locked
 *
 * A queue that several tasks share has no bic, and is nobody's.
 */
bool wrais_is_waited_for(struct bfq_queue *bfqq)
{
	if (!wrais_on(WRAIS_INHERIT))
		return false;
	if (wrais_has_metadata(bfqq))
		return true;
	if (wrais_keeps_tags(bfqq) && wrais_waits_for_journal(bfqq->bfqd))
		return true;
	if (!bfq_bfqq_sync(bfqq))
		return wrais_is_waited(&wrais_bdi(bfqq->bfqd)->flusher) ||
		       wrais_has_folio_long(bfqq);
	return bfqq->bic && wrais_is_waited(&bfqq->bic->icq.ioc->wrais_waits);
}

/**
 * wrais_is_unraised() - does nobody privileged wait for a queue's requests now?
 * @bfqq: the queue, with its bfqd locked
 */
bool wrais_is_unraised(struct bfq_queue *bfqq)
{
	return !bfq_bfqq_wrais(bfqq) && !wrais_is_waited_for(bfqq) && !wrais_has_folio(bfqq);
}

/**
 * wrais_is_other() - are a queue's requests of no use to the privileged?
 * @bfqq: the queue, with its bfqd locked
 *
 * Writeback is of use where the privileged write so much that they have to wait
 * for it from time to time.
 */
bool wrais_is_other(struct bfq_queue *bfqq)
{
	return wrais_is_unraised(bfqq) &&
	       (bfq_bfqq_sync(bfqq) ||
		!wrais_recent(&wrais_bdi(bfqq->bfqd)->written_at, WRAIS_WRITES_FOR));
}

typedef bool (*wrais_kind_fn)(struct bfq_queue *bfqq);

/* What a queue with requests has had longest. */
static struct request *wrais_head(struct bfq_queue *bfqq)
{
	return list_first_entry(&bfqq->fifo, struct request, queuelist);
}

/* @bfqq, if it is of that kind and has waited for longer than @oldest. */
static struct bfq_queue *wrais_older(struct bfq_queue *bfqq, struct bfq_queue *oldest,
				     wrais_kind_fn is_wanted)
{
	if (!bfqq || !bfqq->next_rq || !is_wanted(bfqq))
		return oldest;
	return !oldest || wrais_head(bfqq)->start_time_ns < wrais_head(oldest)->start_time_ns ?
	       bfqq : oldest;
}

/*
 * The queue of that kind which has a request that has waited longest, or NULL. The one
 * in service is not in the list.
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

/* Who is paid what the others are owed. */
static struct bfq_queue *wrais_paid(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_oldest(bfqd, wrais_is_other);

	/*
	 * Who reads close to each other shares a queue. BFQ looks for what has waited too
	 * long once in each service, of which it has none here.
	 */
	if (bfqq && blk_time_get_ns() >= wrais_head(bfqq)->fifo_time)
		bfqq->next_rq = wrais_head(bfqq);
	return bfqq;
}

/* Somebody who waits for the journal comes back when that is done. */
static bool wrais_thinks(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	return bfqq && bfq_bfqq_wrais(bfqq) && !bfqq->next_rq &&
	       !bfqd->tot_rq_in_driver && bfqq->wrais.thinks == WRAIS_THINKS &&
	       !wrais_waits_for_journal(bfqd);
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
	if (!wrais_is_unraised(bfqq))
		bfqq->bfqd->wrais.done_ns = now_ns;
	wrais_fill_completed(bfqq);
	if (bfq_bfqq_wrais(bfqq))
		wrais_fair_completed(bfqq, now_ns);
	if (wrais_on(WRAIS_FLOOR))
		wrais_random_completed(bfqq, now_ns);
}

/*
 * The privileged queue in service is about to have its next request: BFQ waits for it, but
 * would inject others' requests meanwhile where several queues are raised, or once it has
 * seen it think for long, of which it hears nothing new as long as the queue always has a
 * request. That is done when it thinks, and what it waits for is served.
 */
static bool wrais_is_expected(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	return bfqq && bfq_bfqq_wrais(bfqq) && !bfqq->next_rq &&
	       (bfqd->wr_busy_queues > 1 || bfqq->wrais.thinks < WRAIS_THINKS) &&
	       (bfq_bfqq_wait_request(bfqq) || bfqq->dispatched);
}

/**
 * wrais_plugs() - is the device kept idle for what is about to come?
 * @bfqd: the device, locked; wrais_out_of_turn() has found nothing
 */
bool wrais_plugs(struct bfq_data *bfqd)
{
	if (wrais_on(WRAIS_RAISE) &&
	    (bfqd->wrais.waits || wrais_is_expected(bfqd) ||
	     (wrais_is_full(bfqd) && !wrais_oldest(bfqd, wrais_is_raised))))
		return true;
	if (!wrais_waits_for_journal(bfqd) ||
	    blk_time_get_ns() - bfqd->wrais.done_ns >= WRAIS_PLUG_NS ||
	    wrais_oldest(bfqd, wrais_is_raised))
		return false;

	/* Nobody else may be there to come back. */
	blk_mq_delay_run_hw_queues(bfqd->queue, WRAIS_PLUG_NS / NSEC_PER_MSEC + 1);
	return true;
}

static struct bfq_queue *wrais_let(struct bfq_queue *bfqq, enum wrais_event why)
{
	struct bfq_data *bfqd = bfqq->bfqd;

	wrais_count(why);
	trace_wrais_turn(bfqd->queue, bfqq->pid, why);
	/* It is looked at last the next time. */
	if (bfqq != bfqd->in_service_queue)
		list_move(&bfqq->bfqq_list, &bfqd->active_list[bfqq->actuator_idx]);
	return bfqq;
}

/*
 * What a privileged task waits for, or NULL: a raised queue that has a request
 * goes first unless it has got more.
 */
static struct bfq_queue *wrais_waited_for(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq;

	bfqd->wrais.contended = false;
	if (!wrais_anybody_waits())
		return NULL;
	bfqq = wrais_oldest(bfqd, wrais_is_waited_for);
	if (!bfqq || !wrais_oldest(bfqd, wrais_is_raised)) {
		bfqd->wrais.lead = 0;
		return bfqq;
	}
	bfqd->wrais.contended = true;
	return wrais_waiter_first(&bfqd->wrais) ? bfqq : NULL;
}

/*
 * Writeback of a page that a privileged task waits for, or NULL: an fsync waits
 * for pages that it writes itself as well, so that these go first.
 */
static struct bfq_queue *wrais_folio_waited_for(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	if (!wrais_anybody_waits() ||
	    (bfqq && bfq_bfqq_wrais(bfqq) && bfqq->dispatched) ||
	    wrais_oldest(bfqd, wrais_is_raised))
		return NULL;
	return wrais_oldest(bfqd, wrais_has_folio);
}

/* The raised queue with a request that has had least, or NULL. */
static struct bfq_queue *wrais_behind(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;
	struct bfq_queue *behind = bfqq && bfqq->next_rq && bfq_bfqq_wrais(bfqq) ? bfqq : NULL;
	int i, scan = WRAIS_SCAN;

	for (i = 0; i < bfqd->num_actuators; i++) {
		list_for_each_entry_reverse(bfqq, &bfqd->active_list[i], bfqq_list) {
			if (!scan--)
				return behind;
			if (bfqq->next_rq && bfq_bfqq_wrais(bfqq) &&
			    (!behind || bfqq->wrais.served < behind->wrais.served))
				behind = bfqq;
		}
	}
	return behind;
}

/*
 * The privileged among themselves. They wait for one of them that is behind (fair.c).
 * Where the queue in service has no request and another one has, that is served next, and
 * the device is kept idle for it afterwards. Not on a disk with a seek, where who reads one
 * after the other is worth waiting for.
 */
static void wrais_let_fellow(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue, *fellow;
	bool idle = bfqq && bfq_bfqq_wrais(bfqq) && !bfqq->next_rq;
	bool awaits = wrais_fair_awaits(&bfqd->wrais);

	if ((!idle && !awaits) || (bfqd->queue->limits.features & BLK_FEAT_ROTATIONAL))
		return;
	fellow = wrais_behind(bfqd);
	if (!fellow)
		return;
	bfqd->wrais.waits = wrais_fair_waits(fellow);
	if (bfqd->wrais.waits || !idle)
		return;
	wrais_count(WRAIS_FELLOW_TURNS);
	trace_wrais_turn(bfqd->queue, fellow->pid, WRAIS_FELLOW_TURNS);
	/* BFQ finds it by itself: it is of the real-time class. */
	bfq_bfqq_expire(bfqd, bfqq, false, BFQQE_NO_MORE_REQUESTS);
}

/* Metadata, which somebody with a handle wants to change, or what has the tag that he needs. */
static bool wrais_keeps_handle(struct bfq_queue *bfqq)
{
	if (!wrais_on(WRAIS_INHERIT) || !wrais_overdue_may_go(&bfqq->bfqd->wrais, false))
		return false;
	return wrais_keeps_tags(bfqq) ||
	       (bfqq->next_rq->cmd_flags & REQ_META &&
		wrais_is_waited(&wrais_bdi(bfqq->bfqd)->handles));
}

/*
 * A request that has waited for too long, and for which somebody waits who may hold a lock
 * or a transaction: a write, or a read of metadata. Of one who does hold one it is known at
 * once.
 */
static bool wrais_is_overdue(struct bfq_queue *bfqq)
{
	if (!wrais_is_unraised(bfqq))
		return false;
	return wrais_keeps_handle(bfqq) ||
	       (bfq_bfqq_sync(bfqq) &&
		(op_is_write(req_op(bfqq->next_rq)) ||
		 bfqq->next_rq->cmd_flags & (REQ_META | REQ_PRIO)) &&
		blk_time_get_ns() - bfqq->next_rq->start_time_ns > WRAIS_OVERDUE_NS);
}

/* Most of the time there is none. */
static struct bfq_queue *wrais_overdue(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;
	struct bfq_queue *bfqq;
	u64 now_ns;

	if (!wrais_on(WRAIS_FLOOR) || !wrais_overdue_may_go(dev, true))
		return NULL;
	now_ns = blk_time_get_ns();
	if (now_ns - dev->looked_ns < WRAIS_LOOK_NS)
		return NULL;
	dev->looked_ns = now_ns;
	bfqq = wrais_oldest(bfqd, wrais_is_overdue);
	dev->overdue = bfqq;
	return bfqq ? wrais_let(bfqq, WRAIS_OVERDUE_TURNS) : NULL;
}

static bool wrais_is_solvent(struct bfq_queue *bfqq)
{
	return bfq_bfqq_wrais(bfqq) &&
	       !wrais_in_debt(&bfqq->wrais, bfqq->bfqd->wrais.others_ns);
}

/* Is what the privileged want now only reads at random that have to be paid for? */
static bool wrais_random_owes(struct bfq_data *bfqd)
{
	struct bfq_queue *debtor = bfqd->in_service_queue;

	if (!bfqd->wrais.debtors || bfqd->wrais.paying || wrais_oldest(bfqd, wrais_is_solvent))
		return false;
	/* It may be about to have its next request. */
	if (!debtor || !bfq_bfqq_wrais(debtor))
		debtor = wrais_oldest(bfqd, wrais_is_raised);
	bfqd->wrais.debtors = debtor && wrais_in_debt(&debtor->wrais, bfqd->wrais.others_ns);
	return bfqd->wrais.debtors;
}

/* Whose turn it is because the others are owed something, or NULL. */
static struct bfq_queue *wrais_owed(struct bfq_data *bfqd)
{
	bool floor, random;
	struct bfq_queue *bfqq;

	bfqd->wrais.pays = false;
	if (!wrais_on(WRAIS_FLOOR))
		return NULL;
	floor = wrais_floor_owes(&bfqd->wrais);
	random = !floor && wrais_random_owes(bfqd);
	if (!floor && !random)
		return NULL;

	bfqq = wrais_paid(bfqd);
	bfqd->wrais.pays = bfqq;
	bfqd->wrais.paying |= bfqq && random;
	return bfqq ? wrais_let(bfqq, floor ? WRAIS_FLOOR_TURNS : WRAIS_RANDOM_TURNS) : NULL;
}

/**
 * wrais_out_of_turn() - whose request comes next, if not in turn
 * @bfqd: the device, locked
 *
 * Return: a queue with a request, or NULL to go on as ever.
 */
struct bfq_queue *wrais_out_of_turn(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_owed(bfqd);

	bfqd->wrais.waits = false;
	/* Queues are scanned only if there is a reason to. */
	if (bfqq)
		return bfqq;

	bfqq = wrais_overdue(bfqd);
	if (bfqq)
		return bfqq;

	bfqq = wrais_waited_for(bfqd) ?: wrais_folio_waited_for(bfqd);
	if (bfqq && (bfq_bfqq_sync(bfqq) || !wrais_is_full(bfqd)))
		return wrais_let(bfqq, WRAIS_INHERITS);
	bfqq = NULL;

	if (!wrais_on(WRAIS_RAISE))
		return NULL;
	wrais_let_fellow(bfqd);
	if (wrais_thinks(bfqd))
		bfqq = wrais_oldest(bfqd, wrais_is_other);
	return bfqq ? wrais_let(bfqq, WRAIS_THINK_TURNS) : NULL;
}
