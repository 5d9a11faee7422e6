// SPDX-License-Identifier: GPL-2.0
/*
 * judge_draw.c - is each number as likely as any other? No statistics: all bytes are tried.
 *
 * A draw that takes one more byte than it was given has not decided. The first bytes are tried
 * up to a depth of two: of what is decided there each number must have the same part.
 */
#include <setjmp.h>

#include "course.h"
#include "judge.h"

#define BYTES		256U
#define DEPTH		2U
#define MANY		1000000U
#define MEAN_MOST	3.0

static jmp_buf undecided;

struct given {
	uint8_t byte[DEPTH];
	unsigned int count;
	unsigned int taken;
};

static uint8_t next(void *arg)
{
	struct given *given = arg;

	if (given->taken == given->count)
		longjmp(undecided, 1);
	return given->byte[given->taken++];
}

static uint8_t any(void *arg)
{
	uint64_t *state = arg;

	state[1]++;
	return judge_random(state) >> 56;
}

/* These bytes decide; or they are too few. */
static bool decided(struct given *given, unsigned int tickets, unsigned int *winner)
{
	given->taken = 0;
	if (setjmp(undecided))
		return false;
	*winner = course_draw(next, given, tickets);
	return true;
}

/* Add what is decided with these bytes, or go on with one more. */
static void try(struct given *given, unsigned int tickets, uint64_t *wins)
{
	unsigned int byte, winner;

	for (byte = 0; byte < BYTES; byte++) {
		given->byte[given->count++] = byte;
		if (decided(given, tickets, &winner)) {
			if (winner >= tickets)
				judge_wrong("of %u tickets number %u wins", tickets, winner);
			/* decided with fewer bytes: that counts once for each that it did not take */
			wins[winner] += given->count < DEPTH ? BYTES : 1;
		} else if (given->count < DEPTH) {
			try(given, tickets, wins);
		}
		given->count--;
	}
}

int main(void)
{
	uint64_t state[2] = { 1, 0 };
	unsigned int tickets, i;

	for (tickets = 1; tickets <= BYTES; tickets++) {
		uint64_t wins[BYTES] = { 0 };
		struct given given = { .count = 0 };

		try(&given, tickets, wins);
		for (i = 0; i < tickets; i++) {
			if (!wins[i])
				judge_wrong("of %u tickets number %u never wins within two bytes",
					    tickets, i);
			if (wins[i] != wins[0])
				judge_wrong("of %u tickets number %u wins %llu times while 0 wins %llu times",
					    tickets, i, (unsigned long long)wins[i],
					    (unsigned long long)wins[0]);
		}
	}
	for (i = 0; i < MANY; i++)
		course_draw(any, state, 1 + i % BYTES);
	if ((double)state[1] / MANY > MEAN_MOST)
		judge_wrong("a draw takes %.1f bytes in the mean", (double)state[1] / MANY);
	return judge_right();
}
