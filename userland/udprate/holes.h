/* SPDX-License-Identifier: GPL-2.0 */
/*
 * holes.h - where packets are missing: runs of numbers that have not come. A late
 * packet makes its hole smaller, and one that is filled gives its place back.
 */
#ifndef UDPRATE_HOLES_H
#define UDPRATE_HOLES_H

#include "types.h"

#define HOLES_MAX	64U

struct hole {
	u64 first;		/* number */
	u64 size;		/* numbers from there on */
	u64 missing;		/* of them */
	u64 at_ns;		/* when it was seen, after the first packet */
	u32 worker;
	u32 unused;
};

struct holes {
	struct hole hole[HOLES_MAX];
	u32 count;
	u32 unused;
	u64 unnamed;		/* holes for which there was no place */
};

void holes_open(struct holes *h, u32 worker, u64 first, u64 size, u64 at_ns);

/* A packet has come that was behind. */
void holes_fill(struct holes *h, u32 worker, u64 number);

#endif /* UDPRATE_HOLES_H */
