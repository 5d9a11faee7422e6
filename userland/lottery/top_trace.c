// SPDX-License-Identifier: GPL-2.0
/*
 * top_trace.c - lottery top: the whole of a recording as one look.
 *
 * The events of the class report which task contends on which CPU, and for how many tickets of
 * how many; sched_switch reports which task ran. The due of a task is exact here: its part of
 * the tickets of its CPU, for as long as it contended there. A change of tickets without an
 * event of its own is seen with the next event of the same task.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "files.h"
#include "top.h"
#include "tracefs.h"

#define SWITCH	": sched_switch:"

struct cpu {
	bool known;		/* an event of the class has told of it */
	u64 tasks;
	u64 tickets;
	u64 draws;
	u64 told_ns;		/* when the former were told last */
	double per_ticket;	/* CPU time that one ticket was worth up to then */
	long runs;		/* the tid, -1: not known */
	u64 since_ns;
};

struct runner {
	long tid;
	bool ours;		/* an event of the class has named it */
	bool contends;
	char name[16];
	unsigned int cpu;
	u64 tickets;
	double joined;		/* per_ticket of its CPU up to which it has its due */
	double due_ns;
	u64 ran_ns;
	u64 runs;
};

static struct {
	struct cpu cpu[CPUS_MAX];
	struct runner *task;
	size_t count;
	size_t room;
	u64 first_ns;
	u64 last_ns;
	u64 lost;
} rec;

static struct runner *task_of(long tid)
{
	size_t i;

	for (i = 0; i < rec.count; i++)
		if (rec.task[i].tid == tid)
			return &rec.task[i];
	if (rec.count == rec.room) {
		rec.room = rec.room ? 2 * rec.room : 64;
		rec.task = xrealloc(rec.task, rec.room * sizeof(*rec.task));
	}
	rec.task[rec.count] = (struct runner){ .tid = tid };
	return &rec.task[rec.count++];
}

/* What each ticket of a CPU was worth since that was asked last. */
static double per_ticket(struct cpu *cpu, u64 now)
{
	if (cpu->tickets)
		cpu->per_ticket += (double)(now - cpu->told_ns) / (double)cpu->tickets;
	cpu->told_ns = now;
	return cpu->per_ticket;
}

/* A task gets its due up to now, and is due nothing or @tickets from now on. */
static void settle(struct runner *task, double worth, u64 tickets)
{
	if (task->contends)
		task->due_ns += (double)task->tickets * (worth - task->joined);
	task->joined = worth;
	task->tickets = tickets;
}

enum kind { DRAW, ENQUEUE, DEQUEUE };

static void of_class(enum kind kind, const char *fields, u64 now)
{
	long number = trace_number(fields, "cpu="), tickets = trace_number(fields, " tickets=");
	long total = trace_number(fields, " total=");
	const char *name = strstr(fields, " comm="), *end = strstr(fields, " tickets=");
	struct runner *task = task_of(trace_number(fields, " pid="));
	struct cpu *cpu;
	double worth;

	if (number < 0 || number >= (long)CPUS_MAX || tickets < 0 || total < 0 || !name)
		return;
	cpu = &rec.cpu[number];
	if (!cpu->known)
		cpu->told_ns = rec.first_ns;
	worth = per_ticket(cpu, now);
	/* that it came was before the recording */
	if (!task->ours && kind != ENQUEUE) {
		task->contends = true;
		task->joined = 0;
		task->tickets = (u64)tickets;
	}
	settle(task, worth, (u64)tickets);
	task->ours = true;
	task->contends = kind != DEQUEUE;
	task->cpu = (unsigned int)number;
	name += strlen(" comm=");
	snprintf(task->name, sizeof(task->name), "%.*s", (int)(end - name), name);
	cpu->known = true;
	cpu->draws += kind == DRAW;
	cpu->tickets = (u64)total;
	cpu->tasks = (u64)trace_number(fields, " contenders=");
}

static void charge(struct cpu *cpu, u64 now)
{
	if (cpu->runs > 0)
		task_of(cpu->runs)->ran_ns += now - cpu->since_ns;
	cpu->since_ns = now;
}

