/* SPDX-License-Identifier: GPL-2.0 */
/* judge.h - what the judges share: random numbers that repeat, and the verdict. */
#ifndef COURSE_JUDGE_H
#define COURSE_JUDGE_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define WRONG	1

/* xorshift64*, Vigna 2016. */
static inline uint64_t judge_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* Say what is wrong, and end. */
static inline __attribute__((noreturn, format(printf, 1, 2)))
void judge_wrong(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	printf("wrong: ");
	vprintf(format, args);
	putchar('\n');
	va_end(args);
	exit(WRONG);
}

static inline int judge_right(void)
{
	puts("right");
	return 0;
}

#endif /* COURSE_JUDGE_H */
