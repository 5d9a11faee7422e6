// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where privileged requests go in BFQ.
 *
 * A bio is privileged if it has the real-time I/O class: from its task, from
 * the request that it is part of (AIO, io_uring), or from io.wrais (wrais.c).
 * Whoever brings it to the scheduler, device mapper and loop among them, its
 * class comes with it.
 *
 * Its queue is one of its own: of the real-time class, which BFQ serves before
 * all others, and in the root group, because the class counts among the queues
 * of a group only; and its weight is raised from its beginning on. BFQ neither
 * merges it with queues of others nor changes its weight for what it looks
 * like. As only privileged requests ever go there, a change of privilege holds
 * from the next request on and there is no race with it.
 *
 * The requests of a journal's thread have a queue of their own as well: they
 * must be known from those of others (inherit.c).
 */

#include <linux/backing-dev-defs.h>
#include <linux/iocontext.h>
#include <linux/ioprio.h>

#include "bfq-iosched.h"
#include "internal.h"

/*
 * Above what BFQ gives to soft real-time queues (30 x 100). It counts among
 * privileged queues for nothing, as they all have it; but BFQ keeps the device
 * idle for a raised queue for longer, injects less, and does not expire it.
 */
#define WRAIS_COEFF	30000

/* Does somebody count himself in there who waits for its I/O? */
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

/**
 * wrais_raise() - raise a queue of privileged requests for as long as it exists
 * @bfqq: the queue, with its bfqd locked; it has never been busy
 * @bic: who brings its requests
 */
void wrais_raise(struct bfq_queue *bfqq, const struct bfq_io_cq *bic)
{
	if (wrais_is_carrier(bic))
		return;
	bfqq->wr_coeff = WRAIS_COEFF;
	bfqq->wr_cur_max_time = MAX_JIFFY_OFFSET;
	bfqq->entity.prio_changed = 1;
}

/**
 * wrais_prepare() - a request comes to a queue that is kept apart
 * @bfqq: the queue, with its bfqd locked; the request is not queued yet
 * @bic: who brings it
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
