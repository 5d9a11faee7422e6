// SPDX-License-Identifier: GPL-2.0
/* interrupt.c - SIGINT and SIGTERM end a run early. */
#include "interrupt.h"

#include <signal.h>

#include "clock.h"
#include "futex.h"
#include "memory.h"

/* A process that was not sent the signal itself looks this often. */
#define SLICE_NS	(20 * NSEC_PER_MSEC)

/* Shared: a signal to the launcher alone stops the workers as well. */
static u32 *flag;

static void note(int signal)
{
	(void)signal;
	store(flag, 1);
}

void interrupt_watch(void)
{
	struct sigaction act = { .sa_handler = note, .sa_flags = SA_RESTART };

	flag = xshared(sizeof(*flag));
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

bool interrupted(void)
{
	return load(flag);
}

bool sleep_or_interrupt(u64 when_ns)
{
	u64 now = now_ns();

	/* the last part is slept in one go, so that it ends on time */
	while (now + 2 * SLICE_NS < when_ns && !interrupted()) {
		sleep_until_ns(now + SLICE_NS);
		now = now_ns();
	}
	if (interrupted())
		return false;
	sleep_until_ns(when_ns);
	return true;
}
