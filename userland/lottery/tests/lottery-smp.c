// SPDX-License-Identifier: GPL-2.0
/* lottery-smp.c - the class on several CPUs: balance, affinity, hotplug. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "lottery_sched.h"
#include "smp.h"

static const char usage[] =
"Usage: lottery-smp [options]\n"
"\n"
"Test SCHED_LOTTERY on 2 to 4 CPUs, the first 4 of more: idle CPUs get work, the sums\n"
"of tickets balance, affinity holds at all times, bound tasks share their CPU while\n"
"others are busy, a real-time task drives a lottery task to a free CPU, and CPUs go\n"
"offline and come back. The sums of two CPUs may differ by the tickets of the greatest\n"
"task and a sixteenth of the mean, at the latest 10 seconds after a change. The output\n"
"is KTAP. Needs root.\n"
"\n"
"      --seconds S     of the longer tests (5)\n"
"      --seed N        of what is random (1)\n"
"      --no-hotplug    all CPUs stay online\n"
TEST_USAGE;

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'r' },
		{ "no-hotplug", no_argument, NULL, 'n' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":hV", longs, NULL)) != -1) {
		switch (c) {
		case 's':
			smp.seconds = (u32)args_number("--seconds", optarg, 1, 3600);
			break;
		case 'r':
			smp.random.state = args_number("--seed", optarg, 0, ~0ULL);
			break;
		case 'n':
			smp.hotplug = false;
			break;
		default:
			args_validator(c, argv, usage);
		}
	}
	args_no_more(argc, argv, optind);
}

static void find_cpus(void)
{
	u64 allowed = affinity_of(0);
	u32 cpu;

	for (cpu = 0; cpu < CPUS_MAX && smp.count < SMP_CPUS_MAX; cpu++) {
		if (!(allowed >> cpu & 1))
			continue;
		smp.cpu[smp.count++] = cpu;
		smp.mask |= 1ULL << cpu;
	}
	if (smp.count < SMP_CPUS_MIN)
		die(EXIT_SKIPPED, "needs %u CPUs, has %u", SMP_CPUS_MIN, smp.count);
}

int main(int argc, char **argv)
{
	struct ktap k;

	args_init("lottery-smp");
	smp = (struct smp){ .seconds = 5, .hotplug = true, .random.state = 1 };
	parse(argc, argv);
	lottery_require();
	if (geteuid())
		die(EXIT_FAILED, "be root: the tests take CPUs offline");
	find_cpus();
	affinity_set(0, smp.mask);
	become_launcher(LAUNCHER_PRIORITY);
	if (smp.hotplug)
		atexit(smp_online_all);
	ktap_start(&k, SMP_GROUPS);
	smp_balance(&k);
	smp_affinity(&k);
	smp_hotplug(&k);
	return ktap_finish(&k);
}
