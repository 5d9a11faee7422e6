// SPDX-License-Identifier: GPL-2.0
/* filler.c - a process that takes what nobody else wants of the CPU. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "args.h"
#include "crew.h"
#include "filler.h"
#include "work.h"

static pid_t filler;		/* 0: there is none */

void filler_start(void)
{
	struct sched_param param = { };

	filler = fork_child();
	if (filler)
		return;
	if (sched_setscheduler(0, SCHED_IDLE, &param))
		die(EXIT_FAILED, "SCHED_IDLE: %s", strerror(errno));
	for (;;)
		spin_a_little();
}

void filler_pause(void)
{
	if (filler && (kill(filler, SIGSTOP) || waitpid(filler, NULL, WUNTRACED) != filler))
		die(EXIT_FAILED, "the filler does not stop: %s", strerror(errno));
}

void filler_resume(void)
{
	if (filler && kill(filler, SIGCONT))
		die(EXIT_FAILED, "the filler does not continue: %s", strerror(errno));
}
