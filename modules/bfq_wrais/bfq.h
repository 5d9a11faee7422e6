/* SPDX-License-Identifier: GPL-2.0-only */
/* Privileged I/O: what BFQ calls and keeps. */
#ifndef _WRAIS_BFQ_H
#define _WRAIS_BFQ_H

#include <linux/blkdev.h>
#include <linux/wrais/part.h>

#include "accounts.h"
#include "queue.h"

struct blk_mq_alloc_data;
struct request;
struct request_queue;

bool __wrais_tag_exempt(struct bfq_data *bfqd, struct bfq_io_cq *bic,
			struct blk_mq_alloc_data *data);
unsigned int __wrais_least_tags(struct bfq_data *bfqd, blk_opf_t opf);
unsigned int __wrais_read_tags(const struct request_queue *queue);
unsigned int wrais_tags_for_reads(unsigned int tags);
unsigned int wrais_tags_for_exempt(unsigned int tags);

#ifdef CONFIG_BFQ_WRAIS_SCHED
/* The three events of a request; under bfqd->lock. */
void wrais_insert(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio);
void wrais_dispatch(struct bfq_queue *bfqq, struct request *rq);
void wrais_complete(struct bfq_queue *bfqq, u64 now_ns);

/* Which queue is served next; under bfqd->lock. */
struct bfq_queue *wrais_out_of_turn(struct bfq_data *bfqd);
bool wrais_plugs(struct bfq_data *bfqd);

/* Does a request of @bic with that first bio go to a separate queue? */
static inline bool
wrais_goes_apart(const struct bfq_io_cq *bic, const struct bio *bio)
{
	return wrais_enabled() && __wrais_goes_apart(bic, bio);
}
#else
static inline void
wrais_dispatch(struct bfq_queue *bfqq, struct request *rq) { }
static inline void
wrais_complete(struct bfq_queue *bfqq, u64 now_ns) { }
static inline struct bfq_queue *
wrais_out_of_turn(struct bfq_data *bfqd) { return NULL; }
static inline bool wrais_plugs(struct bfq_data *bfqd) { return false; }
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

/* How many tags of a device may be in use when an unprivileged read takes one? */
static inline unsigned int wrais_read_tags(struct request_queue *queue)
{
#ifdef CONFIG_BFQ_WRAIS_TAGS
	if (wrais_on(WRAIS_TAGS))
		return __wrais_read_tags(queue);
#endif
	return queue->nr_requests;
}

#endif /* _WRAIS_BFQ_H */
