/* SPDX-License-Identifier: GPL-2.0 */
/* rbtree_types.h - the kernel's tools have them in rbtree.h. */
#include <linux/rbtree.h>
