// SPDX-License-Identifier: GPL-2.0
/* program.c - other programs: where they are, and running them. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "interrupt.h"
#include "program.h"

#define PATIENCE_NS	(60 * NSEC_PER_SEC)

static void add_list(struct words *w, va_list args)
{
	const char *word;

	while ((word = va_arg(args, const char *))) {
		assert(w->count < WORDS_MAX - 1);
		w->word[w->count++] = word;
	}
	w->word[w->count] = NULL;
}

void add_words(struct words *w, ...)
{
	va_list args;

	va_start(args, w);
	add_list(w, args);
	va_end(args);
}

bool find_program(const char *name, char *path, size_t size)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name) < (int)size && !access(path, X_OK);
	for (at = at ? at : "/usr/sbin:/usr/bin:/sbin:/bin"; *at;) {
		size_t length = strcspn(at, ":");

		if (snprintf(path, size, "%.*s/%s", (int)length, at, name) < (int)size &&
		    !access(path, X_OK))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

/* Where -1 is, it stays as it is. */
static pid_t start(const struct words *w, int out, int err)
{
	char path[PATH_SIZE];
	pid_t pid = fork_child();

	if (pid)
		return pid;
	release_interrupts();
	setsid();
	if ((out >= 0 && dup2(out, STDOUT_FILENO) < 0) ||
	    (err >= 0 && dup2(err, STDERR_FILENO) < 0))
		_exit(127);
	if (find_program(w->word[0], path, sizeof(path)))
		execv(path, (char *const *)w->word);
	_exit(127);
}

static int nowhere(void)
{
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static int finish(pid_t pid)
{
	int status = wait_child(pid, now_ns() + PATIENCE_NS);

	if (status != -1)
		return status;
	kill(pid, SIGKILL);
	wait_child(pid, now_ns() + PATIENCE_NS);
	return -1;
}

int call(const char *program, ...)
{
	struct words w = { { program }, 1 };
	va_list args;

	va_start(args, program);
	add_list(&w, args);
	va_end(args);
	return finish(start(&w, -1, -1));
}

int call_quietly(const char *program, ...)
{
	struct words w = { { program }, 1 };
	int dropped = nowhere(), status;
	va_list args;

	va_start(args, program);
	add_list(&w, args);
	va_end(args);
	status = finish(start(&w, dropped, dropped));
	close(dropped);
	return status;
}

int ask(char *answer, size_t size, const char *program, ...)
{
	int pipes[2], dropped = nowhere(), status;
	struct words w = { { program }, 1 };
	va_list args;
	ssize_t got;
	pid_t pid;

	va_start(args, program);
	add_list(&w, args);
	va_end(args);
	if (pipe2(pipes, O_CLOEXEC))
		die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	pid = start(&w, pipes[1], dropped);
	close(pipes[1]);
	close(dropped);
	/* it is short: the pipe holds all of it */
	status = finish(pid);
	got = status ? 0 : read(pipes[0], answer, size - 1);
	answer[got > 0 ? got : 0] = '\0';
	close(pipes[0]);
	return status;
}
