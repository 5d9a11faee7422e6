/* SPDX-License-Identifier: GPL-2.0 */
/* random.h - a small seeded generator (splitmix64): same seed, same run. */
#ifndef LAB_RANDOM_H
#define LAB_RANDOM_H

#include "types.h"

struct random {
	u64 state;
};

static inline u64 random_u64(struct random *r)
{
	u64 z = (r->state += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 0..@bound - 1; @bound is at most 2^32 and not 0. */
static inline u32 random_below(struct random *r, u64 bound)
{
	return (u32)(((random_u64(r) >> 32) * bound) >> 32);
}

/* @low..@high, both included. */
static inline u32 random_between(struct random *r, u32 low, u32 high)
{
	return low + random_below(r, (u64)high - low + 1);
}

#endif /* LAB_RANDOM_H */
