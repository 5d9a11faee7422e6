// SPDX-License-Identifier: GPL-2.0
/* progress.c - how far hogs with work of their own have come, look by look. */
#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "progress.h"

#define LOOK_MS_MAX	60000U

/* To start, to exit: far above what a slow machine needs. */
#define WAIT_NS		(60 * NSEC_PER_SEC)

u32 seconds_argument(const char *text)
{
	return (u32)args_number("--seconds", text, 2, 3600);
}

u32 look_argument(const char *text)
{
	return (u32)args_number("--look-ms", text, 10, LOOK_MS_MAX);
}

unsigned int progress_last(const struct progress *p)
{
	return p->seconds * 1000 / p->look_ms;
}

void progress_check(const struct progress *p)
{
	if (progress_last(p) < 2)
		die(EXIT_USAGE, "--look-ms: bad value '%u': allowed is half of the %u s at most",
		    p->look_ms, p->seconds);
}

void progress_start(struct progress *p, unsigned int count, CREW_FN((*fn)), const void *arg,
		    const u32 *tickets)
{
	unsigned int i;

	lottery_require();
	pin_to_cpu(p->cpu);
	become_launcher(LAUNCHER_PRIORITY);
	crew_create(&p->crew, count);
	for (i = 0; i < count; i++) {
		store(&p->crew.page->slot[i].rest, 1);
		crew_fork(&p->crew, fn, arg);
	}
	crew_gather(&p->crew, WAIT_NS);
	for (i = 0; i < count; i++)
		crew_enlist(&p->crew, i, tickets[i], 0);
	crew_release(&p->crew);
}

void progress_run(struct progress *p, progress_look *at, const void *arg)
{
	unsigned int look, last = progress_last(p);
	u64 begin = now_ns();

	for (look = 0; look <= last; look++) {
		u64 ms = (u64)look * p->look_ms;

		sleep_until_ns(begin + ms * NSEC_PER_MSEC);
		at(p, look, ms, arg);
	}
}

bool progress_end(struct progress *p)
{
	unsigned int lost = crew_stop(&p->crew, WAIT_NS);

	crew_destroy(&p->crew);
	if (lost)
		complain("%u tasks did not exit", lost);
	return !lost;
}
