/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of privileged I/O share among themselves and with BFQ. */
#ifndef _WRAIS_INTERNAL_H
#define _WRAIS_INTERNAL_H

#include <linux/blkdev.h>
#include <linux/ioprio.h>
#include <linux/jiffies.h>
#include <linux/types.h>
#include <linux/wrais/wrais.h>

struct backing_dev_info;
struct bfq_data;
struct bfq_io_cq;
struct bfq_queue;
struct request;
struct request_queue;
struct task_struct;
struct wrais_waits;
struct blk_mq_alloc_data;

/* The floor's window slides by a slot. */
#define WRAIS_SLOTS	10

/* Privileged requests, and those of the others. */
enum wrais_kind {
	WRAIS_PRIVILEGED,
	WRAIS_OTHERS,
	WRAIS_NR_KINDS,
};

/**
 * struct wrais_queue - the state of a queue of privileged requests
 * @thinks: how many long pauses its task has made in a row
 * @asked_ns: since when its task waits for a tag for the next request, or 0 if it
 *	has one
 * @random: the last request was a random read
 * @used_ns: device time used for random reads, less what is forgotten
 * @used_at_ns: when that was updated
 * @debt_ns: device time that it owes the others; negative if they have had more
 * @paid_ns: the others' time on the device at the last payment
 * @served: its service, by its priority
 * @filled: of another queue: its sectors in the device
 *
 * Protected by the lock of the device's bfq_data. See fair.c, fill.c, random.c and turn.c.
 */
struct wrais_queue {
	unsigned int thinks;
	u64 asked_ns;
	bool random;
	u64 used_ns;
	u64 used_at_ns;
	s64 debt_ns;
	u64 paid_ns;
	u64 served;
	unsigned int filled;
};

/**
 * struct wrais_device - the state of a device
 * @slot: the current one, counted since boot
 * @cost: of the requests of each slot in the window
 * @credit: privileged use since the deficit of the others was served
 * @overdue_credit: privileged use that overdue requests of the others may match;
 *	negative after a large one
 * @looked_ns: when such a request was last searched
 * @overdue: the next request goes because it is overdue
 * @lead: how much more was done for waits than for privileged requests, while both
 *	wanted the device
 * @contended: both want it
 * @pays: the next request serves the deficit of the others
 * @done_ns: when it last did something that a privileged task may wait for
 * @busy_ns: since when it has worked on the request that it completes next
 * @others_ns: how long it has worked for the others
 * @debtors: a queue may be in debt
 * @paying: a request of the others is under way that reduces such a debt
 * @served_most: the service of the queue that has had most
 * @awaited: the privileged queue that is behind and about to have a request, or
 *	NULL; it may be gone
 * @awaited_served: its service
 * @awaited_until_ns: until when the queues that are not behind wait for it
 * @waits: they do
 * @filled: sectors of the others in the device
 * @full: that is enough for now
 *
 * Protected by the lock of the device's bfq_data. See fair.c, fill.c, floor.c, random.c
 * and turn.c.
 */
struct wrais_device {
	unsigned long slot;
	u64 cost[WRAIS_SLOTS][WRAIS_NR_KINDS];
	u64 credit;
	s64 overdue_credit;
	u64 looked_ns;
	bool overdue;
	s64 lead;
	bool contended;
	bool pays;
	u64 done_ns;
	u64 busy_ns;
	u64 others_ns;
	bool debtors;
	bool paying;
	u64 served_most;
	const struct bfq_queue *awaited;
	u64 awaited_served;
	u64 awaited_until_ns;
	bool waits;
	unsigned int filled;
	bool full;
};

/* Record in @at that something happens now [jiffies]; 0 means never. */
static inline void wrais_stamp(unsigned long *at)
{
	WRITE_ONCE(*at, jiffies ?: 1);
}

/* Did what @at records happen within @period [jiffies]? */
static inline bool wrais_recent(const unsigned long *at, unsigned long period)
{
	unsigned long then = READ_ONCE(*at);

	return then && time_before(jiffies, then + period);
}

/* How long a privileged task that has used a device may come back. */
#define WRAIS_ACTIVE_FOR	(60 * HZ)

static inline void wrais_note_active(struct wrais_bdi *device)
{
	wrais_stamp(&device->active_at);
}

