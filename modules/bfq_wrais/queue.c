// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues of BFQ: which are privileged, and whom their requests serve.
 *
 * A bio is privileged if it has the real-time I/O class: from its task, from the request
 * that it is part of (AIO, io_uring), or from io.wrais (waits.c). The class comes with the
 * bio, also by way of device mapper and loop.
 *
 * Its queue is one of its own: of the real-time class, which BFQ serves before all others,
 * and in the root group, because the class counts among the queues of a group only; and
 * its weight is raised from its beginning on. BFQ neither merges it with other queues nor
 * adapts its weight. As only privileged requests ever enter it, a change of privilege
 * holds from the next request on, without a race.
 *
 * The requests of a journal's thread have a queue of their own as well, to tell them apart
 * (waits.c).
 *
 * Locking: all of it under bfqd->lock.
 */

#include <linux/backing-dev-defs.h>
#include <linux/blk-mq.h>
#include <linux/iocontext.h>
#include <linux/ioprio.h>
#include <linux/lockdep.h>

#include "bfq-iosched.h"
#include "blk.h"
#include "privilege.h"
#include "waits.h"

/*
 * Above what BFQ gives to soft real-time queues (30 x 100). Privileged queues all have it,
 * so that it changes nothing among them; but BFQ keeps the device idle for a raised queue
 * for longer, injects less, and does not expire it.
 */
#define WRAIS_COEFF	30000

/* How long writeback is exempt after a privileged writer had to wait for it. */
#define WRAIS_WRITES_FOR	HZ
/*
 * How long a request of the others waits at most if other tasks may wait for its owner. A
 * commit is a chain of several.
 */
#define WRAIS_OVERDUE_NS	(100 * NSEC_PER_MSEC)
/* How long any other sync request of the others waits: data that a task reads. */
#define WRAIS_LATE_NS		(500 * NSEC_PER_MSEC)
/* Always allowed: one request in work, one next. */
#define WRAIS_FILL_REQUESTS	2
/* bfqd->peak_rate is in sectors/us, shifted by BFQ_RATE_SHIFT (bfq-iosched.c of 6.12). */
#define WRAIS_RATE_SHIFT	16

unsigned int wrais_fill_ms = 25;

/* Does a privileged task wait for this thread's I/O? */
static bool wrais_is_carrier(const struct bfq_io_cq *bic)
{
	return wrais_on(WRAIS_INHERIT) && READ_ONCE(bic->icq.ioc->wrais_waits.carrier);
}

bool __wrais_goes_apart(const struct bfq_io_cq *bic, const struct bio *bio)
{
	return op_is_sync(bio->bi_opf) &&
	       (wrais_is_carrier(bic) ||
		(wrais_on(WRAIS_RAISE) && wrais_bio_privileged(bio)));
}

/* It counts from the queue's next activation on, as all changes in BFQ do. */
static void wrais_set_ioprio(struct bfq_queue *bfqq, int ioprio)
{
	if (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_NONE)
		ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, IOPRIO_BE_NORM);
	if (bfqq->new_ioprio_class == IOPRIO_PRIO_CLASS(ioprio) &&
	    bfqq->new_ioprio == IOPRIO_PRIO_LEVEL(ioprio))
		return;

	bfqq->new_ioprio_class = IOPRIO_PRIO_CLASS(ioprio);
	bfqq->new_ioprio = IOPRIO_PRIO_LEVEL(ioprio);
	bfqq->entity.new_weight = bfq_ioprio_to_weight(bfqq->new_ioprio);
	bfqq->entity.prio_changed = 1;
}

/* Raise a new queue of privileged requests, which @bic brings, for all its life. */
void wrais_raise(struct bfq_queue *bfqq, const struct bfq_io_cq *bic)
{
	if (wrais_is_carrier(bic))
		return;
	bfqq->wr_coeff = WRAIS_COEFF;
	bfqq->wr_cur_max_time = MAX_JIFFY_OFFSET;
	bfqq->entity.prio_changed = 1;
}

