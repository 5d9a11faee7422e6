// SPDX-License-Identifier: GPL-2.0
/*
 * lottery_mutex_stress.c - threads that all want one mutex, in all the orders that come up.
 * Prints how often each has had it and what a counter without any care came to.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "lottery_mutex.h"
#include "work.h"

#define THREADS		8U
#define ROUNDS		4000U
/* A lost wake-up, or a mutex that was handed to nobody, is a hang. */
#define LIMIT_S		60

static struct lottery_mutex *mutex;
static u64 counter;
static u64 rounds[THREADS];

static void *take_turns(void *arg)
{
	u32 slot = (u32)(size_t)arg, i;
	struct random random = { .state = slot };

	for (i = 0; i < ROUNDS; i++) {
		u64 seen;

		lottery_mutex_lock(mutex, slot, 1 + slot);
		seen = counter;
		/* now free, now contended, now with sleepers */
		if (!random_below(&random, 4))
			spin_a_little();
		counter = seen + 1;
		rounds[slot]++;
		lottery_mutex_unlock(mutex);
		if (!random_below(&random, 4))
			sched_yield();
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	u32 i;

	alarm(LIMIT_S);
	mutex = aligned_alloc(64, lottery_mutex_size(THREADS));
	if (!mutex)
		return 1;
	lottery_mutex_init(mutex, THREADS, 1);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, take_turns, (void *)(size_t)i))
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS; i++)
		printf("%llu ", rounds[i]);
	printf("%llu %d\n", counter, lottery_mutex_holder(mutex) == LOTTERY_MUTEX_NOBODY);
	free(mutex);
	return 0;
}
