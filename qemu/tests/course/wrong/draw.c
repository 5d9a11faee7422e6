// SPDX-License-Identifier: GPL-2.0
/* draw.c - the remainder: small numbers win more often. */
#include "course.h"

unsigned int course_draw(uint8_t (*byte)(void *arg), void *arg, unsigned int tickets)
{
	return byte(arg) % tickets;
}
