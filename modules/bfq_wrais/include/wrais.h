/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Privileged I/O: tasks that read and write as if the disk were idle. This is the
 * interface for fs/, mm/ and block/; see Documentation/block/bfq-wrais.rst.
 *
 * All of it is behind a static key, off until kernel.wrais switches it on, so that it
 * costs nothing while it is off.
 */
#ifndef _LINUX_WRAIS_H
#define _LINUX_WRAIS_H

#include <linux/ioprio.h>
#include <linux/wrais/part.h>

/*
 * block/blk-core.c, drivers/block/loop.c, drivers/md/dm-crypt.c and fs/iomap/direct-io.c: the
 * class of I/O.
 */

/**
 * wrais_submits() - the current task submits a bio
 * @bio: the bio; it has the I/O priority of the task, or one of its own
 */
static inline void wrais_submits(struct bio *bio)
{
#ifdef CONFIG_BFQ_WRAIS
	if (wrais_enabled())
		__wrais_submits(bio);
#endif
}

/**
 * wrais_goes_first() - may a privileged task wait for a request or a bio?
 * @opf: its operation and flags
 * @ioprio: its I/O priority
 *
 * It may for its own, and for reads of metadata, which hold the locks of inodes; the
 * flusher reads metadata as well.
 */
static inline bool wrais_goes_first(blk_opf_t opf, unsigned short ioprio)
{
	return wrais_enabled() &&
	       (IOPRIO_PRIO_CLASS(ioprio) == IOPRIO_CLASS_RT ||
		(!op_is_write(opf) && opf & (REQ_META | REQ_PRIO)));
}

/**
 * wrais_acts_for() - the current kernel thread works for a request or a bio
 * @ioprio: its I/O priority
 *
 * The thread is privileged until wrais_acted(), if the request is.
 *
 * Return: what to pass to wrais_acted().
 */
static inline int wrais_acts_for(unsigned short ioprio)
{
#ifdef CONFIG_BFQ_WRAIS
	if (wrais_enabled())
		return __wrais_acts_for(ioprio);
#endif
	return WRAIS_NO_OVERRIDE;
}

/**
 * wrais_acted() - the current kernel thread has done it
 * @own: what wrais_acts_for() returned
 */
static inline void wrais_acted(int own)
{
#ifdef CONFIG_BFQ_WRAIS
	if (own != WRAIS_NO_OVERRIDE)
		__wrais_acted(own);
#endif
}

/* mm/page-writeback.c and drivers/block/loop.c: what a writer has to wait for. */

/**
 * wrais_throttle() - does the current writer wait?
 * @bdi: the device that it writes to
 * @dirty: dirty pages of the domain that throttles it
 * @thresh: that domain's threshold [pages]
 * @room: what is left for privileged writers
 * @start: when it began to wait [jiffies]
 * @pause: how long it is to sleep [jiffies]; may be changed, unless it passes
 */
static inline enum wrais_verdict
wrais_throttle(struct backing_dev_info *bdi, unsigned long dirty,
	       unsigned long thresh, enum wrais_room room,
	       unsigned long start, long *pause)
{
#ifdef CONFIG_BFQ_WRAIS_DIRTY
	if (wrais_on(WRAIS_DIRTY))
		return __wrais_throttle(bdi, dirty, thresh, room, start, pause);
#endif
	return WRAIS_SLEEP;
}

/*
 * fs/jbd2: what a handle has to wait for.
 */

/**
 * wrais_handle_starts() - record that the current task starts a handle
 * @journal: of this journal
 */
static inline void wrais_handle_starts(struct journal_s *journal)
{
#ifdef CONFIG_BFQ_WRAIS_COPY
	if (wrais_on(WRAIS_COPY_OUT))
		__wrais_handle_starts(journal);
#endif
}

/**
 * wrais_wants_copy() - write a copy of a metadata buffer to the journal?
 * @journal: that journal
 * @copies: how many copies the commit has made for us
 *
 * Return: whether a privileged task has recently used that journal, so that it may want to
 * change the buffer while it is written.
 */
