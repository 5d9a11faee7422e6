/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Privileged I/O: its parts, their switches and counters, and the functions behind the hooks of
 * wrais.h.
 */
#ifndef _LINUX_WRAIS_PART_H
#define _LINUX_WRAIS_PART_H

#include <linux/blk_types.h>
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

/* What wrais_lock_wait_begin() returns: both NULL if there is nothing to end. */
struct wrais_lock_wait {
	struct backing_dev_info *bdi;
	struct wrais_waits *waits;
};

/* What wrais_acts_for() returns if there is nothing to restore. */
#define WRAIS_NO_OVERRIDE	(-1)

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
	WRAIS_DIRTY_RELEASES,
	WRAIS_TAG_EXEMPTIONS,
	WRAIS_COPY_OUTS,
	WRAIS_INHERITS,
	WRAIS_FLOOR_TURNS,
	WRAIS_THINK_TURNS,
	WRAIS_RANDOM_TURNS,
	WRAIS_FELLOW_TURNS,
	WRAIS_OVERDUE_TURNS,
	WRAIS_LATE_TURNS,
	WRAIS_NR_EVENTS,
};

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

extern const char *const wrais_event_names[WRAIS_NR_EVENTS];
void wrais_count(enum wrais_event event);
u64 wrais_total(enum wrais_event event);

void __wrais_submits(struct bio *bio);
int __wrais_acts_for(unsigned short ioprio);
void __wrais_acted(int own);

#else /* !CONFIG_BFQ_WRAIS */

static inline bool wrais_enabled(void) { return false; }
static inline bool wrais_on(enum wrais_part part) { return false; }

#endif /* !CONFIG_BFQ_WRAIS */

#ifdef CONFIG_BFQ_WRAIS_DIRTY
void wrais_lies_on(struct backing_dev_info *bdi, struct backing_dev_info *below);
struct backing_dev_info *wrais_below(const struct backing_dev_info *bdi);
bool wrais_has_room(unsigned long dirty, unsigned long thresh, unsigned long avail);
enum wrais_verdict
__wrais_throttle(struct backing_dev_info *bdi, unsigned long dirty,
		 unsigned long thresh, enum wrais_room room,
		 unsigned long start, long *pause);
#else
static inline void
wrais_lies_on(struct backing_dev_info *bdi, struct backing_dev_info *below) { }
static inline struct backing_dev_info *
wrais_below(const struct backing_dev_info *bdi) { return NULL; }
static inline bool
wrais_has_room(unsigned long dirty, unsigned long thresh,
	       unsigned long avail) { return false; }
#endif

#ifdef CONFIG_BFQ_WRAIS_COPY
void __wrais_handle_starts(struct journal_s *journal);
bool __wrais_wants_copy(const struct journal_s *journal, int copies);
#endif

#ifdef CONFIG_BFQ_WRAIS_INHERIT
bool __wrais_flusher_wait_begin(struct backing_dev_info *bdi);
void __wrais_flusher_wait_end(struct backing_dev_info *bdi);
struct blkcg_gq *__wrais_folio_wait_begin(struct folio *folio);
void __wrais_folio_wait_end(struct blkcg_gq *blkg);
struct wrais_waits *__wrais_metadata_wait_begin(struct block_device *bdev);
void __wrais_metadata_wait_end(struct wrais_waits *waits);
struct wrais_lock_wait __wrais_lock_wait_begin(struct folio *folio);
void __wrais_lock_wait_end(struct wrais_lock_wait wait);
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

#endif /* _LINUX_WRAIS_PART_H */
