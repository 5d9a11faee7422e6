// SPDX-License-Identifier: GPL-2.0
/* sequence.c - what became of numbered packets on their way. */
#include "sequence.h"

#define WINDOW	64U

static void see_new(struct sequence *s, u64 number)
{
	u64 step = number - s->next + 1;

	s->seen = step < WINDOW ? s->seen << step | 1 : 1;
	s->next = number + 1;
	s->received++;
}

void sequence_see(struct sequence *s, u64 number)
{
	u64 behind;

	if (number >= s->next) {
		see_new(s, number);
		return;
	}
	behind = s->next - 1 - number;
	if (behind < WINDOW && s->seen >> behind & 1) {
		s->duplicates++;
		return;
	}
	if (behind < WINDOW)
		s->seen |= 1ULL << behind;
	s->late++;
	s->received++;
}

u64 sequence_lost(const struct sequence *s)
{
	return s->next > s->received ? s->next - s->received : 0;
}
