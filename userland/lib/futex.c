// SPDX-License-Identifier: GPL-2.0
/* futex.c - waiting on a word of memory shared between processes. */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock.h"
#include "futex.h"

void futex_wait(u32 *word, u32 value, u64 deadline_ns)
{
	struct timespec deadline = timespec_of(deadline_ns);

	/* The bitset form is the one with an absolute time. */
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value,
		deadline_ns ? &deadline : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(u32 *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void futex_set(u32 *word, u32 value)
{
	store(word, value);
	futex_wake(word);
}

bool futex_await(u32 *word, u32 value, u64 deadline_ns)
{
	u32 seen;

	while ((seen = load(word)) != value) {
		if (deadline_ns && now_ns() >= deadline_ns)
			return false;
		futex_wait(word, seen, deadline_ns);
	}
	return true;
}
