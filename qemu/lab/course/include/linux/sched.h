/* SPDX-License-Identifier: GPL-2.0 */
/* sched.h - what a pool needs of the kernel's, in a program. */
#ifndef COURSE_SCHED_H
#define COURSE_SCHED_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

/* As in the kernel; left is free for a pool. */
struct lottery_entry {
	u64 tickets;
	u64 left;
	union {
		struct list_head link;
		struct rb_node node;
		u64 *slot;
	};
};

#endif /* COURSE_SCHED_H */
