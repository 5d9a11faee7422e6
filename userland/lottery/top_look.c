// SPDX-License-Identifier: GPL-2.0
/* top_look.c - lottery top: find the lottery tasks, and compare two looks at them. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "files.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "top.h"
#include "waterfill.h"

/* A clock and a counter that were read further apart than this are read again. */
#define APART_NS	NSEC_PER_MSEC
#define TRIES		5U

/*
 * CPU time, the time before it, and runs. From schedstat; a kernel without it
 * counts CPU time in the ticks of stat.
 */
static bool read_times(struct top_task *t, pid_t pid, const struct task_stat *stat)
{
	char path[64], text[128];
	unsigned int tries;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, t->tid);
	for (tries = 0; tries < TRIES; tries++) {
		t->read_ns = now_ns();
		if (read_text(path, text, sizeof(text)) < 0)
			snprintf(text, sizeof(text), "0 0 0");
		/* a task below the class may have to wait here */
		if (now_ns() - t->read_ns < APART_NS)
			break;
	}
	if (sscanf(text, "%llu %llu %llu", &t->ran_ns, &t->waited_ns, &t->runs) != 3)
		return false;
	if (!t->ran_ns)
		t->ran_ns = (stat->user_ticks + stat->system_ticks) *
			    (NSEC_PER_SEC / (u64)sysconf(_SC_CLK_TCK));
	return true;
}

/* What @tickets of its currency are worth; themselves where the kernel does not say. */
static u32 read_worth(pid_t pid, pid_t tid, u32 tickets)
{
	static const char field[] = "\nlottery.worth ";
	char path[64], text[8192], *line;
	unsigned int worth;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/sched", pid, tid);
	if (read_text(path, text, sizeof(text)) < 0)
		return tickets;
	line = strstr(text, field);
	return line && sscanf(line + strlen(field), " : %u", &worth) == 1 ? worth : tickets;
}

void copy_printable(char *to, const char *from)
{
	for (; *from; from++)
		*to++ = *from < ' ' || *from > '~' ? '?' : *from;
	*to = '\0';
}

/* False when it is no lottery task, or gone. */
static bool read_task(struct top_task *t, pid_t pid, pid_t tid)
{
	struct lottery_attr attr;
	struct task_stat stat;

	/* one system call, and the only one for the tasks of other classes */
	if (attr_get(tid, &attr) || attr.sched_policy != SCHED_LOTTERY)
		return false;
	if (read_thread_stat(pid, tid, &stat) || strchr("ZXx", stat.state))
		return false;
	*t = (struct top_task){
		.tid = tid,
		.started_ticks = stat.started_ticks,
		.state = stat.state,
		.cpu = stat.cpu,
		.cpus = affinity_of(tid),
		.tickets = attr.sched_tickets ? attr.sched_tickets :
						tickets_of_nice(attr.sched_nice),
		.derived = !attr.sched_tickets,
		.quantum_ns = attr.sched_runtime,
	};
	t->worth = read_worth(pid, tid, t->tickets);
	copy_printable(t->name, stat.name);
	return read_times(t, pid, &stat);
}

static void look_at_task(struct top_look *look, pid_t pid, pid_t tid)
{
	if (look->count == look->room) {
		look->room = look->room ? 2 * look->room : 64;
		look->task = xrealloc(look->task, look->room * sizeof(*look->task));
	}
	if (read_task(&look->task[look->count], pid, tid))
		look->count++;
}

/* The next number that names an entry, 0 at the end. */
static pid_t next_number(DIR *dir)
{
	struct dirent *entry;
	u64 number;

	while ((entry = readdir(dir)))
		if (parse_number(entry->d_name, 1, 1 << 30, &number))
			return (pid_t)number;
	return 0;
}

static void look_at_process(struct top_look *look, pid_t pid)
{
	char path[64];
	pid_t tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return;		/* it is gone */
	while ((tid = next_number(dir)))
		look_at_task(look, pid, tid);
	closedir(dir);
}

void top_look(struct top_look *look)
{
	u64 began_ns = now_ns(), cpu_ns = thread_cpu_ns();
	DIR *dir = opendir("/proc");
	unsigned int tries;
	pid_t pid;

	if (!dir)
		die(EXIT_FAILED, "cannot read /proc");
	for (tries = 0; tries < TRIES; tries++) {
		look->read_ns = now_ns();
		lottery_read(&look->state);
		if (now_ns() - look->read_ns < APART_NS)
			break;
	}
	look->count = 0;
	while ((pid = next_number(dir)))
		look_at_process(look, pid);
	closedir(dir);
	look->ended_ns = now_ns();
	look->waited_ns = look->ended_ns - began_ns - (thread_cpu_ns() - cpu_ns);
}

static int by_tid(const void *a, const void *b)
{
	const struct top_task *one = a, *other = b;

	return (one->tid > other->tid) - (one->tid < other->tid);
}

/* What @t did since it was @old, which is NULL when it was not there. */
static void compare_task(struct top_task *t, const struct top_task *old)
{
	double seconds;

	t->wanted = t->state == 'R';
	if (!old || old->started_ticks != t->started_ticks || old->ran_ns > t->ran_ns ||
	    old->runs > t->runs)
		return;
	seconds = (double)(t->read_ns - old->read_ns) / (double)NSEC_PER_SEC;
	if (seconds <= 0)
		return;
	t->known = true;
	t->wanted |= old->state == 'R' || t->ran_ns > old->ran_ns ||
		     t->waited_ns > old->waited_ns;
	t->got = (double)(t->ran_ns - old->ran_ns) / (double)NSEC_PER_SEC / seconds;
	t->runs_s = (double)(t->runs - old->runs) / seconds;
}

static u64 online(const struct lottery_state *state)
{
	unsigned int i;
	u64 cpus = 0;

	for (i = 0; i < state->cpus; i++)
		if (state->cpu[i].cpu < CPUS_MAX)
			cpus |= BIT_ULL(state->cpu[i].cpu);
	return cpus;
}

static void reckon_due(struct top_look *look)
{
	struct waterfill_task *fill = xcalloc(look->count + 1, sizeof(*fill));
	size_t i;

	for (i = 0; i < look->count; i++) {
		const struct top_task *t = &look->task[i];

		fill[i].cpus = t->cpus;
		fill[i].tickets = t->wanted ? t->worth : 0;
	}
	look->due_known = waterfill(fill, look->count, online(&look->state));
	for (i = 0; i < look->count; i++)
		look->task[i].due = fill[i].share;
	free(fill);
}

void top_compare(struct top_look *look, struct top_look *before)
{
	size_t i;

	if (before->count)
		qsort(before->task, before->count, sizeof(*before->task), by_tid);
	for (i = 0; i < look->count; i++) {
		struct top_task *t = &look->task[i];

		compare_task(t, !before->count ? NULL :
				bsearch(t, before->task, before->count, sizeof(*t), by_tid));
	}
	reckon_due(look);
}
