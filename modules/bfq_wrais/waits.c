// SPDX-License-Identifier: GPL-2.0-only
/*
 * What privileged tasks wait for.
 *
 * I/O priority inheritance: the I/O of the flusher and of journal commits belongs to no
 * privileged task, and would be served last. While a privileged task sleeps until it is
 * done, dispatch.c serves it as if it were privileged.
 *
 * A task that waits for a device's writeback or metadata is counted in the device's bdi.
 * One that waits for a commit is counted in the I/O context of the journal's thread, so
 * that BFQ knows its queue on any device and takes no other kernel thread for it; and in
 * the bdi of the journal, for the limits of tags and for pauses of a task there. A commit
 * waits for the open handles of its transaction: a task with one is counted in the bdi
 * where it waits for a buffer or a tag. Every count ends with the wait, and at the latest
 * WRAIS_INHERIT_MAX after the last waiter began.
 *
 * Copies of metadata buffers: jbd2 writes a metadata buffer to the journal in place, and a
 * task that wants to change it meanwhile sleeps (BH_Shadow). If the committing transaction
 * has a copy (b_frozen_data), jbd2 writes that, and no task sleeps. So it makes copies while
 * privileged tasks use that journal: their next buffers are unknown, but a commit has few.
 */

#include <linux/atomic.h>
#include <linux/backing-dev.h>
#include <linux/blkdev.h>
#include <linux/export.h>
#include <linux/iocontext.h>
#include <linux/ioprio.h>
#include <linux/jbd2.h>
#include <linux/jiffies.h>
#include <linux/pagemap.h>

#include "blk-cgroup.h"
#include "privilege.h"
#include "trace.h"
#include "waits.h"

#ifdef CONFIG_BFQ_WRAIS_INHERIT
#define WRAIS_INHERIT_MAX	(30 * HZ)
/*
 * After this time a wait for a page shares the device with privileged requests, also in the
 * root cgroup's writeback and behind privileged reads. A journal's thread waits for the
 * pages of a transaction: any task may be behind it, with locks that a privileged task
 * needs.
 */
#define WRAIS_LONG		(HZ / 2)

/* Waits of all kinds but for tags: no need to search while this is 0. */
static atomic_t wrais_waiters;

static void wrais_waits_note(struct wrais_waits *waits)
{
	WRITE_ONCE(waits->since, jiffies);
	if (atomic_inc_return(&waits->waiters) == 1)
		WRITE_ONCE(waits->begun, jiffies);
}

/* The current task waits for that I/O from now on. */
void wrais_waits_begin(struct wrais_waits *waits)
{
	wrais_waits_note(waits);
	atomic_inc(&wrais_waiters);
}

void wrais_waits_end(struct wrais_waits *waits)
{
	atomic_dec(&wrais_waiters);
	atomic_dec(&waits->waiters);
}

/* Does a privileged task wait for anything? */
bool wrais_has_waiters(void)
{
	return wrais_on(WRAIS_INHERIT) && atomic_read(&wrais_waiters);
}

/* Does a privileged task wait for @waits? */
bool wrais_is_waited(const struct wrais_waits *waits)
{
	return atomic_read(&waits->waiters) &&
	       time_before(jiffies, READ_ONCE(waits->since) + WRAIS_INHERIT_MAX);
}

/*
 * Have tasks waited for @waits for WRAIS_LONG? Of several that overlap it is not known how
 * long each has: a task that waits for long must not be hidden by those that come and go.
 */
bool wrais_is_waited_long(const struct wrais_waits *waits)
{
	return wrais_is_waited(waits) &&
	       time_after(jiffies, READ_ONCE(waits->begun) + WRAIS_LONG);
}

/* Is the current task a journal's thread? */
static bool wrais_current_is_carrier(void)
{
	const struct io_context *ioc = current->io_context;

	return ioc && READ_ONCE(ioc->wrais_waits.carrier);
}

/* Does a privileged task wait for the current one? */
static bool wrais_current_is_waited_for(void)
{
	return wrais_on(WRAIS_INHERIT) && wrais_current_is_carrier() &&
	       wrais_is_waited(&current->io_context->wrais_waits);
}

/* How long the writeback of a cgroup stays exempt after a privileged task waited for it. */
#define WRAIS_WAITED_FOR	(5 * HZ)

/* Did a privileged task recently wait for such writeback? @bio is async. */
bool wrais_bio_was_waited_for(const struct bio *bio)
{
#ifdef CONFIG_BFQ_GROUP_IOSCHED
	return wrais_on(WRAIS_INHERIT) && bio->bi_blkg &&
	       wrais_recent(&bio->bi_blkg->wrais_waits.since, WRAIS_WAITED_FOR);
#else
	return false;
#endif
}

bool __wrais_flusher_wait_begin(struct backing_dev_info *bdi)
{
	if (!wrais_current_privileged())
		return false;

	wrais_waits_begin(&bdi->wrais.flusher);
	trace_wrais_wait(WRAIS_FOR_FLUSHER, true);
	return true;
}

