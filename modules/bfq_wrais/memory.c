// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dirty throttle and privileged writers.
 *
 * A privileged writer may exceed the dirty threshold by a headroom. It is tested against
 * all dirty pages of each domain (the machine, a memory cgroup), so that all privileged
 * writers share it, and against those of the device within its share of the domain: memory
 * is bounded by threshold plus headroom, and a slow or stalled device by its share of
 * that. A loop device and that of its file are one here: what the one has written, the
 * other has to write. The threshold itself stays the same, because balance_dirty_pages()
 * learns from it. A privileged writer without room naps and tests again, for no longer
 * than it would have slept without us; but not if its device has more than its share, for
 * the pages that become free are for the others then.
 *
 * While privileged writes stay above the threshold, others pass once they have waited for
 * WRAIS_WAIT_MAX, and a part of the headroom is reserved for them.
 *
 * Exempt are devices with a limit of their own (BDI_CAP_STRICTLIMIT: FUSE) and writers
 * that clean other devices (PF_LOCAL_THROTTLE: loop, nfsd).
 */

#include <linux/backing-dev.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include "memory.h"
#include "privilege.h"
#include "trace.h"

/* For how long after a privileged write the dirty pages may be above the threshold by it. */
#define WRAIS_ABOVE_FOR		HZ
/* How long the others wait at most while they are. */
#define WRAIS_WAIT_MAX		(HZ / 2)
/* The headroom reserved for others that have waited this long, or half of it. */
#define WRAIS_OTHERS_ROOM	(SZ_1M >> PAGE_SHIFT)
/* The headroom is at most this part of what can be dirty, whatever the threshold is. */
#define WRAIS_HEADROOM_PART	16

static void wrais_note_verdict(enum wrais_event verdict, unsigned long dirty,
			       unsigned long thresh)
{
	wrais_count(verdict);
	trace_wrais_throttle(verdict, dirty, thresh);
}

unsigned int wrais_headroom_pct = 25;
unsigned int wrais_nap_ms = 10;

/**
 * wrais_headroom() - by how much privileged writers may exceed a threshold
 * @thresh: the threshold [pages]
 * @avail: what can be dirty in its domain [pages]: a group of little memory has
 *	little headroom
 * @pct: percent of the threshold
 *
 * Return: pages.
 */
unsigned long wrais_headroom(unsigned long thresh, unsigned long avail,
			     unsigned int pct)
{
	return min(mult_frac(thresh, pct, 100), avail / WRAIS_HEADROOM_PART);
}

/**
 * wrais_has_room() - may the current task go on above a threshold?
 * @dirty: dirty pages
 * @thresh: their threshold [pages]
 * @avail: what can be dirty in the domain [pages]
 *
 * Privileged writers leave the last part of it to the others.
 */
bool wrais_has_room(unsigned long dirty, unsigned long thresh, unsigned long avail)
{
	unsigned long headroom = wrais_headroom(thresh, avail,
						READ_ONCE(wrais_headroom_pct));

	if (wrais_current_privileged())
		headroom -= min(headroom / 2, WRAIS_OTHERS_ROOM);
	return dirty < thresh + headroom;
}

/**
 * wrais_lies_on() - a device is a file
 * @bdi: the device, not open for writing
 * @below: the device of the file, which stays while this holds; NULL to end it
 *
 * What is written to the device is dirty in the file then: both have a share of what may
 * be dirty, and it is the same pages.
 */
void wrais_lies_on(struct backing_dev_info *bdi, struct backing_dev_info *below)
{
	WRITE_ONCE(bdi->wrais.below, below);
}
EXPORT_SYMBOL_GPL(wrais_lies_on);

/* The device that a device lies on, or NULL if it is no file. */
struct backing_dev_info *wrais_below(const struct backing_dev_info *bdi)
{
	return READ_ONCE(bdi->wrais.below);
}

/**
 * wrais_naps() - does a writer without room test again before its pause is over?
 * @waited: for how long it has waited [jiffies]
 * @nap: the longest that it is to sleep at a time [jiffies]
 * @pause: how long it is to sleep in all; how long it is to sleep now [jiffies]
 */
bool wrais_naps(unsigned long waited, long nap, long *pause)
{
	long left = *pause - (long)min_t(unsigned long, waited, LONG_MAX);

	nap = max(nap, 1L);
	*pause = left > 0 ? min(left, nap) : nap;
	return left > nap;
}

/*
 * Privileged writes may keep the dirty pages above the threshold. Without this the others
 * would wait until they end.
 */
static bool wrais_is_released(const struct backing_dev_info *bdi, bool above_with_room,
			      unsigned long start)
{
	return above_with_room && time_after_eq(jiffies, start + WRAIS_WAIT_MAX) &&
	       wrais_recent(&bdi->wrais.written_at, WRAIS_ABOVE_FOR);
}

enum wrais_verdict
__wrais_throttle(struct backing_dev_info *bdi, unsigned long dirty,
		 unsigned long thresh, enum wrais_room room,
		 unsigned long start, long *pause)
{
	if (!wrais_current_privileged()) {
		if (!wrais_is_released(bdi, dirty >= thresh && room == WRAIS_ROOM, start))
			return WRAIS_SLEEP;
		wrais_note_verdict(WRAIS_DIRTY_RELEASES, dirty, thresh);
		return WRAIS_PASS;
	}

	wrais_note_active(&bdi->wrais);
	wrais_stamp(&bdi->wrais.written_at);
	if (room == WRAIS_OVER)
		return WRAIS_SLEEP;
	if (room == WRAIS_ROOM) {
		wrais_note_verdict(WRAIS_DIRTY_BREAKS, dirty, thresh);
		return WRAIS_PASS;
	}
	wrais_note_verdict(WRAIS_DIRTY_NAPS, dirty, thresh);
	return wrais_naps(jiffies - start, msecs_to_jiffies(READ_ONCE(wrais_nap_ms)),
			  pause) ? WRAIS_NAP : WRAIS_SLEEP;
}
