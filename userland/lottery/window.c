// SPDX-License-Identifier: GPL-2.0
/* window.c - CPU time in quanta (wins) against tickets. */
#include <math.h>

#include "bench.h"
#include "clock.h"
#include "crew.h"
#include "lottery_sched.h"
#include "window.h"

/* Begin (@sign is 1 below 0) or end to count what all have. */
static void look(struct window *w, u64 sign)
{
	unsigned int i;

	w->lotteries += sign * lottery_count(bench.cpu);
	for (i = 0; i < w->count; i++) {
		struct player *p = &w->player[i];
		u64 cpu_ns = process_cpu_ns(p->pid);

		p->cpu_ns += sign * cpu_ns;
		p->ran_ns += sign * hog_work_ns(p->slot, cpu_ns);
	}
}

void window_pass(struct window *w, u64 ns)
{
	u64 end = now_ns() + ns;

	look(w, -1ULL);
	sleep_until_ns(end);
	look(w, 1);
}

u64 stalled_ns(const struct player *p)
{
	return p->cpu_ns > p->ran_ns ? p->cpu_ns - p->ran_ns : 0;
}

/* To reckon with: longer where the machine could not keep it. */
static double quantum_of(const struct window *w, u64 stalls_ns)
{
	double kept_ns = lottery_effective_quantum(w->quantum_ns, w->ran_ns, w->lotteries);
	double quantum_ns = (double)w->quantum_ns;

	if (w->awake < 2)
		return quantum_ns;	/* a task that is alone needs no lottery */
	return fmax(stalls_ns > w->ran_ns / 4 ? 2 * quantum_ns : quantum_ns, kept_ns);
}

void window_reckon(struct window *w)
{
	u64 stalls_ns = 0;
	double quantum_ns;
	unsigned int i;

	w->tickets = 0;
	w->ran_ns = 0;
	for (i = 0; i < w->awake; i++) {
		w->tickets += w->player[i].tickets;
		w->ran_ns += w->player[i].ran_ns;
		stalls_ns += stalled_ns(&w->player[i]);
	}
	quantum_ns = quantum_of(w, stalls_ns);
	w->wins = (double)w->ran_ns / quantum_ns;
	for (i = 0; i < w->awake; i++) {
		struct player *p = &w->player[i];
		double share = (double)p->tickets / (double)w->tickets;

		p->wins = (double)p->ran_ns / quantum_ns;
		p->expected = w->wins * share;
		p->variance = p->expected * (1 - share);
		p->sigma_error = p->variance > 0 ?
				 (p->wins - p->expected) / sqrt(p->variance) : 0;
	}
}

bool window_suffices(struct window *w)
{
	unsigned int i;

	window_reckon(w);
	if ((double)w->ran_ns < w->quanta * (double)w->quantum_ns)
		return false;
	for (i = 0; i < w->awake && w->awake > 1; i++)
		if (w->player[i].variance < LOTTERY_VARIANCE_MIN)
			return false;
	return true;
}
