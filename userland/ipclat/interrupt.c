// SPDX-License-Identifier: GPL-2.0
/* interrupt.c - requests to end wait until what has been made is removed again. */
#include <signal.h>

#include "clock.h"
#include "interrupt.h"

static const int requests[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };

static sigset_t held, before;
static bool holding;
static int request;

void hold_interrupts(void)
{
	unsigned int i;

	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	for (i = 0; i < ARRAY_SIZE(requests); i++) {
		struct sigaction action;

		/* nohup: a signal that is held would be seen although it is ignored */
		if (!sigaction(requests[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&held, requests[i]);
	}
	sigprocmask(SIG_BLOCK, &held, &before);
	holding = true;
}

void release_interrupts(void)
{
	if (holding)
		sigprocmask(SIG_SETMASK, &before, NULL);
	holding = false;
}

void await_signal(u64 deadline_ns)
{
	u64 now = now_ns();
	struct timespec left = timespec_of(deadline_ns > now ? deadline_ns - now : 0);
	int number = sigtimedwait(&held, NULL, &left);

	if (number > 0 && number != SIGCHLD)
		request = number;
}

/* 0 when there is none. */
static int pending_request(const sigset_t *pending)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (sigismember(&held, requests[i]) && sigismember(pending, requests[i]))
			return requests[i];
	return 0;
}

bool interrupted(void)
{
	sigset_t waiting;

	/* children that a terminal's Ctrl-C ended may be seen before it is */
	if (!request && !sigpending(&waiting) && pending_request(&waiting))
		request = pending_request(&waiting);
	return request;
}

void end_interrupts(void)
{
	if (request) {
		signal(request, SIG_DFL);
		raise(request);
	}
	release_interrupts();
}
