// SPDX-License-Identifier: GPL-2.0
/* strategy.c - polls at all times, even while no other task wants the CPU. */
#include "course.h"

unsigned int course_strategy(struct course_memory *memory, const struct course_round *round)
{
	(void)memory;
	(void)round;
	return 1000;
}
