// SPDX-License-Identifier: GPL-2.0
/* draw.c - a number below tickets, each as likely as any other. Yours. */
#include "course.h"

unsigned int course_draw(uint8_t (*byte)(void *arg), void *arg, unsigned int tickets)
{
	(void)byte;
	(void)arg;
	(void)tickets;
	return 0;
}
