// SPDX-License-Identifier: GPL-2.0
/* stalls.c - the kernel's trace of sleeping and waking, made into waits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "files.h"
#include "stalls.h"
#include "tracefs.h"

#define ROOM_STEP	64U

struct stalls {
	void (*report)(const struct stall *stall, void *arg);
	void *arg;
	struct stall *task;	/* begin_ns is 0 while it does not wait */
	unsigned int count;
	unsigned int room;
	struct stall *stack_of;	/* whose stack the next lines may be, NULL: no task's */
	bool in_stack;
	u64 lost;
};

struct stalls *stalls_new(void (*report)(const struct stall *stall, void *arg), void *arg)
{
	struct stalls *s = xcalloc(1, sizeof(*s));

	s->report = report;
	s->arg = arg;
	return s;
}

void stalls_free(struct stalls *s)
{
	free(s->task);
	free(s);
}

static struct stall *find(struct stalls *s, long tid)
{
	unsigned int i;

	for (i = 0; i < s->count; i++)
		if (s->task[i].tid == tid)
			return &s->task[i];
	return NULL;
}

void stalls_follow(struct stalls *s, pid_t tid)
{
	struct stall *task = find(s, tid);

	if (task) {
		*task = (struct stall){ .tid = tid };	/* a number that came again */
		return;
	}
	if (s->count == s->room) {
		s->room += ROOM_STEP;
		s->stack_of = NULL;
		s->task = xrealloc(s->task, s->room * sizeof(*s->task));
	}
	s->task[s->count++] = (struct stall){ .tid = tid };
}

u64 stalls_lost(const struct stalls *s)
{
	return s->lost;
}

/* "   comm-pid   [000]" at the start of the line. */
static void copy_current(char *to, size_t size, const char *line)
{
	const char *end = strstr(line, " [");

	line += strspn(line, " ");
	while (end && end > line && end[-1] == ' ')
		end--;
	snprintf(to, size, "%.*s", end && end > line ? (int)(end - line) : 0, line);
}

static void copy_comm(char to[COMM_MAX], const char *comm, const char *end)
{
	int length = end && end > comm ? (int)(end - comm) : 0;

	snprintf(to, COMM_MAX, "%.*s", length < (int)COMM_MAX ? length : (int)COMM_MAX - 1, comm);
}

static void goes_to_sleep(struct stalls *s, struct stall *task, const char *fields, u64 now)
{
	const char *state = strstr(fields, " prev_state=");
	pid_t tid = task->tid;

	/* preempted, or dead */
	if (!state || strchr("RXZ", state[strlen(" prev_state=")]))
		return;
	*task = (struct stall){
		.tid = tid,
		.state = state[strlen(" prev_state=")],
		.begin_ns = now,
	};
	copy_comm(task->comm, fields + strlen("prev_comm="), strstr(fields, " prev_pid="));
	s->stack_of = task;
}

static void runs_again(struct stalls *s, struct stall *task, u64 now)
{
	if (!task->begin_ns)
		return;
	task->end_ns = now;
	s->report(task, s->arg);
	task->begin_ns = 0;
}

void stalls_finish(struct stalls *s, u64 now)
{
	unsigned int i;

	for (i = 0; i < s->count; i++)
		runs_again(s, &s->task[i], now);
}

static void is_woken(struct stall *task, const char *line, u64 now)
{
	if (!task->begin_ns || task->woken_ns)
		return;
	task->woken_ns = now;
	copy_current(task->waker, sizeof(task->waker), line);
}

static void event(struct stalls *s, const char *line)
{
	const char *fields;
	struct stall *task;
	u64 now;

	fields = trace_fields(line, ": sched_switch:", &now);
	if (fields) {
		task = find(s, trace_number(fields, " next_pid="));
		if (task)
			runs_again(s, task, now);
		task = find(s, trace_number(fields, " prev_pid="));
		if (task)
			goes_to_sleep(s, task, fields, now);
		return;
	}
	fields = trace_fields(line, ": sched_waking:", &now);
	if (fields) {
		task = find(s, trace_number(fields, " pid="));
		if (task)
			is_woken(task, line, now);
		return;
	}
	fields = trace_fields(line, ": sched_process_fork:", &now);
	if (fields && find(s, trace_number(fields, " pid=")))
		stalls_follow(s, (pid_t)trace_number(fields, " child_pid="));
}

/* The innermost functions are those that made the trace. */
static bool of_trace(const char *name)
{
	return !strncmp(name, "trace_event_", strlen("trace_event_")) ||
	       !strncmp(name, "__traceiter_", strlen("__traceiter_"));
}

static void add_function(struct stall *task, const char *name)
{
	size_t used = strlen(task->stack);
	int length = (int)strcspn(name, " ");	/* trace-cmd says where it is, too */

	snprintf(task->stack + used, sizeof(task->stack) - used, "%s%.*s", used ? "\n" : "",
		 length, name);
}

void stalls_line(struct stalls *s, const char *line)
{
	const char *name = line + strspn(line, " ");

	if (!strncmp(name, "=> ", 3)) {
		if (s->in_stack && s->stack_of && !of_trace(name + 3))
			add_function(s->stack_of, name + 3);
		return;
	}
	s->in_stack = strstr(line, " <stack trace");
	if (s->in_stack)
		return;
	s->stack_of = NULL;
	if (!trace_loses(line, &s->lost))
		event(s, line);
}
