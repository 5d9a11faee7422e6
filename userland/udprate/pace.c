// SPDX-License-Identifier: GPL-2.0
/* pace.c - when to go to sleep until, so as to be awake in time. */
#include "pace.h"

/* Nine of ten deadlines shall be met: a miss weighs nine times a hit. */
#define STEP_NS		100U
#define MISS_WEIGHT	9U

void pace_init(struct pace *p, u64 spin_ns)
{
	*p = (struct pace){ .spin_ns = spin_ns };
}

u64 pace_auto_spin(u64 period_ns)
{
	u64 part = period_ns / SPIN_AUTO_PART;

	return part < SPIN_AUTO_NS ? part : SPIN_AUTO_NS;
}

u64 pace_sleep_until(struct pace *p, u64 due_ns)
{
	p->woken_ns = due_ns > p->early_ns ? due_ns - p->early_ns : 0;
	return p->woken_ns;
}

/* The quantile of the wake-up's delay that is missed as seldom as wanted. */
void pace_woke(struct pace *p, u64 now_ns)
{
	u64 late = now_ns > p->woken_ns ? now_ns - p->woken_ns : 0;

	if (late > p->early_ns)
		p->early_ns += MISS_WEIGHT * STEP_NS;
	else
		p->early_ns -= p->early_ns < STEP_NS ? p->early_ns : STEP_NS;
	if (p->early_ns > p->spin_ns)
		p->early_ns = p->spin_ns;
}
