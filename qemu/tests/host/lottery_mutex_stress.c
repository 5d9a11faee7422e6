// SPDX-License-Identifier: GPL-2.0
/*
 * lottery_mutex_stress.c - threads that all want one mutex, in all the orders that come up.
 * Prints how often each has had it, what a counter without any care came to, how many draws
 * were won, and whether the mutex is free in the end.
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
static pthread_barrier_t start;
static u64 counter, draws;
static u64 rounds[THREADS];

static void *take_turns(void *arg)
{
	u32 slot = (u32)(size_t)arg, i;
	struct random random = { .state = slot };

	pthread_barrier_wait(&start);
	for (i = 0; i < ROUNDS; i++) {
		bool won = lottery_mutex_lock(mutex, slot, 1 + slot);
		u64 seen = counter;

		draws += won;
		/* others come, and fall asleep, or do not */
		if (!random_below(&random, 4))
			sched_yield();
		counter = seen + 1;
		rounds[slot]++;
		lottery_mutex_unlock(mutex);
		if (!random_below(&random, 4))
			spin_a_little();
	}
	return NULL;
}

int main(void)
{
	pthread_t thread[THREADS];
	u32 i;

	alarm(LIMIT_S);
	mutex = aligned_alloc(64, lottery_mutex_size(THREADS));
	if (!mutex || pthread_barrier_init(&start, NULL, THREADS))
		return 1;
	lottery_mutex_init(mutex, THREADS, 1);
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, take_turns, (void *)(size_t)i))
			return 1;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; i < THREADS; i++)
		printf("%llu ", rounds[i]);
	printf("%llu %llu %d\n", counter, draws,
	       lottery_mutex_holder(mutex) == LOTTERY_MUTEX_NOBODY);
	free(mutex);
	return 0;
}
