// SPDX-License-Identifier: GPL-2.0
/* verb_stalls.c - wrais stalls: every wait of a task over a threshold, with its kernel stack. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "diskfile.h"
#include "json.h"
#include "opts.h"
#include "procfs.h"
#include "stalls.h"
#include "tracefs.h"
#include "verbs.h"

#define THREADS_MAX	4096U

/* The kernel's buffer lasts longer than this between two looks. */
#define LOOK_MS		100

struct watch {
	u64 threshold_ns;
	u64 deadline_ns;	/* ~0: none */
	bool all;
	bool json;
	pid_t pid;		/* 0 for a command */
	const char *trace;	/* NULL: the kernel's, now */
	u64 count;
	u64 longest_ns;
	u64 sum_ns;
	struct stalls *stalls;
	char instance[32];
	int pipe;		/* of the trace */
	char line[TRACE_LINE_MAX];	/* the start of the next line */
	size_t used;
};

static struct watch watch = { .pipe = -1 };
static pid_t main_pid;
static u64 seconds;

static const struct opt rows[] = {
	OPT('t', "--threshold", "MS", SCALED(watch.threshold_ns, 0, 3600000, 300, NSEC_PER_MSEC),
	    "report waits of more than MS (%d)"),
	OPT('p', "--pid", "PID", NUMBER(watch.pid, 1, 1 << 30, 0),
	    "a process with all its threads, instead of a command"),
	OPT('a', "--all-tasks", NULL, FLAG(watch.all), "interruptible waits, too"),
	OPT(0, "--seconds", "S", NUMBER(seconds, 1, 86400, 0), "stop after S"),
	OPT(0, "--trace", "FILE", TEXT(watch.trace, NULL),
	    "of what trace-cmd report printed into FILE, - for stdin"),
	OPT(0, "--json", NULL, FLAG(watch.json), "one JSON object a line"),
	{ }
};

const struct opts stalls_opts = {
	.name = "stalls",
	.operand = "COMMAND",
	.rows = rows,
	.command = true,
	.whole = &wrais_opts,
};

static void parse(int argc, char **argv, const struct watch *w)
{
	opts_parse(&stalls_opts, argc, argv);
	if (w->pid)
		args_no_more(argc, argv, optind);
	else if (w->trace)
		die(EXIT_USAGE, "--trace: -p PID says whose waits, try --help");
	else if (optind == argc)
		die(EXIT_USAGE, "-p PID or a command is missing, try --help");
}

static void show_json(const struct stall *stall, double ms)
{
	char stack[STACK_MAX], *c;

	snprintf(stack, sizeof(stack), "%s", stall->stack);
	for (c = stack; *c; c++)
		if (*c == '\n')
			*c = ';';
	json_open();
	json_number("pid", (u64)stall->tid);
	json_text("comm", stall->comm);
	json_text("state", (char []){ stall->state, '\0' });
	json_seconds("at_s", stall->begin_ns);
	json_real("ms", ms);
	json_text("waker", stall->waker);
	json_text("stack", stack);
	json_close();
}

static void show_table(const struct stall *stall, double ms)
{
	const char *name = stall->stack;

	printf("%s (pid %d) waited %.1f ms in state %c, at %.6f s%s%s\n", stall->comm, stall->tid,
	       ms, stall->state, (double)stall->begin_ns / NSEC_PER_SEC,
	       stall->waker[0] ? ", woken by " : "", stall->waker);
	while (*name) {
		int length = (int)strcspn(name, "\n");

		printf("        %.*s\n", length, name);
		name += length + (name[length] == '\n');
	}
	finish_output();
}

static void report(const struct stall *stall, void *arg)
{
	struct watch *w = arg;
	u64 ns = stall->end_ns - stall->begin_ns;
	double ms = (double)ns / NSEC_PER_MSEC;

	if (ns <= w->threshold_ns || (!w->all && stall->state != 'D'))
		return;
	w->count++;
	w->sum_ns += ns;
	if (ns > w->longest_ns)
		w->longest_ns = ns;
	if (w->json)
		show_json(stall, ms);
	else
		show_table(stall, ms);
}

static void instance_dir(char path[128])
{
	snprintf(path, 128, TRACEFS "/instances/%s", watch.instance);
}

/* Also when the program gives up; an instance costs the kernel a buffer. */
static void remove_instance(void)
{
	char path[128];

	if (getpid() != main_pid)
		return;
	if (watch.pipe >= 0)
		close(watch.pipe);
	instance_dir(path);
	if (rmdir(path))
		complain("cannot remove %s: %s", path, strerror(errno));
}

static void make_instance(struct watch *w)
{
	char path[128];

	tracefs_require();
	main_pid = getpid();
	snprintf(w->instance, sizeof(w->instance), "wrais-%d", main_pid);
	instance_dir(path);
	if (mkdir(path, 0700))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	atexit(remove_instance);
	tracefs_write(w->instance, "trace_clock", "mono");
	tracefs_write(w->instance, "options/stacktrace", "1");
	tracefs_write(w->instance, "options/event-fork", "1");
}

static void follow(struct watch *w, pid_t tid)
{
	char number[32];

	snprintf(number, sizeof(number), "%d", tid);
	tracefs_append(w->instance, "set_event_pid", number);
	stalls_follow(w->stalls, tid);
}

