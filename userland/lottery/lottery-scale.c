// SPDX-License-Identifier: GPL-2.0
/*
 * lottery-scale.c - the kernel's own time for enqueue, dequeue and draw, from a
 * full queue to the last exit.
 *
 * One task of ten is long (100 units) and holds many tickets, nine are short
 * (1 unit) and hold few. The long ones win nearly every lottery while they
 * last, so the queue stays close to full for most of the run.
 */
#include <getopt.h>
#include <stdio.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "json.h"
#include "lottery_proc.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "work.h"

#define LONG_EVERY	10U
#define LONG_UNITS	100U

#define GATHER_NS	(300 * NSEC_PER_SEC)
#define SPARE_NS	(300 * NSEC_PER_SEC)

static const char usage[] =
"Usage: lottery-scale [options] N\n"
"\n"
"Run N tasks on one CPU, one long with many tickets to nine short with few, and\n"
"report what the kernel spent on enqueue, dequeue and draw.\n"
"\n"
"      --unit-us US         one unit of work (1000); long 100 units, short 1\n"
"      --tickets LONG:SHORT tickets of the two kinds (100000:1)\n"
"      --cpu CPU            where they run (the first that is allowed)\n"
"      --json               one JSON object\n"
"  -h, --help               this text\n"
"  -V, --version            the version\n";

struct options {
	u32 tasks;
	u32 unit_us;
	u32 long_tickets;
	u32 short_tickets;
	u32 cpu;
	bool json;
};

static bool is_long(unsigned int i)
{
	return i % LONG_EVERY == 0;
}

static void parse_tickets(char *text, struct options *o)
{
	u64 many, few;
	char *colon = NULL;
	char *at;

	for (at = text; *at; at++)
		if (*at == ':' && !colon)
			colon = at;
	if (colon)
		*colon = '\0';
	if (!colon || !parse_number(text, 1, LOTTERY_TICKETS_MAX, &many) ||
	    !parse_number(colon + 1, 1, LOTTERY_TICKETS_MAX, &few)) {
		if (colon)
			*colon = ':';
		die(EXIT_USAGE, "--tickets: bad value '%s': allowed LONG:SHORT, each 1..%u",
		    text, LOTTERY_TICKETS_MAX);
	}
	o->long_tickets = (u32)many;
	o->short_tickets = (u32)few;
}

static void parse(int argc, char **argv, struct options *o)
{
	static const struct option longs[] = {
		{ "unit-us", required_argument, NULL, 'u' },
		{ "tickets", required_argument, NULL, 't' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'u':
			o->unit_us = (u32)args_number("--unit-us", optarg, 1, 1000000);
			break;
		case 't':
			parse_tickets(optarg, o);
			break;
		case 'c':
			o->cpu = cpu_argument(optarg);
			break;
		case 'j':
			o->json = true;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	if (optind == argc)
		die(EXIT_USAGE, "the number of tasks is missing, try --help");
	o->tasks = tasks_argument("N", argv[optind++]);
	args_no_more(argc, argv, optind);
}

static CREW_FN(run_task)
{
	const struct options *o = arg;

	(void)crew;
	work_for_ns((is_long(i) ? LONG_UNITS : 1) * o->unit_us * NSEC_PER_USEC);
	return 0;
}

static u64 total_work_ns(const struct options *o)
{
	u64 longs = (o->tasks + LONG_EVERY - 1) / LONG_EVERY;

	return (longs * LONG_UNITS + o->tasks - longs) * o->unit_us * NSEC_PER_USEC;
}

static bool is_empty(void *arg)
{
	const struct lottery_state *before = arg;
	struct lottery_state state;

	lottery_read(&state);
	return lottery_tasks(&state) <= lottery_tasks(before);
}

/*
 * Run all tasks; @state is what the kernel says after the last exit. Returns
 * the ns from the release to there.
 */
static u64 run_tasks(const struct options *o, struct lottery_state *state)
{
	struct lottery_state before;
	struct crew crew;
	unsigned int i, late;
	u64 elapsed_ns;

	lottery_read(&before);
	crew_create(&crew, o->tasks);
	for (i = 0; i < o->tasks; i++)
		crew_fork(&crew, run_task, o);
	crew_gather(&crew, GATHER_NS);
	for (i = 0; i < o->tasks; i++)
		crew_enlist(&crew, i, is_long(i) ? o->long_tickets : o->short_tickets, 0);
	lottery_switch("stats", false);	/* switching on is what clears them */
	lottery_switch("stats", true);
	crew_release(&crew);
	late = crew_reap(&crew, 2 * total_work_ns(o) + SPARE_NS);
	elapsed_ns = now_ns() - crew.release_ns;
	/* a parent is told of an exit a little before the last dequeue */
	wait_until(is_empty, &before, SPARE_NS);
	lottery_read(state);
	lottery_switch("stats", before.stats);
	crew_destroy(&crew);
	if (late)
		die(EXIT_FAILED, "%u of %u tasks did not finish", late, o->tasks);
	return elapsed_ns;
}

static void report_json(const struct options *o, const struct lottery_cpu *cpu,
			u64 elapsed_ns)
{
	json_open();
	json_text("pool", cpu->pool);
	json_number("tasks", o->tasks);
	json_number("enqueue_count", cpu->op[LOTTERY_ENQUEUE].count);
	json_number("enqueue_ns", cpu->op[LOTTERY_ENQUEUE].ns);
	json_number("dequeue_count", cpu->op[LOTTERY_DEQUEUE].count);
	json_number("dequeue_ns", cpu->op[LOTTERY_DEQUEUE].ns);
	json_number("draw_count", cpu->op[LOTTERY_DRAW].count);
	json_number("draw_ns", cpu->op[LOTTERY_DRAW].ns);
	json_number("elapsed_ns", elapsed_ns);
	json_close();
}

static void report_table(const struct options *o, const struct lottery_cpu *cpu,
			 u64 elapsed_ns)
{
	static const char *const names[LOTTERY_OPS] = {
		[LOTTERY_ENQUEUE] = "enqueue",
		[LOTTERY_DEQUEUE] = "dequeue",
		[LOTTERY_DRAW] = "draw",
	};
	unsigned int op;

	printf("%u tasks, pool %s, %.3f s\n", o->tasks, cpu->pool,
	       (double)elapsed_ns / NSEC_PER_SEC);
	printf("%-10s %10s %14s %10s\n", "operation", "count", "total ns", "mean ns");
	for (op = 0; op < LOTTERY_OPS; op++)
		printf("%-10s %10llu %14llu %10.1f\n", names[op], cpu->op[op].count,
		       cpu->op[op].ns, cpu->op[op].count ?
		       (double)cpu->op[op].ns / (double)cpu->op[op].count : 0);
}

int main(int argc, char **argv)
{
	struct options o = {
		.unit_us = 1000, .long_tickets = 100000, .short_tickets = 1,
	};
	const struct lottery_cpu *cpu;
	struct lottery_state state;
	u64 elapsed_ns;

	args_init("lottery-scale");
	o.cpu = first_cpu();
	parse(argc, argv, &o);
	lottery_require();
	pin_to_cpu(o.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	elapsed_ns = run_tasks(&o, &state);
	cpu = lottery_find(&state, o.cpu);
	if (!cpu)
		die(EXIT_FAILED, "%s has no line for CPU %u", LOTTERY_PROC, o.cpu);
	if (o.json)
		report_json(&o, cpu, elapsed_ns);
	else
		report_table(&o, cpu, elapsed_ns);
	finish_output();
	return EXIT_GOOD;
}
