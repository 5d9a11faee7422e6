/* SPDX-License-Identifier: GPL-2.0 */
/* futex.h - waiting on a word of memory shared between processes. */
#ifndef LAB_FUTEX_H
#define LAB_FUTEX_H

#include "types.h"

/*
 * Sleep while *@word is @value; returns also early. @deadline_ns is of
 * CLOCK_MONOTONIC, 0 for none.
 */
void futex_wait(u32 *word, u32 value, u64 deadline_ns);

/* Wake all that wait on @word. */
void futex_wake(u32 *word);

/* Store and wake. */
void futex_set(u32 *word, u32 value);

/* Wait until *@word is @value; false when it is not by @deadline_ns. */
bool futex_await(u32 *word, u32 value, u64 deadline_ns);

static inline u32 load(const u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(u32 *word, u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline u64 load64(const u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store64(u64 *word, u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

#endif /* LAB_FUTEX_H */
