// SPDX-License-Identifier: GPL-2.0
/* strategy.c - half of the CPU for receiving, and rounds for a while once it was too much. */
#include "course.h"

unsigned int course_strategy(struct course_memory *memory, const struct course_round *round)
{
	enum { HALF_US = 5000, ROUND_US = 300, HOLD_US = 20000 };
	uint64_t *until = &memory->word[0];

	if (!round->wanted)
		return 0;
	if (round->received_us > HALF_US) {
		*until = round->now_us + HOLD_US;
		return 2 * (round->received_us - HALF_US) + ROUND_US;
	}
	return round->now_us < *until ? ROUND_US : 0;
}