static inline bool wrais_is_active(const struct wrais_bdi *device)
{
	return wrais_recent(&device->active_at, WRAIS_ACTIVE_FOR);
}

/* wrais.c APIs: */
extern const char *const wrais_event_names[WRAIS_NR_EVENTS];
u64 wrais_total(enum wrais_event event);
bool wrais_current_privileged(void);

/* Is a bio privileged? Its class shows it once it is submitted. */
static inline bool wrais_bio_privileged(const struct bio *bio)
{
	return IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_RT;
}

/* cgroup.c APIs: */
#ifdef CONFIG_BLK_CGROUP
bool wrais_cgroup_has_task(struct task_struct *task);
bool wrais_cgroup_has_bio(const struct bio *bio);
#else
static inline bool wrais_cgroup_has_task(struct task_struct *task) { return false; }
static inline bool wrais_cgroup_has_bio(const struct bio *bio) { return false; }
#endif

/* raise.c APIs: */
#ifdef CONFIG_BFQ_WRAIS_SCHED
bool __wrais_goes_apart(const struct bfq_io_cq *bic, const struct bio *bio);
void wrais_raise(struct bfq_queue *bfqq, const struct bfq_io_cq *bic);
void wrais_prepare(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio);

/* Does a request of @bic with that first bio go to a separate queue? */
static inline bool
wrais_goes_apart(const struct bfq_io_cq *bic, const struct bio *bio)
{
	return wrais_enabled() && __wrais_goes_apart(bic, bio);
}

/* fair.c APIs: */
u64 wrais_fair_share(u64 cost, unsigned int level);
void wrais_fair_charge(struct wrais_device *dev, struct wrais_queue *q, u64 share);
void wrais_fair_arrived(struct bfq_queue *bfqq);
void wrais_fair_dispatched(struct bfq_queue *bfqq, u64 cost);
void wrais_fair_completed(struct bfq_queue *bfqq, u64 now_ns);
bool wrais_fair_awaits(struct wrais_device *dev);
bool wrais_fair_waits(struct bfq_queue *bfqq);

/* floor.c APIs: */
extern unsigned int wrais_floor_pct;
extern unsigned int wrais_floor_window_ms;
void wrais_charge(struct wrais_device *dev, enum wrais_kind kind, u64 cost);
bool wrais_floor_is_due(const struct wrais_device *dev, unsigned int pct);
void wrais_pay(struct wrais_device *dev, u64 cost);
bool wrais_overdue_may_go(const struct wrais_device *dev, bool waited);
bool wrais_waiter_first(const struct wrais_device *dev);
void wrais_lead_by(struct wrais_device *dev, bool waited_for, u64 cost);
void wrais_account(struct bfq_queue *bfqq, struct request *rq);
bool wrais_floor_owes(struct wrais_device *dev);

/* random.c APIs: */
extern unsigned int wrais_random_pct;
unsigned int wrais_random_lost(u64 used_ns, u64 window_ns, unsigned int pct);
bool wrais_in_debt(const struct wrais_queue *q, u64 others_ns);
void wrais_random_spend(struct wrais_queue *q, u64 now_ns, u64 spent_ns, u64 others_ns);
void wrais_random_dispatched(struct bfq_queue *bfqq, struct request *rq);
void wrais_random_completed(struct bfq_queue *bfqq, u64 now_ns);

/* fill.c APIs: */
extern unsigned int wrais_fill_ms;
void wrais_fill_dispatched(struct bfq_queue *bfqq, unsigned int sectors);
void wrais_fill_completed(struct bfq_queue *bfqq);
bool wrais_is_full(struct bfq_data *bfqd);

/* turn.c APIs: */
bool wrais_is_unraised(struct bfq_queue *bfqq);
bool wrais_is_other(struct bfq_queue *bfqq);
bool wrais_is_waited_for(struct bfq_queue *bfqq);
void wrais_note_think(struct bfq_queue *bfqq);
void wrais_completed(struct bfq_queue *bfqq, u64 now_ns);
bool wrais_plugs(struct bfq_data *bfqd);
struct bfq_queue *wrais_out_of_turn(struct bfq_data *bfqd);
#else
static inline void
wrais_account(struct bfq_queue *bfqq, struct request *rq) { }
static inline void
wrais_completed(struct bfq_queue *bfqq, u64 now_ns) { }
static inline bool wrais_plugs(struct bfq_data *bfqd) { return false; }
static inline struct bfq_queue *
wrais_out_of_turn(struct bfq_data *bfqd) { return NULL; }
#endif

