// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads at random.
 *
 * A task that reads small pieces from all over the device occupies it for few bytes. A
 * start-up may. Later its share falls gradually to random_pct, if the others want the
 * rest: its use for such reads, less a tenth of the time that has passed, is free up to a
 * third of floor_window_ms, and costs the most from a half on.
 *
 * The others' claim is a debt of that queue alone: it is not served while a privileged
 * queue without debt has a request. Accounts are in device time, between two completions
 * or from when the device had nothing to do, so that no model of the device is needed.
 *
 * Locking: all of it under bfqd->lock.
 */

#include <linux/blk-mq.h>
#include <linux/bitops.h>
#include <linux/math64.h>
#include <linux/minmax.h>

#include "bfq-iosched.h"
#include "internal.h"

/* Reads of fewer sectors than this can be random, as in BFQQ_SECT_THR_NONROT. */
#define WRAIS_RANDOM_SECTORS	64
/* Of a queue's last 32 requests, those that make it seek, as in BFQQ_SEEKY(). */
#define WRAIS_SEEKS		19
/* Parts of the window: what is free, and the range in which the share falls. */
#define WRAIS_FREE_PART		3
#define WRAIS_GIVE_UP_PART	6
/* The part of the passing time that is forgotten. */
#define WRAIS_FORGET_PART	10
/* The largest debt either way. */
#define WRAIS_DEBT_MAX		(100 * NSEC_PER_MSEC)
/* No request takes longer; a part may have been switched on while one was under way. */
#define WRAIS_SPENT_MAX		NSEC_PER_SEC

unsigned int wrais_random_pct = 30;

/**
 * wrais_random_lost() - the share that a random reader leaves to the others
 * @used_ns: its use for random reads
 * @window_ns: the window
 * @pct: its least share [percent]
 *
 * Return: percent, less than 100.
 */
unsigned int wrais_random_lost(u64 used_ns, u64 window_ns, unsigned int pct)
{
	u64 free_ns = div_u64(window_ns, WRAIS_FREE_PART);
	u64 give_up_ns = div_u64(window_ns, WRAIS_GIVE_UP_PART);
	u64 over_ns = used_ns - min(used_ns, free_ns);

	return div64_u64(min(over_ns, give_up_ns) * (100 - pct), give_up_ns);
}

/* Does the queue have a debt, at that device time of the others? */
bool wrais_in_debt(const struct wrais_queue *q, u64 others_ns)
{
	return q->debt_ns > (s64)(others_ns - q->paid_ns);
}

static s64 wrais_within_debt_max(s64 debt_ns)
{
	return clamp(debt_ns, -(s64)WRAIS_DEBT_MAX, (s64)WRAIS_DEBT_MAX);
}

/**
 * wrais_random_spend() - a queue has used the device for a random read
 * @q: of the queue
 * @now_ns: when
 * @spent_ns: for how long
 * @others_ns: the others' use of the device
 */
void wrais_random_spend(struct wrais_queue *q, u64 now_ns, u64 spent_ns, u64 others_ns)
{
	u64 window_ns = READ_ONCE(wrais_floor_window_ms) * (u64)NSEC_PER_MSEC;
	unsigned int pct = READ_ONCE(wrais_random_pct), lost;
	u64 forgotten_ns = div_u64(now_ns - q->used_at_ns, WRAIS_FORGET_PART);

	q->used_ns = min(q->used_ns - min(q->used_ns, forgotten_ns) + spent_ns, window_ns);
	q->used_at_ns = now_ns;
	lost = wrais_random_lost(q->used_ns, window_ns, pct);

	q->debt_ns = wrais_within_debt_max(q->debt_ns - (s64)(others_ns - q->paid_ns));
	q->debt_ns = wrais_within_debt_max(q->debt_ns +
					   (s64)div_u64(spent_ns * lost, 100 - lost));
	q->paid_ns = others_ns;
}

/* A request goes to the device. */
void wrais_random_dispatched(struct bfq_queue *bfqq, struct request *rq)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;

	if (!bfqq->bfqd->tot_rq_in_driver) {
		dev->busy_ns = blk_time_get_ns();
		dev->paying = false;
	}
	bfqq->wrais.random = bfq_bfqq_wrais(bfqq) && rq_data_dir(rq) == READ &&
			     blk_rq_sectors(rq) < WRAIS_RANDOM_SECTORS &&
			     hweight32(bfqq->seek_history) > WRAIS_SEEKS;
}

/* A request is completed. */
void wrais_random_completed(struct bfq_queue *bfqq, u64 now_ns)
{
	struct wrais_device *dev = &bfqq->bfqd->wrais;
	u64 spent_ns = min(now_ns - min(now_ns, dev->busy_ns), (u64)WRAIS_SPENT_MAX);

	dev->busy_ns = now_ns;
	if (wrais_is_unraised(bfqq)) {
		dev->others_ns += spent_ns;
		dev->paying = false;
	} else if (bfqq->wrais.random) {
		wrais_random_spend(&bfqq->wrais, now_ns, spent_ns, dev->others_ns);
		dev->debtors |= wrais_in_debt(&bfqq->wrais, dev->others_ns);
	}
}
