/* SPDX-License-Identifier: GPL-2.0 */
/*
 * wall.h - a clock that may be set, against CLOCK_MONOTONIC. How far it is ahead is the
 * same until it is set; it knows neither clock.
 */
#ifndef UDPRATE_WALL_H
#define UDPRATE_WALL_H

#include "types.h"

/* All 0 is the start. */
struct wall {
	u64 ahead_ns;
};

/*
 * The clock showed @wall_ns between @before_ns and @after_ns. What is known stays if it
 * agrees: a reader that is off the CPU in between changes nothing.
 */
void wall_learn(struct wall *w, u64 before_ns, u64 wall_ns, u64 after_ns);

/*
 * When the clock showed @wall_ns. If it was set since, that is not known: it was not
 * before @earliest_ns or after @latest_ns.
 */
u64 wall_time(const struct wall *w, u64 wall_ns, u64 earliest_ns, u64 latest_ns);

#endif /* UDPRATE_WALL_H */
