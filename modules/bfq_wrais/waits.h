/* SPDX-License-Identifier: GPL-2.0-only */
/* What privileged tasks wait for. */
#ifndef _WRAIS_WAITS_H
#define _WRAIS_WAITS_H

#include <linux/types.h>

struct bio;
struct wrais_waits;

/* For the tracepoint. */
enum wrais_wait {
	WRAIS_FOR_FLUSHER,
	WRAIS_FOR_FOLIO,
	WRAIS_FOR_METADATA,
	WRAIS_FOR_TAG,
	WRAIS_FOR_JOURNAL,
};

#ifdef CONFIG_BFQ_WRAIS_INHERIT
void wrais_waits_begin(struct wrais_waits *waits);
void wrais_waits_end(struct wrais_waits *waits);
bool wrais_has_waiters(void);
bool wrais_is_waited(const struct wrais_waits *waits);
bool wrais_is_waited_long(const struct wrais_waits *waits);
bool wrais_bio_was_waited_for(const struct bio *bio);
#else
static inline bool wrais_has_waiters(void) { return false; }
static inline bool wrais_is_waited(const struct wrais_waits *waits) { return false; }
static inline bool wrais_is_waited_long(const struct wrais_waits *waits) { return false; }
static inline bool wrais_bio_was_waited_for(const struct bio *bio) { return false; }
#endif

#endif /* _WRAIS_WAITS_H */
