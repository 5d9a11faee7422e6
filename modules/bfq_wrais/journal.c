// SPDX-License-Identifier: GPL-2.0-only
/*
 * The journal.
 *
 * Copies of metadata buffers: jbd2 writes a metadata buffer to the journal
 * from where it is, and whoever wants to change it meanwhile sleeps
 * (BH_Shadow). If the committing transaction has a copy (b_frozen_data), that
 * is what it writes, and nobody sleeps. Let it make copies while privileged
 * tasks use the journal: which buffers they will want cannot be known, but a
 * commit has few.
 *
 * Joins: a transaction that is locked down for commit waits for its handles,
 * and who starts one waits for the next transaction. Somebody privileged may
 * still join, as if the handle had been started before: a few per transaction
 * and not for long, or the commit would wait for ever. A transaction that is
 * full cannot be joined, so the others leave an eighth of it to the privileged
 * while there are any.
 */

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/jiffies.h>

#include "internal.h"
#include "trace.h"

/* For how long after it started a handle a privileged task may come back. */
#define WRAIS_RETURN_FOR		(5 * HZ)
/* The copies that a commit makes: memory, and time under b_state_lock. */
#define WRAIS_COPIES_MAX	256

/* When a privileged task started a handle last [jiffies]; 0 if never. */
static unsigned long wrais_handle_at;

/* For how long after it was locked down a transaction can be joined. */
#define WRAIS_JOIN_MS		50
/* How often. */
#define WRAIS_JOINS_MAX		16
/* The part of a transaction that is left to the privileged. */
#define WRAIS_CREDITS_PART	8

void __wrais_handle_starts(void)
{
	if (wrais_current_privileged())
		wrais_stamp(&wrais_handle_at);
}
EXPORT_SYMBOL_GPL(__wrais_handle_starts);

#ifdef CONFIG_BFQ_WRAIS_COPY
bool __wrais_wants_copy(int copies)
{
	return copies < WRAIS_COPIES_MAX &&
	       wrais_recent(&wrais_handle_at, WRAIS_RETURN_FOR);
}
EXPORT_SYMBOL_GPL(__wrais_wants_copy);
#endif

#ifdef CONFIG_BFQ_WRAIS_JOIN
/**
 * wrais_join_in_time() - does a join keep the bounds?
 * @joins: how many there were before
 * @age: how long the transaction has been locked [jiffies]
 */
bool wrais_join_in_time(int joins, unsigned long age)
{
	return joins < WRAIS_JOINS_MAX && age < msecs_to_jiffies(WRAIS_JOIN_MS);
}

bool __wrais_may_join(atomic_t *joins, unsigned long locked)
{
	unsigned long age = jiffies - locked;
	int before;

	if (!wrais_current_privileged())
		return false;
	before = atomic_fetch_inc(joins);
	if (!wrais_join_in_time(before, age))
		return false;

	wrais_count(WRAIS_JOINS);
	trace_wrais_join(before + 1, age);
	return true;
}
EXPORT_SYMBOL_GPL(__wrais_may_join);

/**
 * wrais_credits_left() - what the others may use of a transaction
 * @limit: the credits that it has room for
 * @total: those that must be possible, if they are within @limit
 */
int wrais_credits_left(int limit, int total)
{
	int lower = limit - limit / WRAIS_CREDITS_PART;

	return total > lower ? limit : lower;
}

int __wrais_credits_limit(int limit, int total)
{
	if (!wrais_recent(&wrais_handle_at, WRAIS_RETURN_FOR) || wrais_current_privileged())
		return limit;
	return wrais_credits_left(limit, total);
}
EXPORT_SYMBOL_GPL(__wrais_credits_limit);
#endif
