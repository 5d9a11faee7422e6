// SPDX-License-Identifier: GPL-2.0
/* load.c - CPU-bound company for what is measured. */
#include "hog.h"
#include "load.h"
#include "lottery_sched.h"

#define WAIT_NS		(60 * NSEC_PER_SEC)

void load_start(struct crew *crew, u32 hogs, u32 tickets)
{
	u32 i;

	*crew = (struct crew){ 0 };
	if (!hogs)
		return;
	if (tickets) {
		lottery_require();
		become_launcher(LAUNCHER_PRIORITY);
	}
	crew_create(crew, hogs);
	for (i = 0; i < hogs; i++)
		crew_fork(crew, hog, NULL);
	crew_gather(crew, WAIT_NS);
	for (i = 0; tickets && i < hogs; i++)
		crew_enlist(crew, i, tickets, 0);
	crew_release(crew);
}

void load_stop(struct crew *crew)
{
	if (crew->page)
		crew_destroy(crew);
}
