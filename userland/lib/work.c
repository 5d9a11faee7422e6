// SPDX-License-Identifier: GPL-2.0
/* work.c - compute-bound work measured in CPU time. */
#include "clock.h"
#include "work.h"

#define SPIN_ROUNDS	500

void spin_a_little(void)
{
	unsigned int i;

	for (i = 0; i < SPIN_ROUNDS; i++)
		asm volatile("" : "+r"(i));
}

void work_begin(struct work_watch *w)
{
	w->look_ns = thread_cpu_ns();
	w->work_ns = 0;
}

void work_look(struct work_watch *w)
{
	u64 now = thread_cpu_ns(), step = now - w->look_ns;

	w->work_ns += work_of_step(step);
	w->look_ns = now;
}

void work_for_ns(u64 ns)
{
	struct work_watch watch;

	work_begin(&watch);
	while (watch.work_ns < ns) {
		spin_a_little();
		work_look(&watch);
	}
}
