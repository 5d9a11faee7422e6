// SPDX-License-Identifier: GPL-2.0
/* ratio.c - ticket ratios on the command line, like 3:2:1. */
#include <string.h>

#include "args.h"
#include "lottery_sched.h"
#include "ratio.h"

static void __noreturn bad_ratio(const char *text, unsigned int room)
{
	die(EXIT_USAGE, "bad ratio '%s': allowed 2..%u numbers 1..%u with ':' between",
	    text, room, LOTTERY_TICKETS_MAX);
}

unsigned int ratio_argument(const char *text, u32 *tickets, unsigned int room)
{
	const char *at = text;
	unsigned int count = 0;
	char word[16];
	u64 number;

	for (;;) {
		size_t length = strcspn(at, ":");

		if (length >= sizeof(word) || count == room)
			bad_ratio(text, room);
		memcpy(word, at, length);
		word[length] = '\0';
		if (!parse_number(word, 1, LOTTERY_TICKETS_MAX, &number))
			bad_ratio(text, room);
		tickets[count++] = (u32)number;
		if (!at[length])
			break;
		at += length + 1;
	}
	if (count < 2)
		bad_ratio(text, room);
	return count;
}