/**
 * wrais_set_class() - give a separate queue the class of its next request
 * @bfqq: the queue; the request is not queued yet
 * @bic: brings it
 * @bio: the request's first bio
 *
 * Return: whether that is privileged; the requests of a journal's thread are not.
 */
bool wrais_set_class(struct bfq_queue *bfqq, const struct bfq_io_cq *bic,
		     const struct bio *bio)
{
	if (wrais_is_carrier(bic)) {
		wrais_set_ioprio(bfqq, bic->icq.ioc->ioprio);
		bfq_clear_bfqq_wrais(bfqq);
		return false;
	}

	wrais_set_ioprio(bfqq, bio->bi_ioprio);
	bfq_mark_bfqq_wrais(bfqq);
	return true;
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
bool wrais_has_folio(struct bfq_queue *bfqq)
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

bool wrais_waits_for_journal(struct bfq_data *bfqd)
{
	return wrais_on(WRAIS_INHERIT) && wrais_is_waited(&wrais_bdi(bfqd)->journal);
}

/* Writeback has the tags, and a task with a handle waits for one. */
static bool wrais_keeps_tags(struct bfq_queue *bfqq)
{
	return !bfq_bfqq_sync(bfqq) && wrais_is_waited(&wrais_bdi(bfqq->bfqd)->tags);
}

/* The same, with a handle or a locked folio. */
static bool wrais_keeps_lock(struct bfq_queue *bfqq)
{
	return wrais_keeps_tags(bfqq) ||
	       (!bfq_bfqq_sync(bfqq) && wrais_is_waited(&wrais_bdi(bfqq->bfqd)->locked));
}

/*
 * A privileged task waits for a buffer or a folio that is locked, or for a commit and so for a
 * handle whose task waits for one; and the queue has metadata, which BFQ chooses first, or the
 * tag that the task needs that has the lock.
 */
static bool wrais_has_locked(struct bfq_queue *bfqq)
{
	struct wrais_bdi *bdi = wrais_bdi(bfqq->bfqd);

	return (bfqq->meta_pending || wrais_keeps_lock(bfqq)) &&
	       (wrais_is_waited(&bdi->metadata) ||
		(wrais_is_waited(&bdi->handles) && wrais_waits_for_journal(bfqq->bfqd)));
}

/*
 * Does a privileged task wait for a request of the queue? A queue that several tasks share
 * has no bic, and counts for none of them.
 */
bool wrais_is_waited_for(struct bfq_queue *bfqq)
{
	if (!wrais_on(WRAIS_INHERIT))
		return false;
	if (wrais_has_locked(bfqq))
		return true;
	if (wrais_keeps_tags(bfqq) && wrais_waits_for_journal(bfqq->bfqd))
		return true;
	if (!bfq_bfqq_sync(bfqq))
		return wrais_is_waited(&wrais_bdi(bfqq->bfqd)->flusher) ||
		       wrais_has_folio_long(bfqq);
	return bfqq->bic && wrais_is_waited(&bfqq->bic->icq.ioc->wrais_waits);
}

bool wrais_is_raised(struct bfq_queue *bfqq)
{
	return bfq_bfqq_wrais(bfqq);
}

bool wrais_is_raised_without_debt(struct bfq_queue *bfqq)
{
	return bfq_bfqq_wrais(bfqq) &&
	       !wrais_in_debt(&bfqq->wrais, bfqq->bfqd->wrais.others_ns);
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

/* Metadata that a task with a handle wants to change, or writeback with the tag it needs. */
static bool wrais_keeps_handle(struct bfq_queue *bfqq)
{
	if (!wrais_on(WRAIS_INHERIT) || !wrais_overdue_may_go(&bfqq->bfqd->wrais, false))
		return false;
	return wrais_keeps_tags(bfqq) ||
	       (bfqq->next_rq->cmd_flags & REQ_META &&
		wrais_is_waited(&wrais_bdi(bfqq->bfqd)->handles));
}

/* The request that has waited longest in a queue with requests. */
struct request *wrais_head(struct bfq_queue *bfqq)
{
	return list_first_entry(&bfqq->fifo, struct request, queuelist);
}

/* Has a request waited for longer than that? */
static bool wrais_has_waited(const struct request *rq, u64 than_ns)
{
	return blk_time_get_ns() - rq->start_time_ns > than_ns;
}

/*
 * A request of the others that has waited too long while its owner may hold a lock or a
 * transaction: a write, or a read of metadata. It is overdue at once if the owner is known
 * to hold one.
 */
bool wrais_is_overdue(struct bfq_queue *bfqq)
{
	struct request *rq = bfqq->next_rq;

	if (!wrais_is_unraised(bfqq))
		return false;
	return wrais_keeps_handle(bfqq) ||
	       (bfq_bfqq_sync(bfqq) &&
		(op_is_write(req_op(rq)) || rq->cmd_flags & (REQ_META | REQ_PRIO)) &&
		wrais_has_waited(rq, WRAIS_OVERDUE_NS));
}

/* Any other one that a task waits for. */
bool wrais_is_late(struct bfq_queue *bfqq)
{
	return bfq_bfqq_sync(bfqq) && wrais_has_waited(wrais_head(bfqq), WRAIS_LATE_NS) &&
	       wrais_is_unraised(bfqq);
}

/*
 * How much of the others may be in the device at once.
 *
 * The device cannot give a request back: the first request of a start-up waits for all of
 * them, and a deep queue holds a quarter of a second of others' requests. So they get what
 * the device does in fill_ms, by its peak rate, which BFQ measures anyway, and at least
 * WRAIS_FILL_REQUESTS, so that it always has work. Small requests are not held back: a
 * queue full of them is no more than that. Writeback counts as the others', also if a
 * privileged task waits for it, because that task reads next.
 *
 * A disk with a seek does less then: it changes between them more often. So this holds for
 * WRAIS_ACTIVE_FOR after a privileged task has used the device.
 */

/* A request goes to the device. */
void wrais_fill_dispatched(struct bfq_queue *bfqq, unsigned int sectors)
{
	lockdep_assert_held(&bfqq->bfqd->lock);
	if (bfq_bfqq_sync(bfqq) && !wrais_is_unraised(bfqq))
		return;
	bfqq->wrais.filled += sectors;
	bfqq->bfqd->wrais.filled += sectors;
}

/*
 * A request is completed, and no longer counted. All requests of a queue count as if they
 * were of the same size. Nothing is left when all of them are done.
 */
void wrais_fill_completed(struct bfq_queue *bfqq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;
	unsigned int sectors = bfqq->wrais.filled / (bfqq->dispatched + 1);

	lockdep_assert_held(&bfqq->bfqd->lock);
	bfqq->wrais.filled -= sectors;
	dev->filled -= sectors;
	if (dev->full && !wrais_is_full(bfqq->bfqd))
		bfq_schedule_dispatch(bfqq->bfqd);
}

/*
 * Do the others have enough in the device? With raising switched off it is never full: the
 * others go in turn then.
 */
bool wrais_is_full(struct bfq_data *bfqd)
{
	struct wrais_device *dev = &bfqd->wrais;
	u64 most = (u64)bfqd->peak_rate * READ_ONCE(wrais_fill_ms) * USEC_PER_MSEC;

	lockdep_assert_held(&bfqd->lock);
	dev->full = wrais_on(WRAIS_RAISE) && bfqd->tot_rq_in_driver >= WRAIS_FILL_REQUESTS &&
		    dev->filled >= most >> WRAIS_RATE_SHIFT &&
		    wrais_is_active(wrais_bdi(bfqd));
	return dev->full;
}
