/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Privileged I/O: what devices and I/O contexts keep for it.
 */
#ifndef _LINUX_WRAIS_TYPES_H
#define _LINUX_WRAIS_TYPES_H

#include <linux/types.h>

struct backing_dev_info;

/**
 * struct wrais_waits - how many tasks wait for this I/O
 * @waiters: their number
 * @since: when the last of them began [jiffies]
 * @begun: since when there has been one at any time [jiffies]
 * @carrier: of an I/O context: other tasks wait for its I/O, which must be
 *	recognisable; written once, before the first wait
 *
 * Both are read without a lock: a request that is served in the wrong order for a moment
 * is harmless.
 */
struct wrais_waits {
	atomic_t waiters;
	unsigned long since;
	unsigned long begun;
	bool carrier;
};

/**
 * struct wrais_bdi - privileged I/O to a device
 * @active_at: when a privileged task last used it [jiffies]; 0 if never
 * @written_at: when a privileged task last had to wait for its writeback
 * @flusher: tasks that wait until its dirty pages are written
 * @journal: tasks that wait for a journal on it
 * @metadata: tasks that wait for a buffer or folio of it that is read or written
 * @handles: unprivileged tasks that wait for one with a handle of a journal
 * @tags: tasks that wait for a tag with a handle of a journal
 * @locked: tasks that wait for one without a handle, but with a folio locked
 * @below: where its pages are dirty again once they are written, or NULL; it does
 *	not change while the device is open for writing
 */
struct wrais_bdi {
	unsigned long active_at;
	unsigned long written_at;
	struct wrais_waits flusher;
	struct wrais_waits journal;
	struct wrais_waits metadata;
	struct wrais_waits handles;
	struct wrais_waits tags;
	struct wrais_waits locked;
	struct backing_dev_info *below;
};

#endif /* _LINUX_WRAIS_TYPES_H */
