// SPDX-License-Identifier: GPL-2.0
/*
 * Start a program, listen to it, end it with all it left behind
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "diskfile.h"
#include "init.h"
#include "procfs.h"
#include "protocol.h"

/* A program that says more than this has gone mad. */
#define OUTPUT_MAX	(16UL << 20)
/* How long a killed process may take to go away. */
#define KILL_WAIT_NS	(10 * NSEC_PER_SEC)

enum { FD_CHILD, FD_OUT, FD_ERR, NR_FDS };

struct run {
	const struct program *program;
	pid_t pid;
	bool ended;
	bool merge;
	int out;
	int err;
	size_t out_bytes;
	output_fn output;
	struct lines lines;
	struct outcome *outcome;
};

static int child_signal = -1;

int process_init(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	child_signal = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return child_signal < 0 ? -errno : 0;
}

static void unblock_signals(void)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void __noreturn child(const struct program *program, int out, int err)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	dup2(null, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	unblock_signals();
	if (program->argv[0][0] == '@')
		builtin_run(program->argv);
	become(program->argv);
}

/* Returns 0 with the two reading ends in @run, or -errno. */
static int run_start(struct run *run)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 };
	int error;

	run->pid = -1;
	if (!pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC))
		run->pid = fork();
	if (!run->pid)
		child(run->program, out[1], run->merge ? out[1] : err[1]);
	error = run->pid < 0 ? -errno : 0;
	close(out[1]);
	close(err[1]);
	if (error) {
		close(out[0]);
		close(err[0]);
		return error;
	}
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	run->out = out[0];
	run->err = err[0];
	return 0;
}

/* Pass on what a pipe holds. Returns as read(2): 0 at the end, -1 if empty. */
static ssize_t run_read(struct run *run, int fd)
{
	static char chunk[65536];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n <= 0)
		return n;
	if (fd == run->err) {
		lines_feed(&run->lines, chunk, n);
		return n;
	}
	run->out_bytes += n;
	if (!run->merge && run->out_bytes > OUTPUT_MAX)
		run->outcome->flooded = true;
	else
		run->output(chunk, n);
	return n;
}

/* Reap whatever has ended: as PID 1 we inherit every orphan. */
static int reap(struct run *run)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != run->pid)
			continue;
		run->ended = true;
		run->outcome->status = status;
	}
	return pid < 0 ? -errno : 0;
}

static void child_signal_clear(void)
{
	struct signalfd_siginfo info;

	while (read(child_signal, &info, sizeof(info)) > 0)
		;
}

static int poll_timeout(u64 deadline)
{
	u64 now = now_ns();

	if (!deadline)
		return -1;
	return now >= deadline ? 0 : (int)((deadline - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
}

static void run_listen(struct run *run)
{
	u64 deadline = 0;
	struct pollfd fds[NR_FDS] = {
		[FD_CHILD] = { .fd = child_signal, .events = POLLIN },
		[FD_OUT] = { .fd = run->out, .events = POLLIN },
		[FD_ERR] = { .fd = run->err, .events = POLLIN },
	};

	if (run->program->timeout_s)
		deadline = now_ns() + run->program->timeout_s * NSEC_PER_SEC;
	while (!run->ended) {
		if (poll(fds, NR_FDS, poll_timeout(deadline)) < 0 && errno != EINTR)
			return;
		for (int i = FD_OUT; i < NR_FDS; i++)
			if (fds[i].revents && run_read(run, fds[i].fd) == 0)
				fds[i].fd = -1;
		if (fds[FD_CHILD].revents) {
			child_signal_clear();
			reap(run);
		}
		if (!run->ended && deadline && now_ns() >= deadline) {
			run->outcome->timed_out = true;
			return;
		}
	}
}

static bool none_left(void *arg)
{
	struct run *run = arg;

	/* Again each time: one may have been forked behind the last signal. */
	kill(-1, SIGKILL);
	return reap(run) == -ECHILD;
}

/*
 * For the reader of the console log: what waits for what, then every task and
 * run queue, since a task that was lost waits for nothing; and the timers, since one that
 * sleeps for a while may wait for a clock that has stopped.
 */
static void explain_hang(const struct run *run)
{
	log_line("timeout of %s after %llu s", run->program->name, run->program->timeout_s);
	/* Stacks are of level "info", which the console may not show. */
	write_text("/proc/sys/kernel/printk", "8");
	write_text("/proc/sysrq-trigger", "l");
	write_text("/proc/sysrq-trigger", "w");
	write_text("/proc/sysrq-trigger", "t");
	write_text("/proc/sysrq-trigger", "q");
}

/*
 * Run a program to its end or its deadline. Nothing it started lives on: every
 * process but PID 1 is killed. With @merge standard error joins the output.
 */
void process_run(const struct program *program, bool merge, output_fn output,
		 struct outcome *outcome)
{
	struct run run = {
		.program = program, .merge = merge, .output = output, .outcome = outcome,
	};
	int err;

	memset(outcome, 0, sizeof(*outcome));
	err = run_start(&run);
	if (err) {
		outcome->status = EXIT_NOT_EXECUTABLE << 8;
		snprintf(outcome->last_error, sizeof(outcome->last_error),
			 "cannot start: %s", strerror(-err));
		return;
	}
	run_listen(&run);
	if (outcome->timed_out)
		explain_hang(&run);
	outcome->survivors = !wait_until(none_left, &run, KILL_WAIT_NS);
	child_signal_clear();
	while (run_read(&run, run.out) > 0)
		;
	while (run_read(&run, run.err) > 0)
		;
	lines_end(&run.lines);
	memcpy(outcome->last_error, run.lines.last, sizeof(outcome->last_error));
	close(run.out);
	close(run.err);
}

/*
 * The first of the shells that the root image has, on its own terminal. None is a login shell:
 * the profile of the image would set a PATH without our programs.
 */
pid_t process_shell(const char *tty)
{
	static char *const shells[][4] = {
		{ "/bin/bash", "--rcfile", SHELL_START, NULL },
		{ "/bin/sh", NULL },
		{ "/bin/busybox", "sh", NULL },
	};
	pid_t pid = fork();
	int fd;

	if (pid)
		return pid;
	setsid();
	fd = open(tty, O_RDWR | O_CLOEXEC);
	ioctl(fd, TIOCSCTTY, 1);
	dup2(fd, STDIN_FILENO);
	dup2(fd, STDOUT_FILENO);
	dup2(fd, STDERR_FILENO);
	unblock_signals();
	chdir("/root");
	setenv("ENV", SHELL_START, 1);
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		execv(shells[i][0], shells[i]);
	_exit(EXIT_NOT_FOUND);
}

void process_wait_for(pid_t pid)
{
	struct outcome outcome;
	struct run run = { .pid = pid, .outcome = &outcome };
	struct pollfd child = { .fd = child_signal, .events = POLLIN };

	while (!run.ended && reap(&run) != -ECHILD) {
		poll(&child, 1, -1);
		child_signal_clear();
	}
	wait_until(none_left, &run, KILL_WAIT_NS);
}
