// SPDX-License-Identifier: GPL-2.0-only
/*
 * Privileged queues among themselves.
 *
 * A reader of small pieces has one request in the device and the next one only when that
 * is done. BFQ keeps the device idle for a queue where weights differ; where all are
 * raised it serves request by request, and a reader of 128 KiB at a time has a quarter of
 * a reader of 512. So each queue has an account: while one that is behind has a request in
 * the device or is about to have one, the others wait.
 *
 * That is for queues that use all they get. One that pauses for long is not waited for,
 * and has no claim to what it did not use: the threads of an application wait for each
 * other, and BFQ shares the device among them.
 *
 * Locking: all of it under bfqd->lock.
 */

#include <linux/ioprio.h>
#include <linux/minmax.h>

#include "bfq-iosched.h"
#include "blk-mq.h"
#include "internal.h"

/* How much a queue may be behind before the others wait, about a megabyte. */
#define WRAIS_FAIR_SLACK	2048ULL
/* The most that it is behind. */
#define WRAIS_FAIR_LAG		(2 * WRAIS_FAIR_SLACK)
/* How long a request in the device, and the next one, is waited for. */
#define WRAIS_FAIR_DONE_NS	(100 * NSEC_PER_MSEC)
#define WRAIS_FAIR_NEXT_NS	NSEC_PER_MSEC

/* The share of a request of that cost; a higher level (0 to 7) gets less, as in BFQ. */
u64 wrais_fair_share(u64 cost, unsigned int level)
{
	return cost * IOPRIO_NR_LEVELS / (IOPRIO_NR_LEVELS - level);
}

/* No queue is behind by more than that. */
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

/* The others wait for the next request of @bfqq until then, if it is behind them. */
static void wrais_fair_await(struct bfq_queue *bfqq, u64 until_ns)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	if (wrais_fair_awaits(dev) && dev->awaited != bfqq &&
	    dev->awaited_served < bfqq->wrais.served)
		return;
	dev->awaited = bfqq;
	dev->awaited_served = bfqq->wrais.served;
	dev->awaited_until_ns = until_ns;
}

/* A request arrives at a privileged queue; the pauses of its task are up to date. */
void wrais_fair_arrived(struct bfq_queue *bfqq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	if (dev->awaited == bfqq)
		dev->awaited = NULL;
	if (bfqq->wrais.thinks)
		wrais_fair_within(dev, &bfqq->wrais, WRAIS_FAIR_SLACK);
}

/* A request of a privileged queue goes to the device. */
void wrais_fair_dispatched(struct bfq_queue *bfqq, u64 cost)
{
	wrais_fair_charge(&bfqq->bfqd->wrais, &bfqq->wrais,
			  wrais_fair_share(cost, bfqq->ioprio));
	if (!bfqq->wrais.thinks)
		wrais_fair_await(bfqq, blk_time_get_ns() + WRAIS_FAIR_DONE_NS);
}

/* A request of a privileged queue is completed. */
void wrais_fair_completed(struct bfq_queue *bfqq, u64 now_ns)
{
	if (!bfqq->next_rq && !bfqq->dispatched && !bfqq->wrais.thinks)
		wrais_fair_await(bfqq, now_ns + WRAIS_FAIR_NEXT_NS);
}

/* Does a privileged queue wait for @bfqq, which has had least of those with a request? */
bool wrais_fair_waits(struct bfq_queue *bfqq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	if (!dev->awaited || dev->awaited == bfqq ||
	    dev->awaited_served + WRAIS_FAIR_SLACK >= bfqq->wrais.served)
		return false;

	/* It may not come, and nothing be in the device. */
	blk_mq_delay_run_hw_queues(bfqq->bfqd->queue, WRAIS_FAIR_NEXT_NS / NSEC_PER_MSEC + 1);
	return true;
}
