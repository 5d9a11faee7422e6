/* SPDX-License-Identifier: GPL-2.0 */
/* side.h - what a sender and a receiver do once the mechanism is there. */
#ifndef IPCLAT_SIDE_H
#define IPCLAT_SIDE_H

#include "mechanism.h"

struct settings {
	u64 iterations;
	u64 warmup;
	u64 limit_ns;		/* of a repeat */
	u32 repeats;
	struct policy policy;
	s32 cpu[SIDES];		/* -1: any */
	struct tsc tsc;
};

/* Before there are sides. */
void fill_page(struct page *page, const struct settings *s);

/* Be one of them, to the end. Exits on errors. */
void run_side(struct page *page, const struct mechanism *m, enum side side);

#endif /* IPCLAT_SIDE_H */
