// SPDX-License-Identifier: GPL-2.0
/* lottery-share.c - do tasks get the CPU in proportion to their tickets? */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "clock.h"
#include "lottery_proc.h"
#include "lottery_sched.h"
#include "share.h"

static const char usage[] =
"Usage: lottery-share [options] RATIO...\n"
"\n"
"Run hogs with tickets in a ratio (10:1, 3:2:1 ...) on one CPU and compare the\n"
"lotteries that each has won with the binomial distribution.\n"
"\n"
"      --case NAME     what the tasks do meanwhile (steady):\n"
"                        steady     nothing else\n"
"                        turns      nothing else; lotteries are counted, not wins\n"
"                        fork       each has a child, which inherits the tickets\n"
"                        exec       each execs first\n"
"                        sleepwake  the last one sleeps half of the time\n"
"                        yield      the last one yields after a fifth of each turn\n"
"                        change     the tickets are turned round at half time\n"
"                        order      they finish equal work: who is first\n"
"      --seconds S     how long for each ratio (10)\n"
"      --quantum US    ask for this quantum, 100..1000000 (one tick)\n"
"      --low-variance  with the low-variance draw, on all CPUs meanwhile\n"
"      --cpu CPU       where they run (the first that is allowed)\n"
"      --json          one JSON object for each task\n"
"      --ktap          check the bound (5 sigma) as a test, S seconds or longer\n"
"  -h, --help          this text\n"
"  -V, --version       the version\n";

static const struct share_case *find_case(const char *name)
{
	const char *names[16];
	unsigned int i;

	for (i = 0; share_cases[i].name; i++)
		names[i] = share_cases[i].name;
	names[i] = NULL;
	return &share_cases[args_choice("--case", name, names)];
}

static void parse(int argc, char **argv, struct share *s, const struct share_case **which)
{
	static const struct option longs[] = {
		{ "case", required_argument, NULL, 'C' },
		{ "seconds", required_argument, NULL, 's' },
		{ "quantum", required_argument, NULL, 'q' },
		{ "low-variance", no_argument, NULL, 'l' },
		{ "cpu", required_argument, NULL, 'c' },
		{ "json", no_argument, NULL, 'j' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 'C':
			*which = find_case(optarg);
			break;
		case 's':
			s->seconds = (u32)args_number("--seconds", optarg, 1, 3600);
			break;
		case 'q':
			s->quantum_ask_ns = NSEC_PER_USEC *
				args_number("--quantum", optarg,
					    LOTTERY_QUANTUM_MIN / NSEC_PER_USEC,
					    LOTTERY_QUANTUM_MAX / NSEC_PER_USEC);
			break;
		case 'l':
			s->low_variance = true;
			break;
		case 'c':
			s->cpu = cpu_argument(optarg);
			break;
		case 'j':
			s->output = OUTPUT_JSON;
			break;
		case 'k':
			s->output = OUTPUT_KTAP;
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
		die(EXIT_USAGE, "a ratio (like 10:1) is missing, try --help");
}

/* Run one ratio; false when a check has failed. */
static bool run_ratio(struct share *s, const struct share_case *which, const char *ratio)
{
	char name[256];
	bool good;

	s->ratio = ratio;
	s->count = args_ratio(ratio, LOTTERY_TICKETS_MAX, s->tickets,
			      SHARE_TASKS_MAX);
	if (s->output == OUTPUT_KTAP && bounds_on())
		s->deadline_ns = now_ns() + s->seconds * NSEC_PER_SEC + SHARE_EXTRA_NS;
	good = which->run(s);
	if (s->output != OUTPUT_KTAP)
		return good;
	snprintf(name, sizeof(name), "%s %s", s->kind, ratio);
	ktap_result(&s->ktap, good, name);
	return good;
}

int main(int argc, char **argv)
{
	const struct share_case *which = share_cases;
	struct share s = { .seconds = 10 };
	struct lottery_state state;
	bool good = true;
	int i;

	args_init("lottery-share");
	if (argc == 5 && !strcmp(argv[1], SHARE_RESUME))
		return share_resume(argv);
	s.cpu = first_cpu();
	parse(argc, argv, &s, &which);
	s.kind = which->name;
	for (i = optind; i < argc; i++)
		s.count = args_ratio(argv[i], LOTTERY_TICKETS_MAX, s.tickets,
				     SHARE_TASKS_MAX);
	lottery_require();
	lottery_read(&state);
	s.quantum_ns = lottery_quantum(&state, s.quantum_ask_ns);
	if (s.low_variance)
		lottery_switch("low_variance", true);
	pin_to_cpu(s.cpu);
	become_launcher(LAUNCHER_PRIORITY);
	if (s.output == OUTPUT_KTAP)
		ktap_start(&s.ktap, (unsigned int)(argc - optind));
	if (s.output == OUTPUT_TABLE)
		printf("%-12s %-10s %-8s %4s %8s %10s %10s %7s %7s %7s\n", "ratio", "case",
		       "phase", "task", "tickets", "wins", "expected", "got %", "want %",
		       "sigma");
	for (i = optind; i < argc; i++)
		good &= run_ratio(&s, which, argv[i]);
	if (s.low_variance)
		lottery_switch("low_variance", false);
	finish_output();
	if (s.output == OUTPUT_KTAP)
		return ktap_finish(&s.ktap);
	return good ? EXIT_GOOD : EXIT_FAILED;
}