void __wrais_flusher_wait_end(struct backing_dev_info *bdi)
{
	wrais_waits_end(&bdi->wrais.flusher);
	trace_wrais_wait(WRAIS_FOR_FLUSHER, false);
}

static struct block_device *wrais_bdev_of(struct inode *inode)
{
	return sb_is_blkdev_sb(inode->i_sb) ? I_BDEV(inode) : inode->i_sb->s_bdev;
}

#ifdef CONFIG_BFQ_GROUP_IOSCHED
static struct blkcg *wrais_blkcg_of(const struct bdi_writeback *wb)
{
#ifdef CONFIG_CGROUP_WRITEBACK
	return css_to_blkcg(wb->blkcg_css);
#else
	return &blkcg_root;
#endif
}

/*
 * The blkcg that writes the pages of an inode; held, or NULL if not known. In the root
 * cgroup all tasks share one queue.
 */
static struct blkcg_gq *wrais_writer_of(struct inode *inode)
{
	struct block_device *bdev = wrais_bdev_of(inode);
	struct wb_lock_cookie cookie = {};
	struct blkcg_gq *blkg = NULL;
	struct blkcg *blkcg;

	if (!bdev)
		return NULL;
	blkcg = wrais_blkcg_of(unlocked_inode_to_wb_begin(inode, &cookie));
	blkg = blkg_lookup(blkcg, bdev_get_queue(bdev));
	if (blkg && !blkg_tryget(blkg))
		blkg = NULL;
	unlocked_inode_to_wb_end(inode, &cookie);
	return blkg;
}

/*
 * A page is not truncated before it is written, nor its inode evicted; and an inode that
 * is evicted meanwhile is freed by RCU.
 */
struct blkcg_gq *__wrais_folio_wait_begin(struct folio *folio)
{
	struct blkcg_gq *blkg = NULL;
	struct address_space *mapping;

	if (!wrais_current_privileged() && !wrais_current_is_carrier())
		return NULL;

	scoped_guard(rcu) {
		mapping = folio_mapping(folio);
		if (mapping && mapping->host && folio_test_writeback(folio))
			blkg = wrais_writer_of(mapping->host);
	}
	if (blkg) {
		wrais_waits_begin(&blkg->wrais_waits);
		trace_wrais_wait(WRAIS_FOR_FOLIO, true);
	}
	return blkg;
}

void __wrais_folio_wait_end(struct blkcg_gq *blkg)
{
	wrais_waits_end(&blkg->wrais_waits);
	blkg_put(blkg);
	trace_wrais_wait(WRAIS_FOR_FOLIO, false);
}
#else
/* All writeback has one queue, and no cgroup's weight. */
struct blkcg_gq *__wrais_folio_wait_begin(struct folio *folio)
{
	return NULL;
}

void __wrais_folio_wait_end(struct blkcg_gq *blkg)
{
}
#endif

/*
 * A buffer is locked from the time its request is made until that is done. A task that
 * holds a handle meanwhile delays the next commit, and may hold an inode locked: any task
 * may be behind it, so the count is not only for privileged ones.
 */
struct wrais_waits *__wrais_metadata_wait_begin(struct block_device *bdev)
{
	struct wrais_waits *waits = NULL;

	if (!bdev)
		return NULL;
	if (wrais_current_privileged())
		waits = &bdev->bd_disk->bdi->wrais.metadata;
	else if (current->journal_info)
		waits = &bdev->bd_disk->bdi->wrais.handles;
	if (waits) {
		wrais_waits_begin(waits);
		trace_wrais_wait(WRAIS_FOR_METADATA, true);
	}
	return waits;
}
EXPORT_SYMBOL_GPL(__wrais_metadata_wait_begin);

void __wrais_metadata_wait_end(struct wrais_waits *waits)
{
	wrais_waits_end(waits);
	trace_wrais_wait(WRAIS_FOR_METADATA, false);
}
EXPORT_SYMBOL_GPL(__wrais_metadata_wait_end);

/*
 * The flusher has a folio locked while it waits for a tag to write it: pages of a file, or the
 * folio of a buffer. A folio that is being read is usually read for the current task. Its inode,
 * and the device of that, are freed by RCU, and the device holds its bdi until then.
 */
struct wrais_lock_wait __wrais_lock_wait_begin(struct folio *folio)
{
	struct wrais_lock_wait wait = {};
	struct address_space *mapping;
	struct block_device *bdev;

	if (!folio_test_uptodate(folio) && !folio_test_writeback(folio))
		return wait;

	guard(rcu)();
	mapping = folio_mapping(folio);
	bdev = mapping && mapping->host ? wrais_bdev_of(mapping->host) : NULL;
	wait.waits = __wrais_metadata_wait_begin(bdev);
	if (wait.waits)
		wait.bdi = bdi_get(bdev->bd_disk->bdi);
	return wait;
}

void __wrais_lock_wait_end(struct wrais_lock_wait wait)
{
	__wrais_metadata_wait_end(wait.waits);
	bdi_put(wait.bdi);
}

