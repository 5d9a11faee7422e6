/* SPDX-License-Identifier: GPL-2.0 */
/* course.h - what the exercises are asked for; Documentation/course.rst says what each is about. */
#ifndef COURSE_H
#define COURSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The draw. @byte gives the next random byte; each value is as likely as any other. The winner
 * is a number below @tickets (1..256); each has to be as likely as any other, too. The bytes
 * that it takes are not many: three in the mean, or less.
 */
unsigned int course_draw(uint8_t (*byte)(void *arg), void *arg, unsigned int tickets);

/*
 * The strategy. A card was emptied: @frames came since it was emptied before. @wanted: another
 * task could use the CPU now. Receiving took @received_us of the last 10 ms.
 */
struct course_round {
	uint64_t now_us;
	unsigned int frames;
	bool wanted;
	unsigned int received_us;
};

/* What the strategy remembers; all 0 at first. */
struct course_memory {
	uint64_t word[8];
};

/* How long the card is left alone now [us], up to 10000; 0: until its next interrupt. */
unsigned int course_strategy(struct course_memory *memory, const struct course_round *round);

/*
 * The interval. @sample holds @count samples one after the other; each is like the one before
 * it, and few are a hundred times the others. The interval is to hold the true mean in 95 of 100
 * measurements.
 */
struct course_interval {
	double low, high;
};

struct course_interval course_interval(const double *sample, size_t count);

#endif /* COURSE_H */
