/* SPDX-License-Identifier: GPL-2.0-only */
/* Which tasks and bios are privileged, and which devices they use. */
#ifndef _WRAIS_PRIVILEGE_H
#define _WRAIS_PRIVILEGE_H

#include <linux/blk_types.h>
#include <linux/ioprio.h>
#include <linux/jiffies.h>
#include <linux/wrais/part.h>
#include <linux/wrais/types.h>

bool wrais_current_privileged(void);
bool wrais_class_is_of_policy(const struct bio *bio);

#ifdef CONFIG_BLK_CGROUP
bool wrais_cgroup_has_bio(const struct bio *bio);
#else
static inline bool wrais_cgroup_has_bio(const struct bio *bio) { return false; }
#endif

/* Is a bio privileged? Its class shows it once it is submitted. */
static inline bool wrais_bio_privileged(const struct bio *bio)
{
	return IOPRIO_PRIO_CLASS(bio->bi_ioprio) == IOPRIO_CLASS_RT;
}

/* Record in @at that something happens now [jiffies]; 0 means never. */
static inline void wrais_stamp(unsigned long *at)
{
	WRITE_ONCE(*at, jiffies ?: 1);
}

/* Did what @at records happen within @period [jiffies]? */
static inline bool wrais_recent(const unsigned long *at, unsigned long period)
{
	unsigned long then = READ_ONCE(*at);

	return then && time_before(jiffies, then + period);
}

/* How long a privileged task that has used a device may come back. */
#define WRAIS_ACTIVE_FOR	(60 * HZ)

static inline void wrais_note_active(struct wrais_bdi *device)
{
	wrais_stamp(&device->active_at);
}

static inline bool wrais_is_active(const struct wrais_bdi *device)
{
	return wrais_recent(&device->active_at, WRAIS_ACTIVE_FOR);
}

#endif /* _WRAIS_PRIVILEGE_H */
