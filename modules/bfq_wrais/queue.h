/* SPDX-License-Identifier: GPL-2.0-only */
/* The queues of BFQ. */
#ifndef _WRAIS_QUEUE_H
#define _WRAIS_QUEUE_H

#include <linux/types.h>

struct bfq_data;
struct bfq_io_cq;
struct bfq_queue;
struct bio;
struct request;

extern unsigned int wrais_fill_ms;

bool __wrais_goes_apart(const struct bfq_io_cq *bic, const struct bio *bio);
void wrais_raise(struct bfq_queue *bfqq, const struct bfq_io_cq *bic);
bool wrais_set_class(struct bfq_queue *bfqq, const struct bfq_io_cq *bic,
		     const struct bio *bio);

bool wrais_waits_for_journal(struct bfq_data *bfqd);
bool wrais_is_raised(struct bfq_queue *bfqq);
bool wrais_is_raised_without_debt(struct bfq_queue *bfqq);
bool wrais_is_waited_for(struct bfq_queue *bfqq);
bool wrais_has_folio(struct bfq_queue *bfqq);
bool wrais_is_unraised(struct bfq_queue *bfqq);
bool wrais_is_other(struct bfq_queue *bfqq);
bool wrais_is_overdue(struct bfq_queue *bfqq);
bool wrais_is_late(struct bfq_queue *bfqq);
struct request *wrais_head(struct bfq_queue *bfqq);

void wrais_fill_dispatched(struct bfq_queue *bfqq, unsigned int sectors);
void wrais_fill_completed(struct bfq_queue *bfqq);
bool wrais_is_full(struct bfq_data *bfqd);

#endif /* _WRAIS_QUEUE_H */
