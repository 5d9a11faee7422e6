// SPDX-License-Identifier: GPL-2.0
/* lottery-bench.c - what the lottery class gives and costs, case by case. */
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "clock.h"
#include "crew.h"
#include "diskfile.h"
#include "json.h"
#include "lottery_sched.h"

/* To come to the start, of a slow emulated machine with thousands of tasks. */
#define GATHER_NS	(300 * NSEC_PER_SEC)

struct bench bench;

void bench_start(bool in_class)
{
	if (in_class)
		lottery_require();
	pin_to_cpu(bench.cpu);
	become_launcher(LAUNCHER_PRIORITY);
}

void bench_crew(struct crew *crew, unsigned int room, unsigned int count, CREW_FN((*fn)),
		const void *arg)
{
	crew_create(crew, room);
	while (count--)
		crew_fork(crew, fn, arg);
	crew_gather(crew, GATHER_NS);
}

u64 bench_watch(const struct crew *crew, u64 *ran_ns)
{
	u64 begin = now_ns(), elapsed;
	unsigned int i;

	for (i = 0; i < crew->count; i++)
		ran_ns[i] = process_cpu_ns(crew->pid[i]);
	sleep_until_ns(begin + bench.seconds * NSEC_PER_SEC);
	elapsed = now_ns() - begin;
	for (i = 0; i < crew->count; i++)
		ran_ns[i] = process_cpu_ns(crew->pid[i]) - ran_ns[i];
	return elapsed;
}

static void print_member(const struct cell *cell)
{
	switch (cell->kind) {
	case CELL_TEXT:
		json_text(cell->key, cell->text);
		break;
	case CELL_NUMBER:
		json_number(cell->key, cell->number);
		break;
	case CELL_REAL:
		json_real(cell->key, cell->real);
		break;
	case CELL_BOOL:
		json_bool(cell->key, cell->number);
		break;
	}
}

static void print_json(const struct cell *cells, unsigned int count)
{
	unsigned int i;

	json_open();
	for (i = 0; i < count; i++)
		if (cells[i].key)
			print_member(&cells[i]);
	json_close();
}

static void print_field(const struct cell *cell, bool head)
{
	if (head)
		printf("%*s", cell->width, cell->head);
	else if (cell->kind == CELL_TEXT)
		printf("%*s", cell->width, cell->text);
	else if (cell->kind == CELL_REAL)
		printf("%*.*f", cell->width, cell->decimals, cell->real);
	else
		printf("%*llu", cell->width, cell->number);
}

static void print_line(const struct cell *cells, unsigned int count, bool head)
{
	const char *between = "";
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!cells[i].head)
			continue;
		fputs(between, stdout);
		print_field(&cells[i], head);
		between = " ";
	}
	putchar('\n');
}

void bench_print(const struct cell *cells, unsigned int count)
{
	static bool headed;

	if (bench.output == OUTPUT_JSON) {
		print_json(cells, count);
		return;
	}
	if (!headed)
		print_line(cells, count, true);
	headed = true;
	print_line(cells, count, false);
}

static struct {
	u32 count;
	u32 tickets;		/* 0: SCHED_OTHER */
} hogs;

static const struct opt hogs_rows[] = {
	OPT(0, "--hogs", "N", NUMBER(hogs.count, 0, HOGS_MAX, 1),
	    "how many processes, %r (%d) ..."),
	OPT(0, "--hog-tickets", "N", NUMBER(hogs.tickets, 1, LOTTERY_TICKETS_MAX, 0),
	    "... as lottery tasks with N tickets each (as SCHED_OTHER)"),
	CPU_ROW,
	{ }
};

static int run_hogs(void)
{
	struct crew crew;
	pid_t child;
	int status;

	if (hogs.tickets && !hogs.count)
		die(EXIT_USAGE, "--hog-tickets needs --hogs of 1 or more");
	if (!bench.operands[0])
		die(EXIT_USAGE, "a command is missing, try --help");
	pin_to_cpu(bench.cpu);
	hogs_start(&crew, hogs.count, hogs.tickets);
	child = fork_child();
	if (!child)
		become(bench.operands);
	status = wait_child(child, UINT64_MAX);
	hogs_stop(&crew);
	return exit_code_of(status);
}

static const struct bench_case bench_hogs = {
	{
		.name = "hogs",
		.usage = "Usage: lottery-bench hogs [options] COMMAND [ARGUMENT...]\n\n"
"Run a command while CPU-bound processes run, all on one CPU. The command\n"
"starts as SCHED_OTHER; the exit status is its own.\n\n",
		.rows = hogs_rows,
		.command = true,
		.operand = "COMMAND",
	}, run_hogs,
};

static const struct bench_case *const cases[] = {
	&bench_share, &bench_fair, &bench_scale, &bench_pipe, &bench_floor, &bench_server,
	&bench_insulate, &bench_montecarlo, &bench_viewers, &bench_hogs,
};

static const struct opt no_rows[] = { { } };

static void parse(int argc, char **argv)
{
	static const struct opts gap = { .name = "", .usage = "\n", .rows = no_rows };
	const struct opts *verbs[2 * ARRAY_SIZE(cases) + 1] = { NULL };
	const struct opts whole = {
		.usage = "Usage: lottery-bench CASE [options] ...\n\n"
"Measure on one CPU what the lottery class gives and costs. Each case has its own\n"
"options; lottery-bench CASE --help tells those of one.\n\n",
		.rows = no_rows,
		.command = true,
		.verbs = verbs,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		verbs[2 * i] = &gap;
		verbs[2 * i + 1] = &cases[i]->opts;
	}
	opts_parse(&whole, argc, argv);
	if (optind == argc)
		die(EXIT_USAGE, "a case is missing, try --help");
}

static const struct bench_case *find_case(const char *name)
{
	const char *names[ARRAY_SIZE(cases) + 1] = { NULL };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(cases); i++)
		names[i] = cases[i]->opts.name;
	return cases[args_choice("CASE", name, names)];
}

int main(int argc, char **argv)
{
	static char program[32], tool[32];
	const struct bench_case *which;
	int code;

	args_init("lottery-bench");
	if (argc == 3 && !strcmp(argv[1], SHARE_RESUME))
		return share_resume(argv[2]);
	parse(argc, argv);
	which = find_case(argv[optind]);
	snprintf(program, sizeof(program), "lottery-bench %s", which->opts.name);
	snprintf(tool, sizeof(tool), "lottery-%s", which->opts.name);
	args_init(program);
	json_tool = tool;
	bench.cpu = first_cpu();
	argc -= optind;
	argv += optind;
	optind = 0;		/* getopt_long begins anew */
	opts_parse(&which->opts, argc, argv);
	bench.operands = argv + optind;
	code = which->run();
	finish_output();
	return code;
}