static void follow_threads(struct watch *w)
{
	static pid_t tids[THREADS_MAX];
	int i, count = read_threads(w->pid, tids, THREADS_MAX);

	if (count < 0)
		die(EXIT_FAILED, "pid %d: no such process", w->pid);
	if (count > (int)THREADS_MAX)
		die(EXIT_FAILED, "pid %d: more than %u threads", w->pid, THREADS_MAX);
	for (i = 0; i < count; i++)
		follow(w, tids[i]);
}

static void start_events(struct watch *w)
{
	char path[256];

	tracefs_write(w->instance, "events/sched/sched_switch/enable", "1");
	tracefs_write(w->instance, "events/sched/sched_waking/enable", "1");
	tracefs_write(w->instance, "events/sched/sched_process_fork/enable", "1");
	tracefs_path(path, sizeof(path), w->instance, "trace_pipe");
	w->pipe = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (w->pipe < 0)
		die(EXIT_FAILED, "%s: %s", path, strerror(errno));
}

static void take(struct watch *w, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		if (text[i] != '\n') {
			if (w->used < sizeof(w->line) - 1)
				w->line[w->used++] = text[i];
			continue;
		}
		w->line[w->used] = '\0';
		w->used = 0;
		stalls_line(w->stalls, w->line);
	}
}

/* Take what is in the buffer. */
static void drain(struct watch *w)
{
	static char text[65536];
	ssize_t got;

	while ((got = read(w->pipe, text, sizeof(text))) > 0)
		take(w, text, (size_t)got);
	if (got < 0 && errno != EAGAIN && errno != EINTR)
		die(EXIT_FAILED, "the trace: %s", strerror(errno));
}

static int stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	signal(SIGPIPE, SIG_IGN);	/* an error of the output, not the end */
	return signalfd(-1, &set, SFD_CLOEXEC);
}

/* The command waits at the end of @gate until it is followed. */
static pid_t start_command(char **command, int *gate)
{
	pid_t self = getpid(), pid;
	int ends[2];
	char byte;

	if (pipe2(ends, O_CLOEXEC))
		die(EXIT_FAILED, "no pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	if (!pid) {
		die_with_parent(self);
		close(ends[1]);
		if (read(ends[0], &byte, 1) != 0)
			_exit(EXIT_FAILED);
		become(command);
	}
	close(ends[0]);
	*gate = ends[1];
	return pid;
}

/* Until the task ends, the time is over, or a signal comes. */
static void observe(struct watch *w, pid_t pid, int stop)
{
	struct pollfd polled[] = {
		{ .fd = (int)syscall(SYS_pidfd_open, pid, 0), .events = POLLIN },
		{ .fd = stop, .events = POLLIN },
	};

	if (polled[0].fd < 0)
		die(EXIT_FAILED, "pid %d: %s", pid, strerror(errno));
	do {
		if (poll(polled, ARRAY_SIZE(polled), LOOK_MS) < 0)
			die(EXIT_FAILED, "poll: %s", strerror(errno));
		drain(w);
	} while (!polled[0].revents && !polled[1].revents && now_ns() < w->deadline_ns);
	drain(w);
	stalls_finish(w->stalls, now_ns());
	close(polled[0].fd);
}

static void summary(const struct watch *w)
{
	trace_complain(stalls_lost(w->stalls));
	if (!w->json)
		printf("%llu waits over %llu ms, %.1f ms in all, the longest %.1f ms\n",
		       w->count, w->threshold_ns / NSEC_PER_MSEC,
		       (double)w->sum_ns / NSEC_PER_MSEC, (double)w->longest_ns / NSEC_PER_MSEC);
	finish_output();
}

/* What the command returned, as a shell says it. */
static int end_command(pid_t pid)
{
	int status;

	if (waitpid(pid, &status, WNOHANG) != pid) {
		kill(pid, SIGTERM);
		if (waitpid(pid, &status, 0) != pid)
			return EXIT_FAILED;
	}
	return exit_code_of(status);
}

static void take_line(void *arg, const char *line)
{
	stalls_line(arg, line);
}

/* Read a recording, by any user or tool, as trace-cmd report prints it. */
static int from_trace(struct watch *w)
{
	stalls_follow(w->stalls, w->pid);
	trace_read(w->trace, take_line, w->stalls);
	summary(w);
	stalls_free(w->stalls);
	return EXIT_GOOD;
}

int verb_stalls(int argc, char **argv)
{
	struct watch *w = &watch;
	int stop, gate = -1, code = EXIT_GOOD;
	pid_t pid;

	parse(argc, argv, w);
	pid = w->pid;
	w->stalls = stalls_new(report, w);
	if (w->trace)
		return from_trace(w);
	make_instance(w);
	if (pid) {
		follow_threads(w);
	} else {
		pid = start_command(argv + optind, &gate);
		follow(w, pid);
	}
	stop = stop_signals();
	start_events(w);
	w->deadline_ns = seconds ? now_ns() + seconds * NSEC_PER_SEC : ~0ULL;
	if (gate >= 0)
		close(gate);
	observe(w, pid, stop);
	if (gate >= 0)
		code = end_command(pid);
	summary(w);
	stalls_free(w->stalls);
	return code;
}
