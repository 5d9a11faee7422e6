/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of privileged I/O share among themselves and with BFQ.
 */
#ifndef _WRAIS_INTERNAL_H
#define _WRAIS_INTERNAL_H

#include <linux/types.h>
#include <linux/wrais/wrais.h>

struct bfq_io_cq;
struct bfq_queue;
struct bio;
struct task_struct;

/* wrais.c APIs: */
extern const char *const wrais_event_names[WRAIS_NR_EVENTS];
u64 wrais_total(enum wrais_event event);

/* cgroup.c APIs: */
#ifdef CONFIG_BLK_CGROUP
bool wrais_cgroup_has_task(struct task_struct *task);
bool wrais_cgroup_has_bio(const struct bio *bio);
#else
static inline bool wrais_cgroup_has_task(struct task_struct *task) { return false; }
static inline bool wrais_cgroup_has_bio(const struct bio *bio) { return false; }
#endif

/* raise.c APIs: */
#ifdef CONFIG_BFQ_WRAIS
void wrais_raise(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio);
void wrais_resume(struct bfq_queue *bfqq);
bool wrais_leaves_group(const struct bio *bio);
#else
static inline void
wrais_raise(struct bfq_queue *bfqq, struct bfq_io_cq *bic, struct bio *bio) { }
static inline void wrais_resume(struct bfq_queue *bfqq) { }
static inline bool wrais_leaves_group(const struct bio *bio) { return false; }
#endif

/* dirty.c APIs: */
#ifdef CONFIG_BFQ_WRAIS_DIRTY
extern unsigned int wrais_headroom_pct;
extern unsigned int wrais_nap_ms;
unsigned long wrais_headroom(unsigned long thresh, unsigned int pct);
#endif

#endif /* _WRAIS_INTERNAL_H */
