// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose requests BFQ does not limit.
 *
 * bfq_limit_depth() leaves few tags to async I/O and to sync writes, and one to
 * who uses more than its share. The flusher keeps a journal handle open while
 * it submits megabytes: where it waits for a tag, the commit waits for its
 * handle, and a privileged task that starts a handle for the commit. Such a
 * task is exempt, whoever it is, and so are metadata.
 */

#include <linux/backing-dev-defs.h>
#include <linux/blkdev.h>
#include <linux/sched.h>

#include "internal.h"

/* Is it writeback of a device that a privileged task waits for? */
static bool wrais_writes_for_waiter(blk_opf_t opf, struct request_queue *q)
{
	return !op_is_sync(opf) && wrais_is_waited(&q->disk->bdi->wrais.flusher);
}

bool __wrais_tag_exempt(blk_opf_t opf, struct request_queue *q)
{
	/* Filesystems keep the transaction that a task has open there. */
	if (!(opf & (REQ_META | REQ_PRIO)) && !current->journal_info &&
	    !wrais_current_privileged() && !wrais_writes_for_waiter(opf, q))
		return false;

	wrais_count(WRAIS_TAG_EXEMPTIONS);
	return true;
}
