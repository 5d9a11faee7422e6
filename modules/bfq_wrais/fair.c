// SPDX-License-Identifier: GPL-2.0-only
/*
 * Privileged queues among themselves.
 *
 * Who reads in small pieces has one request in the device and the next one only
 * when that is done. BFQ keeps the device idle for a queue where weights differ;
 * where all are raised it serves request by request, and who asks for 128 KiB at
 * a time has a quarter of who asks for 512. So an account is kept of each queue:
 * while one that is behind has a request in the device or is about to have one,
 * the others wait.
 *
 * That is for who wants all that there is. One that thinks for long is not waited
 * for, and has no claim to what it did not use: the threads of an application wait
 * for each other, and the device is theirs as BFQ gives it to them.
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

/**
 * wrais_fair_share() - what a request counts in the account of its queue
 * @cost: what it costs
 * @level: level of its I/O class, 0 to 7; the higher the less it gets, as in BFQ
 */
u64 wrais_fair_share(u64 cost, unsigned int level)
{
	return cost * IOPRIO_NR_LEVELS / (IOPRIO_NR_LEVELS - level);
}

/* Nobody is behind by more than that. */
static void wrais_fair_within(const struct wrais_device *dev, struct wrais_queue *q, u64 lag)
{
	q->served = max(q->served, dev->served_most - min(dev->served_most, lag));
}

/**
 * wrais_fair_charge() - add a request to the account of its queue
 * @dev: the device
 * @q: of the queue
 * @share: what it counts
 */
void wrais_fair_charge(struct wrais_device *dev, struct wrais_queue *q, u64 share)
{
	wrais_fair_within(dev, q, WRAIS_FAIR_LAG);
	q->served += share;
	dev->served_most = max(dev->served_most, q->served);
}

/**
 * wrais_fair_awaits() - is a privileged queue about to have its next request?
 * @dev: the device
 */
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

/**
 * wrais_fair_arrived() - a request comes to a privileged queue
 * @bfqq: the queue, with its bfqd locked; whether its task thinks is up to date
 */
void wrais_fair_arrived(struct bfq_queue *bfqq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	if (dev->awaited == bfqq)
		dev->awaited = NULL;
	if (bfqq->wrais.thinks)
		wrais_fair_within(dev, &bfqq->wrais, WRAIS_FAIR_SLACK);
}

/**
 * wrais_fair_dispatched() - a request of a privileged queue goes to the device
 * @bfqq: the queue, with its bfqd locked
 * @cost: what the request costs
 */
void wrais_fair_dispatched(struct bfq_queue *bfqq, u64 cost)
{
	wrais_fair_charge(&bfqq->bfqd->wrais, &bfqq->wrais,
			  wrais_fair_share(cost, bfqq->ioprio));
	if (!bfqq->wrais.thinks)
		wrais_fair_await(bfqq, blk_time_get_ns() + WRAIS_FAIR_DONE_NS);
}

/**
 * wrais_fair_completed() - a request of a privileged queue is done
 * @bfqq: the queue, with its bfqd locked
 * @now_ns: when
 */
void wrais_fair_completed(struct bfq_queue *bfqq, u64 now_ns)
{
	if (!bfqq->next_rq && !bfqq->dispatched && !bfqq->wrais.thinks)
		wrais_fair_await(bfqq, now_ns + WRAIS_FAIR_NEXT_NS);
}

/**
 * wrais_fair_waits() - does a privileged queue wait for that one?
 * @bfqq: the queue that has had least of those with a request, with its bfqd locked
 */
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
