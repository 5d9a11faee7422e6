// SPDX-License-Identifier: GPL-2.0
/* target.c - a command to become, or the threads of a process. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "memory.h"
#include "procfs.h"
#include "target.h"

/* Above every thread id: the kernel's PID_MAX_LIMIT. */
#define TID_LIMIT	4194304U

/* Threads of one process that are followed. */
#define THREADS_MAX	65536U

int exit_code_of(int status)
{
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

void become(char **command)
{
	int error;

	finish_output();
	execvp(command[0], command);
	error = errno;
	complain("cannot run %s: %s", command[0], strerror(error));
	exit(error == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE);
}

/* The threads of a process, and which of them have been treated. */
struct threads {
	pid_t pid;
	pid_t *tids;
	u8 *seen;
};

static unsigned int treat_new(struct threads *t, bool (*treat)(const void *arg, pid_t tid),
			      const void *arg)
{
	int i, count = read_threads(t->pid, t->tids, THREADS_MAX);
	unsigned int treated = 0;

	if (count == -ENOENT)
		return 0;
	if (count < 0)
		die(EXIT_FAILED, "pid %d: %s", t->pid, strerror(-count));
	if (count > (int)THREADS_MAX)
		die(EXIT_FAILED, "pid %d: more than %u threads", t->pid, THREADS_MAX);
	for (i = 0; i < count; i++) {
		u32 tid = (u32)t->tids[i];

		if (tid >= TID_LIMIT || t->seen[tid])
			continue;
		t->seen[tid] = 1;
		treated += treat(arg, t->tids[i]);
	}
	return treated;
}

unsigned int each_thread(pid_t pid, bool (*treat)(const void *arg, pid_t tid),
			 const void *arg, bool again)
{
	struct threads t = {
		.pid = pid,
		.tids = xmalloc(THREADS_MAX * sizeof(*t.tids)),
		.seen = xcalloc(TID_LIMIT, sizeof(*t.seen)),
	};
	unsigned int treated, more;

	treated = treat_new(&t, treat, arg);
	while (again && treated && (more = treat_new(&t, treat, arg)))
		treated += more;
	free(t.seen);
	free(t.tids);
	return treated;
}