static void switched(int number, const char *fields, u64 now)
{
	struct cpu *cpu;

	if (number < 0 || number >= (int)CPUS_MAX)
		return;
	cpu = &rec.cpu[number];
	/* the task that ran when the recording began */
	if (cpu->runs < 0) {
		cpu->runs = trace_number(fields, " prev_pid=");
		cpu->since_ns = rec.first_ns;
	}
	charge(cpu, now);
	cpu->runs = trace_number(fields, " next_pid=");
	if (cpu->runs > 0)
		task_of(cpu->runs)->runs++;
}

/* @arg: whether there was one of the class. */
static void event(void *arg, const char *line)
{
	static const char *const names[] = {
		[DRAW] = ": lottery_draw:",
		[ENQUEUE] = ": lottery_enqueue:",
		[DEQUEUE] = ": lottery_dequeue:",
	};
	const char *fields;
	unsigned int kind;
	bool *any = arg;
	u64 now;

	if (trace_loses(line, &rec.lost))
		return;
	for (kind = 0; kind < ARRAY_SIZE(names); kind++) {
		fields = trace_fields(line, names[kind], &now);
		if (fields)
			break;
	}
	if (!fields)
		fields = trace_fields(line, SWITCH, &now);
	if (!fields)
		return;
	if (!rec.first_ns)
		rec.first_ns = now;
	if (now > rec.last_ns)
		rec.last_ns = now;
	if (kind < ARRAY_SIZE(names)) {
		of_class((enum kind)kind, fields, now);
		*any = true;
	} else {
		switched(trace_cpu(line), fields, now);
	}
}

/* Up to the end of the recording. */
static void end_all(void)
{
	unsigned int i;
	size_t n;

	for (i = 0; i < CPUS_MAX; i++)
		if (rec.cpu[i].runs >= 0)
			charge(&rec.cpu[i], rec.last_ns);
	for (n = 0; n < rec.count; n++)
		if (rec.task[n].ours)
			settle(&rec.task[n], per_ticket(&rec.cpu[rec.task[n].cpu], rec.last_ns),
			       rec.task[n].tickets);
}

static void add_cpus(struct top_look *look, struct top_look *before)
{
	unsigned int i;

	for (i = 0; i < CPUS_MAX; i++) {
		const struct cpu *cpu = &rec.cpu[i];
		unsigned int n = look->state.cpus;

		if (!cpu->known)
			continue;
		before->state.cpu[n] = (struct lottery_cpu){ .cpu = i };
		look->state.cpu[n] = (struct lottery_cpu){
			.cpu = i, .tasks = cpu->tasks, .tickets = cpu->tickets,
			.lotteries = cpu->draws,
		};
		look->state.cpus++;
		before->state.cpus = look->state.cpus;
	}
}

static void add_tasks(struct top_look *look, double length_ns)
{
	size_t n;

	look->task = xcalloc(rec.count + 1, sizeof(*look->task));
	for (n = 0; n < rec.count; n++) {
		const struct runner *task = &rec.task[n];
		struct top_task *t = &look->task[look->count];

		if (!task->ours)
			continue;
		*t = (struct top_task){
			.tid = (pid_t)task->tid,
			.state = task->contends ? 'R' : 'S',
			.cpu = task->cpu,
			.tickets = (u32)task->tickets,
			.worth = (u32)task->tickets,
			.runs = task->runs,
			.known = true,
			.wanted = true,
			.got = (double)task->ran_ns / length_ns,
			.due = task->due_ns / length_ns,
			.runs_s = (double)task->runs / (length_ns / (double)NSEC_PER_SEC),
		};
		copy_printable(t->name, task->name);
		look->count++;
	}
}

void top_trace(const char *path, struct top_look *look, struct top_look *before)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < CPUS_MAX; i++)
		rec.cpu[i].runs = -1;
	trace_read(path, event, &any);
	if (!any || rec.last_ns == rec.first_ns)
		die(EXIT_FAILED, "%s: no events of sched_lottery in it", path);
	trace_complain(rec.lost);
	end_all();
	look->recorded = true;
	look->due_known = true;
	before->read_ns = rec.first_ns;
	look->read_ns = rec.last_ns;
	add_cpus(look, before);
	add_tasks(look, (double)(rec.last_ns - rec.first_ns));
	free(rec.task);
}
