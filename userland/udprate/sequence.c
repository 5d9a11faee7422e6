// SPDX-License-Identifier: GPL-2.0
/* sequence.c - what became of numbered packets on their way. */
#include "sequence.h"

#include <string.h>

static void forget(struct window *w, u64 from, u64 until)
{
	if (until - from >= SEQUENCE_WINDOW) {
		memset(w, 0, sizeof(*w));
		return;
	}
	for (; from < until; from++)
		w->seen[from / 64 % ARRAY_SIZE(w->seen)] &= ~(1ULL << from % 64);
}

/* Whether it has come before. */
static bool note(struct window *w, u64 number)
{
	u64 *word = &w->seen[number / 64 % ARRAY_SIZE(w->seen)], bit = 1ULL << number % 64;
	bool before = *word & bit;

	*word |= bit;
	return before;
}

bool sequence_see(struct sequence *s, struct window *w, u64 number)
{
	bool newest = number >= s->next, old = !newest && s->next - number > SEQUENCE_WINDOW;

	if (newest) {
		forget(w, s->next, number + 1);
		s->next = number + 1;
	}
	if (!old && note(w, number)) {
		s->duplicates++;
		return false;
	}
	s->late += !newest;
	s->received += !old;
	return !old;
}

u64 sequence_lost(const struct sequence *s)
{
	return s->next > s->received ? s->next - s->received : 0;
}