/*
 * The flusher submits megabytes with one handle open. Without a tag it waits until one of
 * its requests is done, and the commit, and all tasks that want a handle of the next
 * transaction, wait for its handle. A sync request has tags that writeback may not take; but
 * the metadata of a flusher may, and those of the journal's thread are no others. Without a
 * handle it has a folio locked.
 */
struct wrais_waits *__wrais_tag_wait_begin(struct request_queue *q, blk_opf_t opf)
{
	struct wrais_waits *waits;
	struct wrais_bdi *bdi;

	if (!q->disk)
		return NULL;

	bdi = &q->disk->bdi->wrais;
	if (wrais_current_is_carrier() || (current->journal_info && !op_is_sync(opf)))
		waits = &bdi->tags;
	else if (!op_is_sync(opf))
		waits = &bdi->locked;
	else
		return NULL;

	wrais_waits_note(waits);
	trace_wrais_wait(WRAIS_FOR_TAG, true);
	return waits;
}

void __wrais_tag_wait_end(struct wrais_waits *waits)
{
	atomic_dec(&waits->waiters);
	trace_wrais_wait(WRAIS_FOR_TAG, false);
}

static struct wrais_waits *wrais_waits_on(const journal_t *journal)
{
	return &journal->j_dev->bd_disk->bdi->wrais.journal;
}

bool __wrais_journal_wait_begin(journal_t *journal)
{
	if (!journal->j_carrier || !wrais_current_privileged())
		return false;

	wrais_waits_begin(&journal->j_carrier->wrais_waits);
	wrais_waits_begin(wrais_waits_on(journal));
	trace_wrais_wait(WRAIS_FOR_JOURNAL, true);
	return true;
}
EXPORT_SYMBOL_GPL(__wrais_journal_wait_begin);

void __wrais_journal_wait_end(journal_t *journal)
{
	wrais_waits_end(wrais_waits_on(journal));
	wrais_waits_end(&journal->j_carrier->wrais_waits);
	trace_wrais_wait(WRAIS_FOR_JOURNAL, false);
}
EXPORT_SYMBOL_GPL(__wrais_journal_wait_end);

/*
 * The current task is the thread of @journal, which no task can wait for yet. Without
 * memory for an I/O context its waiters are not counted.
 */
void wrais_journal_starts(journal_t *journal)
{
	/* This creates one. */
	if (set_task_ioprio(current, IOPRIO_DEFAULT))
		return;

	atomic_long_inc(&current->io_context->refcount);
	WRITE_ONCE(current->io_context->wrais_waits.carrier, true);
	journal->j_carrier = current->io_context;
}
EXPORT_SYMBOL_GPL(wrais_journal_starts);

/* @journal is about to be freed: no task waits for it any longer. */
void wrais_journal_ends(journal_t *journal)
{
	if (journal->j_carrier)
		put_io_context(journal->j_carrier);
}
EXPORT_SYMBOL_GPL(wrais_journal_ends);
#else
static bool wrais_current_is_waited_for(void)
{
	return false;
}
#endif /* CONFIG_BFQ_WRAIS_INHERIT */

#ifdef CONFIG_BFQ_WRAIS_COPY
/* How long after its last handle a privileged task may come back. */
#define WRAIS_RETURN_FOR		(5 * HZ)
/* The copies that a commit makes: memory, and time under b_state_lock. */
#define WRAIS_COPIES_MAX	256

void __wrais_handle_starts(journal_t *journal)
{
	if (wrais_current_privileged())
		wrais_stamp(&journal->j_privileged_at);
}
EXPORT_SYMBOL_GPL(__wrais_handle_starts);

bool __wrais_wants_copy(const journal_t *journal, int copies)
{
	return copies < WRAIS_COPIES_MAX &&
	       wrais_recent(&journal->j_privileged_at, WRAIS_RETURN_FOR);
}
EXPORT_SYMBOL_GPL(__wrais_wants_copy);
#endif /* CONFIG_BFQ_WRAIS_COPY */

/* Is it for another reason than its class? An async bio without waiters is not. */
static bool wrais_makes_privileged(const struct bio *bio)
{
	return op_is_sync(bio->bi_opf) &&
	       (wrais_cgroup_has_bio(bio) || wrais_current_is_waited_for());
}

/* With its own level, or else that of a task without one. */
static void wrais_give_class(struct bio *bio)
{
	int level = IOPRIO_PRIO_LEVEL(bio->bi_ioprio);

	if (IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_NONE)
		level = IOPRIO_BE_NORM;
	bio->bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, level);
}

void __wrais_submits(struct bio *bio)
{
	/* BFQ gives that class to the task's own queue, as without us. */
	if (wrais_class_is_of_policy(bio))
		bio->bi_ioprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE,
						   IOPRIO_PRIO_LEVEL(bio->bi_ioprio));
	if (!wrais_bio_privileged(bio) && wrais_makes_privileged(bio))
		wrais_give_class(bio);
	if (wrais_bio_privileged(bio))
		wrais_note_active(&bio->bi_bdev->bd_disk->bdi->wrais);
}
