// SPDX-License-Identifier: GPL-2.0
/* draw.c - what does not divide is drawn again. */
#include "course.h"

unsigned int course_draw(uint8_t (*byte)(void *arg), void *arg, unsigned int tickets)
{
	const unsigned int whole = 256 - 256 % tickets;
	unsigned int found;

	do
		found = byte(arg);
	while (found >= whole);
	return found % tickets;
}
