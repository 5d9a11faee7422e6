// SPDX-License-Identifier: GPL-2.0
/* top_show.c - lottery top: a look as lines of text. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "top.h"

/* Lines that are neither of a CPU nor of a task. */
#define HEADINGS	4U
/* What is left then has room for a line of each kind. */
#define ROWS_MIN	8U

/* A number of the table, or "-" where it is unknown. */
static void put_real(int width, bool known, double value)
{
	if (known)
		printf(" %*.1f", width, value);
	else
		printf(" %*s", width, "-");
}

double top_seconds(const struct top_look *look, const struct top_look *before)
{
	return (double)(look->read_ns - before->read_ns) / (double)NSEC_PER_SEC;
}

double top_draws(const struct top_look *look, const struct top_look *before,
		 const struct lottery_cpu *cpu)
{
	const struct lottery_cpu *old = lottery_find(&before->state, cpu->cpu);
	double seconds = top_seconds(look, before);

	if (!old || old->lotteries > cpu->lotteries || seconds <= 0)
		return NAN;
	return (double)(cpu->lotteries - old->lotteries) / seconds;
}

static void show_cpus(const struct top_look *look, const struct top_look *before,
		      unsigned int shown, const char *end)
{
	unsigned int i;

	printf("%4s %7s %12s %10s%s", "CPU", "TASKS", "TICKETS", "DRAWS/s", end);
	for (i = 0; i < shown; i++) {
		const struct lottery_cpu *cpu = &look->state.cpu[i];
		double draws = top_draws(look, before, cpu);

		printf("%4u %7llu %12llu", cpu->cpu, cpu->tasks, cpu->tickets);
		put_real(10, !isnan(draws), draws);
		fputs(end, stdout);
	}
	if (shown < look->state.cpus)
		printf("%4s %u more%s", "", look->state.cpus - shown, end);
}

static void show_task(const struct top_look *look, const struct top_task *t, const char *end)
{
	const char *from = t->derived ? "nice" : "given";
	char quantum[24] = "tick";

	if (look->recorded) {
		from = "-";
		snprintf(quantum, sizeof(quantum), "-");
	}
	if (t->quantum_ns)
		snprintf(quantum, sizeof(quantum), "%lluus", t->quantum_ns / NSEC_PER_USEC);
	printf("%7d %3u %c %7u %-5s %7u %9s", t->tid, t->cpu, t->state, t->tickets,
	       from, t->worth, quantum);
	put_real(6, look->due_known && t->wanted, 100 * t->due);
	put_real(6, t->known, 100 * t->got);
	put_real(8, t->known && t->runs, t->runs_s);
	printf(" %s%s", t->name, end);
}

static void show_tasks(const struct top_look *look, size_t shown, const char *end)
{
	size_t i;

	printf("%7s %3s %c %7s %-5s %7s %9s %6s %6s %8s %s%s", "PID", "CPU", 'S', "TICKETS",
	       "FROM", "WORTH", "QUANTUM", "DUE%", "GOT%", "RUNS/s", "COMM", end);
	for (i = 0; i < shown; i++)
		show_task(look, &look->task[i], end);
	if (shown < look->count)
		printf("%7s %zu more%s", "", look->count - shown, end);
}

static int by_tickets(const void *a, const void *b)
{
	const struct top_task *one = a, *other = b;

	if (one->worth != other->worth)
		return one->worth < other->worth ? 1 : -1;
	return one->tid < other->tid ? -1 : 1;
}

static int by_got(const void *a, const void *b)
{
	const struct top_task *one = a, *other = b;

	if (one->got != other->got)
		return one->got < other->got ? 1 : -1;
	return by_tickets(a, b);
}

const char *const top_sorts[] = { "tickets", "got", NULL };

void top_sort(struct top_look *look, enum top_sort sort)
{
	if (look->count)
		qsort(look->task, look->count, sizeof(*look->task),
		      sort == TOP_BY_GOT ? by_got : by_tickets);
}

/* How many of @count lines fit into @room, if those that do not are counted in one. */
static size_t fitting(size_t count, size_t room)
{
	if (count <= room)
		return count;
	return room ? room - 1 : 0;
}

void top_show(struct top_look *look, const struct top_look *before, enum top_sort sort,
	      const char *end, unsigned int rows)
{
	size_t cpus = look->state.cpus, tasks = look->count;

	top_sort(look, sort);
	if (rows) {
		size_t room = (rows > ROWS_MIN ? rows : ROWS_MIN) - HEADINGS, lines;

		/* a third for the CPUs, and what the tasks do not need */
		lines = tasks < room - room / 3 ? room - tasks : room / 3;
		cpus = fitting(cpus, lines);
		lines = cpus + (cpus < look->state.cpus);
		tasks = fitting(tasks, room - lines);
	}
	printf("lottery top: %.2f s, %zu tasks; %llu tickets queued on %u CPUs",
	       top_seconds(look, before), look->count,
	       lottery_tickets(&look->state), look->state.cpus);
	if (rows)
		printf("  (q: quit, s: sort, by %s)", top_sorts[sort]);
	fputs(end, stdout);
	show_cpus(look, before, (unsigned int)cpus, end);
	fputs(end, stdout);
	show_tasks(look, tasks, end);
}
