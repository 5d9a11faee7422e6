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

#include <linux/blk_types.h>
#include <linux/ioprio.h>
#include <linux/jump_label.h>
#include <linux/kconfig.h>
#include <linux/types.h>

struct backing_dev_info;
struct bio;
struct blkcg_gq;
struct block_device;
struct folio;
struct journal_s;
struct request;
struct request_queue;
struct wrais_waits;

/* What wrais_acts_for() returns if there is nothing to restore. */
#define WRAIS_ACTS_FOR_NOBODY	(-1)

/* What can be switched off alone, for experiments. */
enum wrais_part {
	WRAIS_RAISE,
	WRAIS_DIRTY,
	WRAIS_TAGS,
	WRAIS_COPY_OUT,
	WRAIS_INHERIT,
	WRAIS_FLOOR,
	WRAIS_NR_PARTS,
};

/* What is counted, one line of stat in debugfs each. */
enum wrais_event {
	WRAIS_RAISED_REQUESTS,
	WRAIS_DIRTY_BREAKS,
	WRAIS_DIRTY_NAPS,
	WRAIS_DIRTY_HOLDS,
	WRAIS_DIRTY_RELEASES,
	WRAIS_TAG_EXEMPTIONS,
	WRAIS_COPY_OUTS,
	WRAIS_INHERITS,
	WRAIS_FLOOR_TURNS,
	WRAIS_THINK_TURNS,
	WRAIS_RANDOM_TURNS,
	WRAIS_FELLOW_TURNS,
	WRAIS_OVERDUE_TURNS,
	WRAIS_NR_EVENTS,
};

#ifdef CONFIG_BFQ_WRAIS

extern struct static_key_false wrais_key;
extern struct static_key_true wrais_keys[WRAIS_NR_PARTS];

/**
 * wrais_enabled() - are privileges switched on?
 */
static __always_inline bool wrais_enabled(void)
{
	return static_branch_unlikely(&wrais_key);
}

/**
 * wrais_on() - is a part in use?
 * @part: which one
 *
 * Return: whether privileges are switched on, and @part is not switched off.
 */
static __always_inline bool wrais_on(enum wrais_part part)
{
	return wrais_enabled() && static_branch_likely(&wrais_keys[part]);
}

void wrais_count(enum wrais_event event);

void __wrais_submits(struct bio *bio);
int __wrais_acts_for(struct request *rq);
void __wrais_acted(int own);

#else /* !CONFIG_BFQ_WRAIS */

static inline bool wrais_enabled(void) { return false; }
static inline bool wrais_on(enum wrais_part part) { return false; }

#endif /* !CONFIG_BFQ_WRAIS */

/* block/blk-core.c, drivers/block/loop.c and drivers/md/dm-crypt.c: the class of I/O. */

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
 * wrais_acts_for() - the current kernel thread works for a request
 * @rq: the request
 *
 * The thread is privileged until wrais_acted(), if the request is.
 *
 * Return: what to pass to wrais_acted().
 */
static inline int wrais_acts_for(struct request *rq)
{
#ifdef CONFIG_BFQ_WRAIS
	if (wrais_enabled())
		return __wrais_acts_for(rq);
#endif
	return WRAIS_ACTS_FOR_NOBODY;
}

/**
 * wrais_acted() - the current kernel thread has done it
 * @own: what wrais_acts_for() returned
 */
static inline void wrais_acted(int own)
{
#ifdef CONFIG_BFQ_WRAIS
	if (own != WRAIS_ACTS_FOR_NOBODY)
		__wrais_acted(own);
#endif
}

/* mm/page-writeback.c and drivers/block/loop.c: what a writer has to wait for. */

/**
 * enum wrais_room - what is left for a privileged writer
 * @WRAIS_ROOM: every domain has room, and the device within its share of each
 * @WRAIS_FULL: no room now
 * @WRAIS_OVER: the device has more than its share of what is dirty
 */
enum wrais_room {
	WRAIS_ROOM,
	WRAIS_FULL,
	WRAIS_OVER,
};

/**
 * enum wrais_verdict - the verdict on a writer that is to be throttled
 * @WRAIS_SLEEP: it waits for @pause
 * @WRAIS_PASS: it does not wait
 * @WRAIS_NAP: it waits for @pause, and is to call again then
 */
enum wrais_verdict {
	WRAIS_SLEEP,
	WRAIS_PASS,
	WRAIS_NAP,
};

#ifdef CONFIG_BFQ_WRAIS_DIRTY
void wrais_lies_on(struct backing_dev_info *bdi, struct backing_dev_info *below);
struct backing_dev_info *wrais_below(const struct backing_dev_info *bdi);
bool wrais_has_room(unsigned long dirty, unsigned long thresh, unsigned long avail);
enum wrais_verdict
__wrais_throttle(struct backing_dev_info *bdi, unsigned long dirty,
		 unsigned long thresh, enum wrais_room room,
		 unsigned long start, long max_pause, long *pause);
#else
static inline void
wrais_lies_on(struct backing_dev_info *bdi, struct backing_dev_info *below) { }
static inline struct backing_dev_info *
wrais_below(const struct backing_dev_info *bdi) { return NULL; }
static inline bool
wrais_has_room(unsigned long dirty, unsigned long thresh,
	       unsigned long avail) { return false; }
#endif

