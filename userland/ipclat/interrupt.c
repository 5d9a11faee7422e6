// SPDX-License-Identifier: GPL-2.0
/* interrupt.c - requests to end wait until what has been made is removed again. */
#include <signal.h>
#include <sys/wait.h>

#include "clock.h"
#include "interrupt.h"

static sigset_t held, before;
static bool holding;
static int request;

void hold_interrupts(void)
{
	static const int numbers[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
	unsigned int i;

	sigemptyset(&held);
	sigaddset(&held, SIGCHLD);
	for (i = 0; i < ARRAY_SIZE(numbers); i++) {
		struct sigaction action;

		/* nohup: a signal that is held would be seen although it is ignored */
		if (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&held, numbers[i]);
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

bool interrupted(void)
{
	return request;
}

int wait_for_child(pid_t pid, u64 deadline_ns)
{
	int status;

	for (;;) {
		if (waitpid(pid, &status, WNOHANG) == pid)
			return status;
		if (request || now_ns() >= deadline_ns)
			return -1;
		await_signal(deadline_ns);
	}
}

void end_interrupts(void)
{
	if (request) {
		signal(request, SIG_DFL);
		raise(request);
	}
	release_interrupts();
}
