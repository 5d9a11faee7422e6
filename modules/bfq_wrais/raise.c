// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queues of privileged requests in BFQ.
 *
 * A bio is privileged if it has the real-time I/O class: from its task, from the request
 * that it is part of (AIO, io_uring), or from io.wrais (wrais.c). The class comes with the
 * bio, also by way of device mapper and loop.
 *
 * Its queue is one of its own: of the real-time class, which BFQ serves before all others,
 * and in the root group, because the class counts among the queues of a group only; and
 * its weight is raised from its beginning on. BFQ neither merges it with other queues nor
 * adapts its weight. As only privileged requests ever enter it, a change of privilege
 * holds from the next request on, without a race.
 *
 * The requests of a journal's thread have a queue of their own as well, to tell them apart
 * (inherit.c).
 */

#include <linux/backing-dev-defs.h>
#include <linux/iocontext.h>
#include <linux/ioprio.h>

#include "bfq-iosched.h"
#include "internal.h"

/*
 * Above what BFQ gives to soft real-time queues (30 x 100). Privileged queues all have it,
 * so that it changes nothing among them; but BFQ keeps the device idle for a raised queue
 * for longer, injects less, and does not expire it.
 */
#define WRAIS_COEFF	30000

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
 * wrais_prepare() - a request comes to a separate queue
 * @bfqq: the queue, with its bfqd locked; the request is not queued yet
 * @bic: brings it
 * @bio: the request's first bio
 */
void wrais_prepare(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio)
{
	if (wrais_is_carrier(bic)) {
		wrais_set_ioprio(bfqq, bic->icq.ioc->ioprio);
		bfq_clear_bfqq_wrais(bfqq);
		return;
	}

	wrais_set_ioprio(bfqq, bio->bi_ioprio);
	bfq_mark_bfqq_wrais(bfqq);
	wrais_count(WRAIS_RAISED_REQUESTS);
	wrais_note_active(&bfqq->bfqd->queue->disk->bdi->wrais);
	wrais_note_think(bfqq);
	wrais_fair_arrived(bfqq);
}
