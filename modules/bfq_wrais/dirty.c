// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dirty throttle and privileged writers.
 *
 * A privileged writer may exceed the dirty threshold by a headroom. It is
 * tested against all dirty pages of the domain, so that all the privileged
 * share it and memory is bounded by threshold plus headroom; the threshold
 * itself stays what it is, because balance_dirty_pages() learns from it. Where
 * the headroom is used up a privileged writer sleeps for milliseconds at a
 * time, in place of up to 200: it goes on as soon as the disk has made room.
 *
 * The room is made by the others, who sleep for as long as they ever do from
 * 7/8 of the threshold on. Where somebody privileged has used the disk within the
 * last second, they sleep again until there is room; such a hold ends after two
 * seconds, so that everybody gets ahead.
 */

#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>

#include "internal.h"
#include "trace.h"

/* How long somebody privileged keeps the others held after using the disk. */
#define WRAIS_HOLD_FOR		HZ
/* The longest that a writer is held at a time. */
#define WRAIS_HOLD_MAX		(2 * HZ)
/* Whatever the threshold is, the headroom is at most this part of the memory. */
#define WRAIS_HEADROOM_RAM	16

static void wrais_note_verdict(enum wrais_event verdict, unsigned long dirty,
			       unsigned long thresh)
{
	wrais_count(verdict);
	trace_wrais_throttle(verdict, dirty, thresh);
}

unsigned int wrais_headroom_pct = 25;
unsigned int wrais_nap_ms = 10;

/* When somebody privileged used the disk last [jiffies]; 0 if never. */
static unsigned long wrais_active_at;

/**
 * wrais_headroom() - by how much the privileged may exceed a threshold
 * @thresh: the threshold [pages]
 * @pct: percent of the threshold
 *
 * Return: pages.
 */
unsigned long wrais_headroom(unsigned long thresh, unsigned int pct)
{
	return min_t(unsigned long, mult_frac(thresh, pct, 100),
		     totalram_pages() / WRAIS_HEADROOM_RAM);
}

/**
 * wrais_note_active() - somebody privileged uses the disk
 */
void wrais_note_active(void)
{
	wrais_stamp(&wrais_active_at);
}

enum wrais_verdict
__wrais_throttle(unsigned long dirty, unsigned long thresh,
		 unsigned long start, long max_pause, long *pause)
{
	if (!wrais_current_privileged()) {
		if (dirty < thresh - thresh / 8)
			return WRAIS_SLEEP;
		*pause = max_pause;
		if (!wrais_recent(&wrais_active_at, WRAIS_HOLD_FOR) ||
		    time_after(jiffies, start + WRAIS_HOLD_MAX))
			return WRAIS_SLEEP;
		wrais_note_verdict(WRAIS_DIRTY_HOLDS, dirty, thresh);
		return WRAIS_HOLD;
	}

	wrais_note_active();
	if (dirty < thresh + wrais_headroom(thresh, READ_ONCE(wrais_headroom_pct))) {
		wrais_note_verdict(WRAIS_DIRTY_BREAKS, dirty, thresh);
		return WRAIS_PASS;
	}
	wrais_note_verdict(WRAIS_DIRTY_NAPS, dirty, thresh);
	*pause = min_t(long, *pause, max(msecs_to_jiffies(READ_ONCE(wrais_nap_ms)), 1UL));
	return WRAIS_SLEEP;
}