/* tags.c APIs: */
#ifdef CONFIG_BFQ_WRAIS_TAGS
bool __wrais_tag_exempt(struct bfq_data *bfqd, struct bfq_io_cq *bic,
			struct blk_mq_alloc_data *data);
unsigned int __wrais_least_tags(struct bfq_data *bfqd, blk_opf_t opf);
unsigned int __wrais_read_tags(const struct request_queue *queue);
#endif

/* Do the limits of tags not hold for a request of the current task, which has a bio? */
static inline bool
wrais_tag_exempt(struct bfq_data *bfqd, struct bfq_io_cq *bic, struct blk_mq_alloc_data *data)
{
#ifdef CONFIG_BFQ_WRAIS_TAGS
	if (wrais_on(WRAIS_TAGS))
		return __wrais_tag_exempt(bfqd, bic, data);
#endif
	return false;
}

/* The tags for a queue that has more requests than its share. */
static inline unsigned int wrais_least_tags(struct bfq_data *bfqd, blk_opf_t opf)
{
#ifdef CONFIG_BFQ_WRAIS_TAGS
	if (wrais_on(WRAIS_TAGS))
		return __wrais_least_tags(bfqd, opf);
#endif
	return 1;
}

/*
 * The part of the tags that stays free: exempt requests leave it for privileged ones, and
 * reads for exempt ones as well. Of few tags each of these has one: the device may be kept
 * idle for a privileged task, and requests with all tags that are not served then would
 * block it.
 */
#define WRAIS_READS_LEAVE	4
#define WRAIS_EXEMPT_LEAVE	8

/* How many of @tags may be in use where @left are left free? At least one. */
static inline unsigned int wrais_all_but(unsigned int tags, unsigned int left)
{
	return tags - min(left, tags - 1);
}

static inline unsigned int wrais_tags_for_reads(unsigned int tags)
{
	return wrais_all_but(tags, max(tags / WRAIS_READS_LEAVE, 2U));
}

static inline unsigned int wrais_tags_for_exempt(unsigned int tags)
{
	return wrais_all_but(tags, max(tags / WRAIS_EXEMPT_LEAVE, 1U));
}

/* How many tags of a device may be in use when an unprivileged read takes one? */
static inline unsigned int wrais_read_tags(struct request_queue *queue)
{
#ifdef CONFIG_BFQ_WRAIS_TAGS
	if (wrais_on(WRAIS_TAGS))
		return __wrais_read_tags(queue);
#endif
	return queue->nr_requests;
}

/* inherit.c APIs: */
#ifdef CONFIG_BFQ_WRAIS_INHERIT
/* What a privileged task waits for, for the tracepoint. */
enum wrais_wait {
	WRAIS_FOR_FLUSHER,
	WRAIS_FOR_FOLIO,
	WRAIS_FOR_METADATA,
	WRAIS_FOR_TAG,
	WRAIS_FOR_JOURNAL,
};

bool wrais_anybody_waits(void);
bool wrais_is_waited(const struct wrais_waits *waits);
bool wrais_is_waited_long(const struct wrais_waits *waits);
bool wrais_current_is_waited_for(void);
bool wrais_bio_was_waited_for(const struct bio *bio);
#else
static inline bool wrais_anybody_waits(void) { return false; }
static inline bool wrais_is_waited(const struct wrais_waits *waits) { return false; }
static inline bool wrais_is_waited_long(const struct wrais_waits *waits) { return false; }
static inline bool wrais_current_is_waited_for(void) { return false; }
static inline bool wrais_bio_was_waited_for(const struct bio *bio) { return false; }
#endif

/* dirty.c APIs: */
#ifdef CONFIG_BFQ_WRAIS_DIRTY
extern unsigned int wrais_headroom_pct;
extern unsigned int wrais_nap_ms;
unsigned long wrais_headroom(unsigned long thresh, unsigned long avail,
			     unsigned int pct);
bool wrais_naps(unsigned long waited, long nap, long *pause);
#endif

#endif /* _WRAIS_INTERNAL_H */
