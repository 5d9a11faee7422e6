// SPDX-License-Identifier: GPL-2.0
/* run_trace.c - wrais-run: a window of the kernel's trace goes into a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "files.h"
#include "procfs.h"
#include "run.h"
#include "tracefs.h"

static bool wanted(const struct run_options *o)
{
	return o->tracer || o->trace_events;
}

void trace_list(void)
{
	char text[1024];

	tracefs_require();
	tracefs_read(NULL, "available_tracers", text, sizeof(text));
	fputs(text, stdout);
}

static void enable_events(const char *list)
{
	char *copy = xstrdup(list), *word, *rest;

	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		tracefs_append(NULL, "set_event", word);
	free(copy);
}

void trace_setup(const struct run_options *o)
{
	char number[32];

	if (!wanted(o))
		return;
	tracefs_require();
	tracefs_write(NULL, "tracing_on", "0");
	tracefs_write(NULL, "current_tracer", "nop");
	tracefs_write(NULL, "set_event", "");
	snprintf(number, sizeof(number), "%llu", o->trace_kib);
	tracefs_write(NULL, "buffer_size_kb", number);
	if (o->trace_filter)
		tracefs_write(NULL, "set_ftrace_filter", o->trace_filter);
	if (o->tracer)
		tracefs_write(NULL, "current_tracer", o->tracer);
	if (o->trace_events)
		enable_events(o->trace_events);
}

/* What the block tracer shows is switched at the disk. */
static void switch_disk(const struct run_options *o, bool on)
{
	char path[256];
	int error;

	if (!o->tracer || strcmp(o->tracer, "blk"))
		return;
	snprintf(path, sizeof(path), "/sys/block/%s/trace/enable", o->disk);
	error = write_text(path, on ? "1" : "0");
	if (error)
		die(EXIT_FAILED, "%s: %s", path, strerror(-error));
}

static int window(const struct run_options *o, u32 repeat, u64 begin_ns)
{
	char to[PATH_MAX];

	sleep_until_ns(begin_ns + o->trace_start_ms * NSEC_PER_MSEC);
	tracefs_write(NULL, "trace", "");
	switch_disk(o, true);
	tracefs_write(NULL, "tracing_on", "1");
	sleep_until_ns(begin_ns + (o->trace_start_ms + o->trace_stop_ms) * NSEC_PER_MSEC);
	tracefs_write(NULL, "tracing_on", "0");
	switch_disk(o, false);
	if (snprintf(to, sizeof(to), "%s.%u", o->trace_file, repeat) >= (int)sizeof(to))
		die(EXIT_FAILED, "--trace-file: the name is too long");
	tracefs_copy("trace", to);
	return EXIT_GOOD;
}

pid_t trace_start(const struct run_options *o, u32 repeat)
{
	u64 begin = now_ns();
	pid_t self = getpid(), pid;

	if (!wanted(o))
		return 0;
	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	if (!pid) {
		die_with_parent(self);
		_exit(window(o, repeat, begin));
	}
	return pid;
}

void trace_finish(const struct run_options *o, pid_t pid)
{
	int status;

	if (!pid)
		return;
	if (waitpid(pid, &status, 0) != pid || status)
		die(EXIT_FAILED, "the trace did not reach %s", o->trace_file);
}
