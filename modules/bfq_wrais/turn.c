// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that are served out of turn.
 *
 * A raised queue goes before all others, and BFQ keeps the device idle for it while its
 * next request is expected. These requests are dispatched nevertheless, as BFQ injects
 * requests into the service of another queue:
 * - the deficit of the others (floor.c, random.c), and their overdue requests;
 * - I/O that a privileged task waits for (inherit.c); it shares the device with the requests
 *   of a raised queue;
 * - those of another raised queue while the one in service has none: the threads of an
 *   application wait for each other;
 * - one request of the others while the raised queue pauses, if it has taken longer than
 *   WRAIS_THINK_NS to come back for WRAIS_THINKS times in a row.
 *
 * Locking: all of it under bfqd->lock. Scans are bounded by WRAIS_SCAN.
 */

#include <linux/backing-dev-defs.h>

#include "bfq-iosched.h"
#include "blk-mq.h"
#include "internal.h"
#include "trace.h"

/* The device is kept idle for a raised queue that pauses for less. */
#define WRAIS_THINK_NS		NSEC_PER_MSEC
/*
 * While a privileged task waits for the journal, other requests are held back for this
 * long after each request of the commit, which is a chain of them.
 */
#define WRAIS_PLUG_NS		(3 * NSEC_PER_MSEC)
/* How long writeback is exempt after a privileged writer had to wait for it. */
#define WRAIS_WRITES_FOR	HZ
/*
 * How long a request of the others waits at most if other tasks may wait for its owner. A
 * commit is a chain of several.
 */
#define WRAIS_OVERDUE_NS	(100 * NSEC_PER_MSEC)
/* How often such a request is searched. */
#define WRAIS_LOOK_NS		NSEC_PER_MSEC
/* How many longer pauses in a row count. */
#define WRAIS_THINKS		2
/* Queues that a scan tests, the one served longest ago first. */
#define WRAIS_SCAN		64

/* A request arrives at a raised queue, which is under bfqd->lock; it is not queued yet. */
void wrais_note_think(struct bfq_queue *bfqq)
{
	/* The pause ends when the task asks for a tag, if it has to. */
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

/* The count of tasks that wait for a page of the queue's writeback, or NULL if not known. */
static struct wrais_waits *wrais_folio_waits(struct bfq_queue *bfqq)
{
#if defined(CONFIG_BFQ_GROUP_IOSCHED) && defined(CONFIG_BFQ_WRAIS_INHERIT)
	return &bfqg_to_blkg(bfqq_group(bfqq))->wrais_waits;
#else
	return NULL;
#endif
}

/*
 * Does a privileged task wait for a page of this cgroup? The writeback of the root cgroup
 * serves all tasks.
 */
static bool wrais_has_folio(struct bfq_queue *bfqq)
{
	struct wrais_waits *waits = wrais_folio_waits(bfqq);

	return wrais_on(WRAIS_INHERIT) && !bfq_bfqq_sync(bfqq) && waits &&
	       bfqq_group(bfqq) != bfqq->bfqd->root_group && wrais_is_waited(waits);
}

/* The same, also in the root cgroup: a privileged reader may delay its writeback for long. */
static bool wrais_has_folio_long(struct bfq_queue *bfqq)
{
	struct wrais_waits *waits = wrais_folio_waits(bfqq);

	return waits && wrais_is_waited_long(waits);
}

/* A privileged task waits for metadata, and the queue has some, which BFQ chooses first. */
static bool wrais_has_metadata(struct bfq_queue *bfqq)
{
	return bfqq->meta_pending && wrais_is_waited(&wrais_bdi(bfqq->bfqd)->metadata);
}

static bool wrais_waits_for_journal(struct bfq_data *bfqd)
{
	return wrais_on(WRAIS_INHERIT) && wrais_is_waited(&wrais_bdi(bfqd)->journal);
}

/* Writeback has the tags, and a task with a handle waits for one. */
static bool wrais_keeps_tags(struct bfq_queue *bfqq)
{
	return !bfq_bfqq_sync(bfqq) && wrais_is_waited(&wrais_bdi(bfqq->bfqd)->tags);
}

/*
 * Does a privileged task wait for a request of the queue? A queue that several tasks share
 * has no bic, and counts for none of them.
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

/* Is the queue neither raised nor waited for by a privileged task? */
bool wrais_is_unraised(struct bfq_queue *bfqq)
{
	return !bfq_bfqq_wrais(bfqq) && !wrais_is_waited_for(bfqq) && !wrais_has_folio(bfqq);
}

/*
 * Do the queue's requests serve no privileged task? Writeback does if privileged writers
 * sometimes have to wait for it.
 */
bool wrais_is_other(struct bfq_queue *bfqq)
{
	return wrais_is_unraised(bfqq) &&
	       (bfq_bfqq_sync(bfqq) ||
		!wrais_recent(&wrais_bdi(bfqq->bfqd)->written_at, WRAIS_WRITES_FOR));
}

typedef bool (*wrais_kind_fn)(struct bfq_queue *bfqq);

/* The request that has waited longest in a queue with requests. */
static struct request *wrais_head(struct bfq_queue *bfqq)
{
	return list_first_entry(&bfqq->fifo, struct request, queuelist);
}

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

/* The queue that gets the deficit of the others. */
static struct bfq_queue *wrais_paid(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = wrais_oldest(bfqd, wrais_is_other);

	/*
	 * Tasks that read close to each other share a queue. BFQ tests for requests that
	 * have waited too long once in each service, which does not happen here.
	 */
	if (bfqq && blk_time_get_ns() >= wrais_head(bfqq)->fifo_time)
		bfqq->next_rq = wrais_head(bfqq);
	return bfqq;
}

/* A task that waits for the journal comes back when the commit is done. */
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

/* A request is completed; under bfqd->lock. */
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
 * The privileged queue in service is about to have its next request. BFQ waits for it, but
 * injects other requests meanwhile if several queues are raised, or after a long pause of
 * the task, which BFQ does not measure again while the queue always has a request. Here
 * others are served when the task pauses, and when it waits for them.
 */
static bool wrais_is_expected(struct bfq_data *bfqd)
{
	struct bfq_queue *bfqq = bfqd->in_service_queue;

	return bfqq && bfq_bfqq_wrais(bfqq) && !bfqq->next_rq &&
	       (bfqd->wr_busy_queues > 1 || bfqq->wrais.thinks < WRAIS_THINKS) &&
	       (bfq_bfqq_wait_request(bfqq) || bfqq->dispatched);
}

/* Is the device kept idle for an expected request? wrais_out_of_turn() has found nothing. */
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

	/* No other task may come back. */
	blk_mq_delay_run_hw_queues(bfqd->queue, WRAIS_PLUG_NS / NSEC_PER_MSEC + 1);
	return true;
}

