// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests that BFQ does not limit.
 *
 * bfq_limit_depth() leaves few tags to async I/O and to sync writes, and one to a task
 * that uses more than its share. The flusher keeps a journal handle open while it submits
 * megabytes: where it waits for a tag, the commit waits for its handle, and a privileged
 * task that starts a handle waits for the commit. Where a privileged task may do that, any
 * task with a handle is exempt, and so are metadata; elsewhere BFQ's limits hold.
 *
 * With the io controller each cgroup has a flusher, and they compete for the tags that are
 * left to all of them. A page is under writeback before its request has a tag, and no
 * other task can write it then. Where a privileged task may wait for that, a cgroup has as
 * many tags as are left to all.
 */

#include <linux/backing-dev-defs.h>
#include <linux/blkdev.h>
#include <linux/sched.h>

#include "bfq-iosched.h"
#include "blk-mq.h"
#include "privilege.h"
#include "waits.h"

/* The part of the tags that may be in use when reads of the others take one. */
#define WRAIS_READS_PART	2
/*
 * The part of the tags that stays free: exempt requests leave it for privileged ones, and
 * reads for exempt ones as well. Of few tags each of these has one: the device may be kept
 * idle for a privileged task, and requests with all tags that are not served then would
 * block it.
 */
#define WRAIS_READS_LEAVE	4
#define WRAIS_EXEMPT_LEAVE	8

/* How many of @tags may be in use where @left are left free? At least one. */
static unsigned int wrais_all_but(unsigned int tags, unsigned int left)
{
	return tags - min(left, tags - 1);
}

unsigned int wrais_tags_for_reads(unsigned int tags)
{
	return wrais_all_but(tags, max(tags / WRAIS_READS_LEAVE, 2U));
}

unsigned int wrais_tags_for_exempt(unsigned int tags)
{
	return wrais_all_but(tags, max(tags / WRAIS_EXEMPT_LEAVE, 1U));
}

/* Has the flusher of its cgroup fewer requests there than it would have alone? */
static bool wrais_group_has_room(struct bfq_data *bfqd, const struct bio *bio)
{
#ifdef CONFIG_BFQ_GROUP_IOSCHED
	struct blkg_policy_data *pd;
	struct bfq_group *bfqg;

	pd = bio->bi_blkg ? blkg_to_pd(bio->bi_blkg, &blkcg_policy_bfq) : NULL;
	bfqg = pd ? container_of(pd, struct bfq_group, pd) : bfqd->root_group;
	/* The root group's requests are not counted, and it has no parent. */
	return bfqg != bfqd->root_group &&
	       READ_ONCE(bfqg->entity.allocated) < bfqd->async_depths[1][0];
#else
	return false;
#endif
}

/* Is it writeback that a privileged task waits for, or may wait for? */
static bool wrais_is_of_use(struct bfq_data *bfqd, const struct bio *bio)
{
	if (wrais_is_waited(&bfqd->queue->disk->bdi->wrais.flusher))
		return true;
	return (wrais_cgroup_has_bio(bio) || wrais_bio_was_waited_for(bio)) &&
	       wrais_group_has_room(bfqd, bio);
}

/* A privileged task waits for a tag: that is no pause of the task. */
static void wrais_note_asks(struct bfq_data *bfqd, struct bfq_io_cq *bic)
{
	struct bfq_queue *bfqq;
	unsigned int i;

	if (!bic)
		return;

	spin_lock_irq(&bfqd->lock);
	for (i = 0; i < bfqd->num_actuators; i++) {
		bfqq = bic_to_bfqq(bic, BFQ_ROW_APART, i);
		if (bfqq)
			bfqq->wrais.asked_ns = blk_time_get_ns();
	}
	spin_unlock_irq(&bfqd->lock);
}

/*
 * May a task without a tag delay a privileged one? That need not have used the device before
 * it waits for the journal.
 */
static bool wrais_may_delay(struct bfq_data *bfqd)
{
	const struct wrais_bdi *bdi = &bfqd->queue->disk->bdi->wrais;

	return wrais_is_active(bdi) || wrais_is_waited(&bdi->journal);
}

static bool wrais_is_exempt(struct bfq_data *bfqd, const struct bio *bio)
{
	if (wrais_bio_privileged(bio) ||
	    (!op_is_sync(bio->bi_opf) && wrais_is_of_use(bfqd, bio)))
		return true;
	if (!wrais_may_delay(bfqd))
		return false;
	/* Filesystems keep the transaction that a task has open there. */
	return bio->bi_opf & (REQ_META | REQ_PRIO) || current->journal_info;
}

/*
 * Do the limits not hold for the current task? A flusher with an open handle would take all
 * tags, and so would that of a privileged cgroup. @bic is NULL if the task has not done I/O
 * there. The device is not locked; its queue is in use.
 */
bool __wrais_tag_exempt(struct bfq_data *bfqd, struct bfq_io_cq *bic,
			struct blk_mq_alloc_data *data)
{
	const struct bio *bio = data->bio;

	if (!wrais_is_exempt(bfqd, bio))
		return false;
	if (wrais_bio_privileged(bio) && op_is_sync(bio->bi_opf))
		wrais_note_asks(bfqd, bic);
	else
		data->shallow_depth = wrais_tags_for_exempt(data->q->nr_requests);
	wrais_count(WRAIS_TAG_EXEMPTIONS);
	return true;
}

/*
 * The tags that a queue with more requests than its share may use. The weight of raised
 * queues makes every other share round to nothing. With one tag for each word of the bitmap
 * left to all others, running tasks take it from sleeping ones while a queue is raised.
 * Reads wait in BFQ instead, which knows their order. The device is not locked.
 */
unsigned int __wrais_least_tags(struct bfq_data *bfqd, blk_opf_t opf)
{
	/* BFQ raises queues as well. */
	if (!READ_ONCE(bfqd->wr_busy_queues) || op_is_write(opf) || !wrais_may_delay(bfqd))
		return 1;
	return max(bfqd->queue->nr_requests / WRAIS_READS_PART, 1UL);
}

/*
 * How many tags may be in use when the others read? Without privileged tasks BFQ has enough
 * requests to choose from.
 */
unsigned int __wrais_read_tags(const struct request_queue *queue)
{
	if (!wrais_is_active(&queue->disk->bdi->wrais))
		return queue->nr_requests;
	return wrais_tags_for_reads(queue->nr_requests);
}
