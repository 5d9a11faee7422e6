// SPDX-License-Identifier: GPL-2.0-only
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
 *
 * Locking: all of it under bfqd->lock.
 */

#include <linux/backing-dev-defs.h>
#include <linux/blk-mq.h>
#include <linux/lockdep.h>

#include "bfq-iosched.h"
#include "internal.h"

/* Always allowed: one request in work, one next. */
#define WRAIS_FILL_REQUESTS	2
/* bfqd->peak_rate is in sectors/us, shifted by BFQ_RATE_SHIFT (bfq-iosched.c of 6.12). */
#define WRAIS_RATE_SHIFT	16

unsigned int wrais_fill_ms = 25;

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
		    wrais_is_active(&bfqd->queue->disk->bdi->wrais);
	return dev->full;
}
