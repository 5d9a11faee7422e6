// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of metadata buffers.
 *
 * jbd2 writes a metadata buffer to the journal in place, and a task that wants to change
 * it meanwhile sleeps (BH_Shadow). If the committing transaction has a copy
 * (b_frozen_data), jbd2 writes that, and no task sleeps. So it makes copies while
 * privileged tasks use that journal: their next buffers are unknown, but a commit has few.
 */

#include <linux/export.h>
#include <linux/jbd2.h>
#include <linux/jiffies.h>

#include "internal.h"

/* How long after its last handle a privileged task may come back. */
#define WRAIS_RETURN_FOR		(5 * HZ)
/* The copies that a commit makes: memory, and time under b_state_lock. */
#define WRAIS_COPIES_MAX	256

void __wrais_handle_starts(journal_t *journal)
{
	if (wrais_current_privileged())
		wrais_stamp(&journal->j_privileged_at);
}
EXPORT_SYMBOL_GPL(__wrais_handle_starts);

bool __wrais_wants_copy(const journal_t *journal, int copies)
{
	return copies < WRAIS_COPIES_MAX &&
	       wrais_recent(&journal->j_privileged_at, WRAIS_RETURN_FOR);
}
EXPORT_SYMBOL_GPL(__wrais_wants_copy);
