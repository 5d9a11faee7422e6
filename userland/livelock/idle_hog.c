// SPDX-License-Identifier: GPL-2.0
/* idle_hog.c - a hog that takes only what no other process wants of the CPU. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "idle_hog.h"

static pid_t idler;		/* 0: it does not exist */

void idle_hog_become(void)
{
	struct sched_param param = { };

	if (sched_setscheduler(0, SCHED_IDLE, &param))
		die(EXIT_FAILED, "SCHED_IDLE: %s", strerror(errno));
}

void idle_hog_start(void)
{
	idler = fork_child();
	if (idler)
		return;
	idle_hog_become();
	for (;;)
		spin_a_little();
}

void idle_hog_pause(void)
{
	if (idler && (kill(idler, SIGSTOP) || waitpid(idler, NULL, WUNTRACED) != idler))
		die(EXIT_FAILED, "the idle hog does not stop: %s", strerror(errno));
}

void idle_hog_resume(void)
{
	if (idler && kill(idler, SIGCONT))
		die(EXIT_FAILED, "the idle hog does not continue: %s", strerror(errno));
}
