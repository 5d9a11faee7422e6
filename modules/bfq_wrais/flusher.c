// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the flusher leaves for later.
 *
 * Writing an inode back takes its locks (i_data_sem in ext4, folio locks), and
 * a task that writes to it waits for them. Background and periodic writeback
 * may leave an inode that a privileged task writes to right now: nobody waits
 * for these. They do not leave it for longer than WRAIS_SKIP_FOR, and not at
 * all close to the dirty threshold, where writers wait for the flusher.
 *
 * What is known of an inode is a hint that expires: two that share a place in
 * the table forget one another, and one that is freed is never looked at.
 */

#include <linux/export.h>
#include <linux/hash.h>
#include <linux/jiffies.h>
#include <linux/mm.h>
#include <linux/spinlock.h>
#include <linux/writeback.h>

#include "internal.h"
#include "trace.h"

/* How long a privileged task counts as writing. */
#define WRAIS_WRITES_FOR	HZ
/* The longest that an inode is left at a time. */
#define WRAIS_SKIP_FOR		(2 * HZ)
/* Inodes that are known of at the same time, as a power of two. */
#define WRAIS_WRITTEN_BITS	6

/**
 * struct wrais_written - an inode that a privileged task writes to
 * @inode: only compared, never followed
 * @at: when it wrote last [jiffies]
 * @since: when writeback left the inode first, since it was written; 0 if not
 *
 * Protected by wrais_written_lock, which nests within everything.
 */
struct wrais_written {
	const struct inode *inode;
	unsigned long at;
	unsigned long since;
};

static struct wrais_written wrais_written[1 << WRAIS_WRITTEN_BITS];
static DEFINE_SPINLOCK(wrais_written_lock);

static struct wrais_written *wrais_written_of(const struct inode *inode)
{
	return &wrais_written[hash_ptr(inode, WRAIS_WRITTEN_BITS)];
}

void __wrais_writes(const struct inode *inode)
{
	struct wrais_written *written = wrais_written_of(inode);

	if (!wrais_current_privileged())
		return;

	spin_lock(&wrais_written_lock);
	if (written->inode != inode) {
		written->inode = inode;
		written->since = 0;
	}
	wrais_stamp(&written->at);
	spin_unlock(&wrais_written_lock);
}

/* Are there few dirty pages, so that nobody waits for the flusher? */
static bool wrais_is_clean(void)
{
	unsigned long background, thresh;

	global_dirty_limits(&background, &thresh);
	return global_node_page_state(NR_FILE_DIRTY) +
	       global_node_page_state(NR_WRITEBACK) < thresh - thresh / 8;
}

bool __wrais_skips(const struct inode *inode)
{
	struct wrais_written *written = wrais_written_of(inode);
	bool skips = false;

	spin_lock(&wrais_written_lock);
	if (written->inode == inode && wrais_recent(&written->at, WRAIS_WRITES_FOR) &&
	    wrais_is_clean()) {
		if (!written->since)
			wrais_stamp(&written->since);
		skips = wrais_recent(&written->since, WRAIS_SKIP_FOR);
		if (!skips)
			written->since = 0;
	}
	spin_unlock(&wrais_written_lock);

	if (skips) {
		wrais_count(WRAIS_FLUSHER_SKIPS);
		trace_wrais_skip(inode);
	}
	return skips;
}
