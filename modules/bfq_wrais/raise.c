// SPDX-License-Identifier: GPL-2.0-only
/*
 * Persistent weight raising in BFQ.
 *
 * BFQ raises a queue's weight for a while because it looks interactive, or
 * soft real-time. The queue of a privileged task is raised because its owner
 * says so, for as long as that holds: nothing that ends the other kinds of
 * raising ends this one (bfq_bfqq_end_wr(), bfq_update_wr_data()), and it is
 * not merged with queues of others, which would share the weight. Nor is that
 * of a journal's thread, whose requests must be known from those of others.
 *
 * It is decided at every request, from the io_context and the cgroup that the
 * request belongs to, so that a change holds from the next request on and
 * there is no race with the change.
 */

#include <linux/backing-dev-defs.h>
#include <linux/cleanup.h>
#include <linux/export.h>
#include <linux/iocontext.h>
#include <linux/ioprio.h>
#include <linux/jiffies.h>
#include <linux/spinlock.h>

#include "bfq-iosched.h"
#include "internal.h"
#include "trace.h"

/*
 * Above what BFQ gives to soft real-time queues (30 x 100), which a background
 * reader can become when it is starved. A weight is at most 1000 x this.
 */
#define WRAIS_COEFF	30000

/**
 * wrais_resume() - raise a queue whose state of before a merge was restored
 * @bfqq: a raised queue, with its bfqd locked
 */
void wrais_resume(struct bfq_queue *bfqq)
{
	bfqq->wr_coeff = WRAIS_COEFF;
	bfqq->wr_cur_max_time = MAX_JIFFY_OFFSET;
	bfqq->last_wr_start_finish = jiffies;
}

static void wrais_start(struct bfq_queue *bfqq)
{
	if (bfqq->wr_coeff == 1 && bfq_bfqq_busy(bfqq))
		bfqq->bfqd->wr_busy_queues++;

	bfq_mark_bfqq_wrais(bfqq);
	bfq_clear_bfqq_in_large_burst(bfqq);
	wrais_resume(bfqq);
	bfqq->entity.prio_changed = 1;
	trace_wrais_queue(bfqq->bfqd->queue, bfqq->pid, true);
}

static void wrais_stop(struct bfq_queue *bfqq)
{
	bfq_clear_bfqq_wrais(bfqq);

	if (bfq_bfqq_busy(bfqq))
		bfqq->bfqd->wr_busy_queues--;
	bfqq->wr_coeff = 1;
	bfqq->wr_cur_max_time = 0;
	bfqq->last_wr_start_finish = jiffies;
	bfqq->entity.prio_changed = 1;
	trace_wrais_queue(bfqq->bfqd->queue, bfqq->pid, false);
}

/**
 * wrais_raise() - raise the queue that a request goes to, or no longer
 * @bfqq: the queue, with its bfqd locked
 * @bic: whose request it is
 * @bio: the request's first bio
 *
 * A queue that several tasks share is split first, by the next request.
 */
void wrais_raise(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio)
{
	bool raise, carries;

	if (!bfq_bfqq_sync(bfqq) || bfqq == &bfqq->bfqd->oom_bfqq)
		return;

	carries = wrais_on(WRAIS_INHERIT) &&
		  READ_ONCE(bic->icq.ioc->wrais_waits.carrier);
	if (!wrais_on(WRAIS_RAISE) && !bfq_bfqq_wrais(bfqq) && !carries)
		return;

	raise = wrais_on(WRAIS_RAISE) && wrais_io_privileged(bic->icq.ioc, bio);
	if ((raise || carries) && bfq_bfqq_coop(bfqq)) {
		/* Also if it was merged for good. */
		bic->bfqq_data[bfqq->actuator_idx].stably_merged = false;
		bfq_mark_bfqq_split_coop(bfqq);
		return;
	}
	if (carries)
		bfq_mark_bfqq_wrais_carrier(bfqq);

	if (raise) {
		wrais_count(WRAIS_RAISED_REQUESTS);
		wrais_note_active(bfqq->bfqd->queue->disk->bdi);
		wrais_note_think(bfqq);
	}
	if (raise && !bfq_bfqq_wrais(bfqq))
		wrais_start(bfqq);
	else if (!raise && bfq_bfqq_wrais(bfqq))
		wrais_stop(bfqq);
}

/**
 * wrais_is_apart() - is a queue not to be merged with another one?
 * @bfqq: the queue, with its bfqd locked
 */
bool wrais_is_apart(const struct bfq_queue *bfqq)
{
	return bfq_bfqq_wrais(bfqq) ||
	       (wrais_on(WRAIS_INHERIT) && bfq_bfqq_wrais_carrier(bfqq));
}

/* Is one of a task's sync queues on a device raised? */
static bool wrais_bic_is_raised(struct bfq_io_cq *bic)
{
	struct bfq_data *bfqd = bic_to_bfqd(bic);
	bool raised = false;
	unsigned int i;

	spin_lock(&bfqd->lock);
	for (i = 0; i < bfqd->num_actuators && !raised; i++) {
		struct bfq_queue *bfqq = bic_to_bfqq(bic, true, i);

		raised = bfqq && bfq_bfqq_wrais(bfqq);
	}
	spin_unlock(&bfqd->lock);
	return raised;
}

/**
 * bfq_ioc_is_wraised() - is a task's I/O to a device raised?
 * @ioc: the task's, with a reference held; may be NULL
 * @q: the device's queue
 *
 * The query of the reference per device: what became of the privilege, where
 * bfq_is_wraised() tells who has it. It is false before the first request, and
 * on a device without BFQ.
 *
 * Context: takes ioc->lock, and within it the lock of BFQ, as the exit of an
 * io_context does. Interrupts may be on or off.
 */
bool bfq_ioc_is_wraised(struct io_context *ioc, struct request_queue *q)
{
	struct io_cq *icq;

	if (!wrais_on(WRAIS_RAISE) || !ioc)
		return false;

	/*
	 * Only BFQ has io_cqs, and both it and they stay as long as they are
	 * in this list, which they leave under this lock.
	 */
	guard(spinlock_irqsave)(&ioc->lock);
	hlist_for_each_entry(icq, &ioc->icq_list, ioc_node)
		if (icq->q == q && !(icq->flags & ICQ_EXITED))
			return wrais_bic_is_raised(container_of(icq, struct bfq_io_cq, icq));
	return false;
}
EXPORT_SYMBOL_GPL(bfq_ioc_is_wraised);

/**
 * wrais_leaves_group() - is I/O to compete with that of all groups?
 * @bio: the I/O; it has the class of the task that has submitted it
 */
bool wrais_leaves_group(const struct bio *bio)
{
	return wrais_on(WRAIS_RAISE) &&
	       (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_RT ||
		wrais_cgroup_has_bio(bio));
}