static struct bfq_queue *wrais_let(struct bfq_queue *bfqq, enum wrais_event why)
{
	struct bfq_data *bfqd = bfqq->bfqd;

	wrais_count(why);
	trace_wrais_turn(bfqd->queue, bfqq->pid, why);
	/* The next scan tests it last. */
	if (bfqq != bfqd->in_service_queue)
		list_move(&bfqq->bfqq_list, &bfqd->active_list[bfqq->actuator_idx]);
	return bfqq;
}

/*
 * The queue that a privileged task waits for, or NULL: a raised queue that has a request
 * goes first unless it has had more.
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
 * Writeback of a page that a privileged task waits for, or NULL. An fsync also waits for
 * pages that it writes itself, which go first.
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
 * Privileged queues among themselves wait for one of them that is behind (fair.c). Where
 * the queue in service has no request and another one has, that is served next, and the
 * device is kept idle for it afterwards. Not on a disk with a seek, where it pays to wait
 * for the next request of one reader.
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

/* Metadata that a task with a handle wants to change, or writeback with the tag it needs. */
static bool wrais_keeps_handle(struct bfq_queue *bfqq)
{
	if (!wrais_on(WRAIS_INHERIT) || !wrais_overdue_may_go(&bfqq->bfqd->wrais, false))
		return false;
	return wrais_keeps_tags(bfqq) ||
	       (bfqq->next_rq->cmd_flags & REQ_META &&
		wrais_is_waited(&wrais_bdi(bfqq->bfqd)->handles));
}

/*
 * A request of the others that has waited too long while its owner may hold a lock or a
 * transaction: a write, or a read of metadata. It is overdue at once if the owner is known
 * to hold one.
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

/* Usually no such request waits. */
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

/* Are the requests of privileged tasks only random reads with a deficit? */
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

/* The queue that is due because of the deficit of the others, or NULL. */
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

/* The queue that is served next out of turn, or NULL to go on as BFQ does; under bfqd->lock. */
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
