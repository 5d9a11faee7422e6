// SPDX-License-Identifier: GPL-2.0-only
/*
 * The dirty throttle and privileged writers.
 *
 * A privileged writer may exceed the dirty threshold by a headroom. It is
 * tested against all dirty pages of each domain (the machine, a memory cgroup),
 * so that all the privileged share it, and against those of the device within
 * what of the domain is the device's: memory is bounded by threshold plus
 * headroom, and what a slow or stalled device takes by its share of that. A loop
 * device and that of its file are one here: what the one has written, the other
 * has to write. The threshold itself stays what it is, because
 * balance_dirty_pages() learns from it. Where there is no room a privileged
 * writer naps and looks again, for no longer than it would have slept without
 * us; but not where it is its device that has more than its share, for what
 * becomes free is for the others then.
 *
 * The room is made by the others, who sleep for as long as they ever do from
 * 7/8 of the threshold on, if somebody privileged has used the device of late.
 * They do not sleep for ever: while the privileged write above the threshold,
 * they pass after WRAIS_HOLD_MAX, and a part of the headroom is left to them.
 *
 * Not for us are devices with a limit of their own (BDI_CAP_STRICTLIMIT: FUSE)
 * and writers who clean other devices (PF_LOCAL_THROTTLE: loop, nfsd).
 */

#include <linux/backing-dev.h>
#include <linux/export.h>
#include <linux/jiffies.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/sizes.h>

#include "internal.h"
#include "trace.h"

/* How long somebody privileged has the others leave room after using a device. */
#define WRAIS_ROOM_FOR		HZ
/* How long the others wait at the most while the privileged write above the threshold. */
#define WRAIS_HOLD_MAX		(HZ / 2)
/* What of the headroom is left to the others who have waited for so long, or half of it. */
#define WRAIS_OTHERS_ROOM	(SZ_1M >> PAGE_SHIFT)
/* Whatever the threshold is, the headroom is at most this part of what can be dirty. */
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
 * wrais_headroom() - by how much the privileged may exceed a threshold
 * @thresh: the threshold [pages]
 * @avail: what can be dirty in its domain [pages]: a group of little memory has
 *	   little headroom
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
 * The privileged leave the last part of it to the others.
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
 * @below: where the file is, which stays for as long as this holds; NULL if it is none
 *
 * What is written to the device is dirty in the file then: both have a share of
 * what may be dirty, and it is the same pages.
 */
void wrais_lies_on(struct backing_dev_info *bdi, struct backing_dev_info *below)
{
	WRITE_ONCE(bdi->wrais.below, below);
}
EXPORT_SYMBOL_GPL(wrais_lies_on);

/**
 * wrais_below() - what does a device lie on?
 * @bdi: the device, which the current task writes to
 *
 * Return: NULL if it is no file.
 */
struct backing_dev_info *wrais_below(const struct backing_dev_info *bdi)
{
	return READ_ONCE(bdi->wrais.below);
}

/**
 * wrais_naps() - does a writer without room look again before its pause is over?
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
 * The privileged may keep the dirty pages above the threshold. Without this the others would
 * wait until the privileged stop writing.
 */
static bool wrais_is_released(const struct backing_dev_info *bdi, bool above_with_room,
			      unsigned long start)
{
	return above_with_room && time_after_eq(jiffies, start + WRAIS_HOLD_MAX) &&
	       wrais_recent(&bdi->wrais.written_at, WRAIS_ROOM_FOR);
}

enum wrais_verdict
__wrais_throttle(struct backing_dev_info *bdi, unsigned long dirty,
		 unsigned long thresh, enum wrais_room room,
		 unsigned long start, long max_pause, long *pause)
{
	if (!wrais_current_privileged()) {
		if (wrais_is_released(bdi, dirty >= thresh && room == WRAIS_ROOM, start)) {
			wrais_note_verdict(WRAIS_DIRTY_RELEASES, dirty, thresh);
			return WRAIS_PASS;
		}
		if (dirty < thresh - thresh / 8 || *pause >= max_pause ||
		    !wrais_recent(&bdi->wrais.active_at, WRAIS_ROOM_FOR))
			return WRAIS_SLEEP;
		*pause = max_pause;
		wrais_note_verdict(WRAIS_DIRTY_HOLDS, dirty, thresh);
		return WRAIS_SLEEP;
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
