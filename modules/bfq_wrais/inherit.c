// SPDX-License-Identifier: GPL-2.0-only
/*
 * What privileged tasks wait for.
 *
 * The I/O of the flusher and of journal commits is nobody's, and is served
 * after everything that is privileged. While a privileged task sleeps until it
 * is done, that is a priority inversion: turn.c lets it go first then. It ends
 * with the wait, and at the latest WRAIS_INHERIT_MAX after the first of those
 * began whose waits overlap.
 */

#include <linux/atomic.h>
#include <linux/export.h>
#include <linux/jiffies.h>

#include "internal.h"
#include "trace.h"

#define WRAIS_INHERIT_MAX	(30 * HZ)

static atomic_t wrais_waiters[WRAIS_NR_WAITS];

/* When they were none last, and one began [jiffies]. */
static unsigned long wrais_waiting_since[WRAIS_NR_WAITS];

bool __wrais_wait_begin(enum wrais_wait what)
{
	if (!wrais_current_privileged())
		return false;

	if (atomic_inc_return(&wrais_waiters[what]) == 1)
		WRITE_ONCE(wrais_waiting_since[what], jiffies);
	trace_wrais_wait(what, true);
	return true;
}
EXPORT_SYMBOL_GPL(__wrais_wait_begin);

void __wrais_wait_end(enum wrais_wait what)
{
	atomic_dec(&wrais_waiters[what]);
	trace_wrais_wait(what, false);
}
EXPORT_SYMBOL_GPL(__wrais_wait_end);

/**
 * wrais_waits_for() - does a privileged task wait?
 * @what: for what
 */
bool wrais_waits_for(enum wrais_wait what)
{
	return atomic_read(&wrais_waiters[what]) &&
	       time_before(jiffies, READ_ONCE(wrais_waiting_since[what]) + WRAIS_INHERIT_MAX);
}