/**
 * wrais_throttle() - does the current writer wait?
 * @bdi: the device that it writes to
 * @dirty: dirty pages of the domain that throttles it
 * @thresh: that domain's threshold [pages]
 * @room: what is left for privileged writers
 * @start: when it began to wait [jiffies]
 * @max_pause: the longest that a writer sleeps at a time [jiffies]
 * @pause: how long it is to sleep [jiffies]; may be changed, unless it passes
 */
static inline enum wrais_verdict
wrais_throttle(struct backing_dev_info *bdi, unsigned long dirty,
	       unsigned long thresh, enum wrais_room room,
	       unsigned long start, long max_pause, long *pause)
{
#ifdef CONFIG_BFQ_WRAIS_DIRTY
	if (wrais_on(WRAIS_DIRTY))
		return __wrais_throttle(bdi, dirty, thresh, room, start,
					max_pause, pause);
#endif
	return WRAIS_SLEEP;
}

/*
 * fs/jbd2: what a handle has to wait for.
 */

#ifdef CONFIG_BFQ_WRAIS_COPY
void __wrais_handle_starts(struct journal_s *journal);
bool __wrais_wants_copy(const struct journal_s *journal, int copies);
#endif

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

/* Anywhere: the I/O that a privileged task waits for. */

#ifdef CONFIG_BFQ_WRAIS_INHERIT
bool __wrais_flusher_wait_begin(struct backing_dev_info *bdi);
void __wrais_flusher_wait_end(struct backing_dev_info *bdi);
struct blkcg_gq *__wrais_folio_wait_begin(struct folio *folio);
void __wrais_folio_wait_end(struct blkcg_gq *blkg);
struct wrais_waits *__wrais_metadata_wait_begin(struct block_device *bdev);
void __wrais_metadata_wait_end(struct wrais_waits *waits);
struct wrais_waits *__wrais_tag_wait_begin(struct request_queue *q, blk_opf_t opf);
void __wrais_tag_wait_end(struct wrais_waits *waits);
bool __wrais_journal_wait_begin(struct journal_s *journal);
void __wrais_journal_wait_end(struct journal_s *journal);
void wrais_journal_starts(struct journal_s *journal);
void wrais_journal_ends(struct journal_s *journal);
#else
static inline void wrais_journal_starts(struct journal_s *journal) { }
static inline void wrais_journal_ends(struct journal_s *journal) { }
#endif

/**
 * wrais_flusher_wait_begin() - the current task is about to sleep for writeback
 * @bdi: of this device
 *
 * Until wrais_flusher_wait_end(), the writeback of that device is served as if it were
 * privileged, if the current task is.
 *
 * Return: what to pass to wrais_flusher_wait_end().
 */
static inline bool wrais_flusher_wait_begin(struct backing_dev_info *bdi)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_flusher_wait_begin(bdi);
#endif
	return false;
}

/**
 * wrais_flusher_wait_end() - the current task has slept
 * @bdi: the device
 * @waited: what wrais_flusher_wait_begin() returned
 */
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
 * Until wrais_folio_wait_end(), the writeback of that cgroup to that device is served as
 * if it were privileged, if the current task is.
 *
 * Return: what to pass to wrais_folio_wait_end().
 */
static inline struct blkcg_gq *wrais_folio_wait_begin(struct folio *folio)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_folio_wait_begin(folio);
#endif
	return NULL;
}

/**
 * wrais_folio_wait_end() - the current task has slept
 * @waited: what wrais_folio_wait_begin() returned
 */
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
 *	waits for that
 *
 * Until wrais_metadata_wait_end(), requests for metadata of that device are served as if
 * they were privileged, if the current task is; and before all others, within the
 * allowance for overdue requests, if it holds a handle.
 *
 * Return: what to pass to wrais_metadata_wait_end().
 */
static inline struct wrais_waits *wrais_metadata_wait_begin(struct block_device *bdev)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_metadata_wait_begin(bdev);
#endif
	return NULL;
}

/**
 * wrais_metadata_wait_end() - the current task has slept
 * @waited: what wrais_metadata_wait_begin() returned
 */
static inline void wrais_metadata_wait_end(struct wrais_waits *waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_metadata_wait_end(waited);
#endif
}

/**
 * wrais_tag_wait_begin() - the current task is about to sleep for a tag
 * @q: of this queue
 * @opf: its operation; nothing is done for a sync request
 *
 * Until wrais_tag_wait_end(), writeback to that device goes first if the current task
 * holds a handle: as if it were privileged where a privileged task waits for the journal,
 * or else within the allowance for overdue requests.
 *
 * Return: what to pass to wrais_tag_wait_end().
 */
static inline struct wrais_waits *wrais_tag_wait_begin(struct request_queue *q, blk_opf_t opf)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_tag_wait_begin(q, opf);
#endif
	return NULL;
}

/**
 * wrais_tag_wait_end() - the current task has a tag
 * @waited: what wrais_tag_wait_begin() returned
 */
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
 * Until wrais_journal_wait_end(), the I/O of that journal's thread is served as if it were
 * privileged, if the current task is.
 *
 * Return: what to pass to wrais_journal_wait_end().
 */
static inline bool wrais_journal_wait_begin(struct journal_s *journal)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (wrais_on(WRAIS_INHERIT))
		return __wrais_journal_wait_begin(journal);
#endif
	return false;
}

/**
 * wrais_journal_wait_end() - the current task has slept
 * @journal: the journal
 * @waited: what wrais_journal_wait_begin() returned
 */
static inline void wrais_journal_wait_end(struct journal_s *journal, bool waited)
{
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	if (waited)
		__wrais_journal_wait_end(journal);
#endif
}

#endif /* _LINUX_WRAIS_H */
