// SPDX-License-Identifier: GPL-2.0-only
/*
 * Copies of metadata buffers.
 *
 * jbd2 writes a metadata buffer to the journal from where it is, and whoever
 * wants to change it meanwhile sleeps (BH_Shadow). If the committing transaction
 * has a copy (b_frozen_data), that is what it writes, and nobody sleeps. Let it
 * make copies while privileged tasks use that journal: which buffers they will
 * want cannot be known, but a commit has few.
 */

#include <linux/export.h>
#include <linux/jbd2.h>
#include <linux/jiffies.h>

#include "internal.h"

/* For how long after it started a handle a privileged task may come back. */
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
