// SPDX-License-Identifier: GPL-2.0
/* holes.c - where packets are missing. */
#include "holes.h"

void holes_open(struct holes *h, u32 worker, u64 first, u64 size, u64 at_ns)
{
	if (h->count == HOLES_MAX) {
		h->unnamed++;
		return;
	}
	h->hole[h->count++] = (struct hole){
		.first = first, .size = size, .missing = size, .at_ns = at_ns, .worker = worker,
	};
}

void holes_fill(struct holes *h, u32 worker, u64 number)
{
	u32 i;

	for (i = 0; i < h->count; i++) {
		struct hole *hole = &h->hole[i];

		if (hole->worker != worker || number - hole->first >= hole->size)
			continue;
		if (--hole->missing)
			return;
		/* the order of the others is that of their times */
		for (h->count--; i < h->count; i++)
			h->hole[i] = h->hole[i + 1];
		return;
	}
}
