/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Privileged I/O: what devices and I/O contexts keep for it.
 */
#ifndef _LINUX_WRAIS_TYPES_H
#define _LINUX_WRAIS_TYPES_H

#include <linux/types.h>

struct backing_dev_info;

/**
 * struct wrais_waits - how many tasks sleep for somebody's I/O
 * @waiters: so many
 * @since: when the last of them began [jiffies]
 * @carrier: of an I/O context: others wait for its I/O, so that it must be known
 *	whose it is; written once, before anybody waits
 *
 * Both are read without a lock: a request that is served in the wrong order for
 * a moment is harmless.
 */
struct wrais_waits {
	atomic_t waiters;
	unsigned long since;
	bool carrier;
};

/**
 * struct wrais_bdi - privileged I/O to a device
 * @active_at: when somebody privileged used it last [jiffies]; 0 if never
 * @written_at: when somebody privileged was to wait for its writeback last
 * @flusher: who waits until its dirty pages are written
 * @journal: who waits for a journal on it
 * @metadata: who waits for a buffer of it that is read or written
 * @handles: who waits for one with a handle of a journal, and is not privileged
 * @tags: who waits for a tag with a handle of a journal
 * @below: where its pages are dirty again once they are written, or NULL; it does
 *	not change while anybody has the device open for writing
 */
struct wrais_bdi {
	unsigned long active_at;
	unsigned long written_at;
	struct wrais_waits flusher;
	struct wrais_waits journal;
	struct wrais_waits metadata;
	struct wrais_waits handles;
	struct wrais_waits tags;
	struct backing_dev_info *below;
};

#endif /* _LINUX_WRAIS_TYPES_H */
