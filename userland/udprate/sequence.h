/* SPDX-License-Identifier: GPL-2.0 */
/* sequence.h - what became of numbered packets on their way. */
#ifndef UDPRATE_SEQUENCE_H
#define UDPRATE_SEQUENCE_H

#include "types.h"

#define SEQUENCE_WINDOW	65536U

/* All 0 is the start. */
struct sequence {
	u64 next;		/* one more than the newest number */
	u64 received;		/* numbers, each once */
	u64 late;		/* after one with a greater number */
	u64 duplicates;		/* packets whose number had come before */
};

/* Which of the newest numbers have come: a bit each, at the number modulo the window. */
struct window {
	u64 seen[SEQUENCE_WINDOW / 64];
};

/*
 * Whether the number has arrived with this packet. One that is older than the window may
 * have come before: it is late, and stays lost.
 */
bool sequence_see(struct sequence *s, struct window *w, u64 number);

/* Numbers below the newest that have not come. */
u64 sequence_lost(const struct sequence *s);

#endif /* UDPRATE_SEQUENCE_H */
