/* SPDX-License-Identifier: GPL-2.0 */
/* sequence.h - what became of numbered packets on their way. */
#ifndef UDPRATE_SEQUENCE_H
#define UDPRATE_SEQUENCE_H

#include "types.h"

/* All 0 is the start. Packets more than 64 behind the newest count as late, once each. */
struct sequence {
	u64 next;		/* one more than the newest number */
	u64 seen;		/* bit i: next - 1 - i has come */
	u64 received;		/* without duplicates */
	u64 late;		/* after one with a greater number */
	u64 duplicates;		/* of the last 64 numbers */
};

void sequence_see(struct sequence *s, u64 number);

/* Numbers below the newest that have not come. */
u64 sequence_lost(const struct sequence *s);

#endif /* UDPRATE_SEQUENCE_H */
