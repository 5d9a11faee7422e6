// SPDX-License-Identifier: GPL-2.0
/* wall.c - a clock that may be set, against CLOCK_MONOTONIC. */
#include "wall.h"

/* A clock may show less than CLOCK_MONOTONIC: it counts modulo 2^64. */
static u64 clamp(u64 value, u64 low, u64 high)
{
	if ((s64)(value - low) < 0)
		return low;
	return (s64)(value - high) > 0 ? high : value;
}

void wall_learn(struct wall *w, u64 before_ns, u64 wall_ns, u64 after_ns)
{
	w->ahead_ns = clamp(w->ahead_ns, wall_ns - after_ns, wall_ns - before_ns);
}

u64 wall_time(const struct wall *w, u64 wall_ns, u64 earliest_ns, u64 latest_ns)
{
	return clamp(wall_ns - w->ahead_ns, earliest_ns, latest_ns);
}