static inline bool wrais_wants_copy(const struct journal_s *journal, int copies)
{
#ifdef CONFIG_BFQ_WRAIS_COPY
	if (wrais_on(WRAIS_COPY_OUT))
		return __wrais_wants_copy(journal, copies);
#endif
	return false;
}

/*
 * Anywhere: the I/O that a privileged task waits for. Each wait is a pair: begin() is called
 * before the current task sleeps, and end() afterwards with what begin() has returned.
 */

/**
 * wrais_flusher_wait_begin() - the current task is about to sleep for writeback
 * @bdi: of this device
 *
 * Until the end the writeback of that device is served as if it were privileged, if the
 * current task is.
 */
static inline bool wrais_flusher_wait_begin(struct backing_dev_info *bdi)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_flusher_wait_begin(bdi);
#endif
	return false;
}

static inline void wrais_flusher_wait_end(struct backing_dev_info *bdi, bool waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_flusher_wait_end(bdi);
#endif
}

/**
 * wrais_folio_wait_begin() - the current task is about to sleep for a folio
 * @folio: it is under writeback
 *
 * Until the end the writeback of that cgroup to that device is served as if it were
 * privileged, if the current task is.
 */
static inline struct blkcg_gq *wrais_folio_wait_begin(struct folio *folio)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_folio_wait_begin(folio);
#endif
	return NULL;
}

static inline void wrais_folio_wait_end(struct blkcg_gq *waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_folio_wait_end(waited);
#endif
}

/**
 * wrais_metadata_wait_begin() - the current task is about to sleep for a buffer
 * @bdev: of this device; the buffer is read or written, or a task that holds it
 *	waits for that. NULL for one that is being discarded.
 *
 * Until the end requests for metadata of that device are served as if they were
 * privileged, if the current task is; and before all others, within the allowance for
 * overdue requests, if it holds a handle.
 */
static inline struct wrais_waits *wrais_metadata_wait_begin(struct block_device *bdev)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_metadata_wait_begin(bdev);
#endif
	return NULL;
}

static inline void wrais_metadata_wait_end(struct wrais_waits *waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_metadata_wait_end(waited);
#endif
}

/**
 * wrais_lock_wait_begin() - the current task is about to sleep for the lock of a folio
 * @folio: that folio; the current task has a reference
 *
 * Until the end the same is done as for a buffer.
 */
static inline struct wrais_lock_wait wrais_lock_wait_begin(struct folio *folio)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_lock_wait_begin(folio);
#endif
	return (struct wrais_lock_wait){};
}

static inline void wrais_lock_wait_end(struct wrais_lock_wait waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited.waits)
		__wrais_lock_wait_end(waited);
#endif
}

/**
 * wrais_tag_wait_begin() - the current task is about to sleep for a tag
 * @q: of this queue
 * @opf: its operation; nothing is done for a sync request of a task with a handle
 *
 * Until the end writeback to that device goes first if the current task holds a handle, or is
 * a journal's thread: as if it were privileged where a privileged task waits for the journal,
 * or else within the allowance for overdue requests. Without a handle it does where a task
 * waits for a buffer or a folio.
 */
static inline struct wrais_waits *wrais_tag_wait_begin(struct request_queue *q, blk_opf_t opf)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_tag_wait_begin(q, opf);
#endif
	return NULL;
}

static inline void wrais_tag_wait_end(struct wrais_waits *waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_tag_wait_end(waited);
#endif
}

/**
 * wrais_journal_wait_begin() - the current task is about to sleep for a commit
 * @journal: of this journal
 *
 * Until the end the I/O of that journal's thread is served as if it were privileged, if the
 * current task is.
 */
static inline bool wrais_journal_wait_begin(struct journal_s *journal)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_journal_wait_begin(journal);
#endif
	return false;
}

static inline void wrais_journal_wait_end(struct journal_s *journal, bool waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_journal_wait_end(journal);
#endif
}

#endif /* _LINUX_WRAIS_H */
