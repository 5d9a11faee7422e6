// SPDX-License-Identifier: GPL-2.0
/* lottery-smp.c - the class on several CPUs: places, turns, shares. */
#include <stdlib.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "lottery_sched.h"
#include "opts.h"
#include "smp.h"

struct group {
	const char *name;
	void (*run)(struct ktap *k);
	void (*json)(void);
	unsigned int cpus;
};

static const struct group groups[] = {
	{ .name = "balance", .run = smp_balance, .cpus = SMP_CPUS_MIN },
	{ .name = "affinity", .run = smp_affinity, .cpus = SMP_CPUS_MIN },
	{ .name = "hotplug", .run = smp_hotplug, .cpus = SMP_CPUS_MIN },
	{ .name = "turns", .run = smp_turns, .cpus = SMP_CPUS_MAX },
	{
		.name = "displacement",
		.run = smp_displaced,
		.json = smp_displaced_json,
		.cpus = SMP_CPUS_MAX,
	},
	{
		.name = "shares",
		.run = smp_shares,
		.json = smp_shares_json,
		.cpus = SMP_CPUS_MAX,
	},
	{ .name = "core", .run = smp_core, .cpus = SMP_CPUS_MAX },
};

struct choice {
	bool group[ARRAY_SIZE(groups)];
	unsigned int count;
	bool json;
};

static void choose(struct choice *choice, char **names)
{
	const char *known[ARRAY_SIZE(groups) + 1];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		known[i] = groups[i].name;
		choice->group[i] = !*names && groups[i].cpus == SMP_CPUS_MIN;
	}
	known[i] = NULL;
	for (; *names; names++)
		choice->group[args_choice("the group", *names, known)] = true;
	for (i = 0; i < ARRAY_SIZE(groups); i++) {
		if (choice->json && choice->group[i] && !groups[i].json)
			die(EXIT_USAGE, "--json: not for the group %s", groups[i].name);
		choice->count += choice->group[i];
	}
}

static struct choice choice;

static const struct opt rows[] = {
	OPT(0, "--seconds", "S", NUMBER(smp.seconds, 1, 3600, 5), "of the longer tests (%d)"),
	OPT(0, "--seed", "N", NUMBER(smp.random.state, 0, ~0ULL, 1), "of what is random (%d)"),
	OPT(0, "--no-hotplug", NULL, SETS(smp.hotplug, false), "all CPUs stay online"),
	OPT(0, "--json", NULL, FLAG(choice.json),
	    "what was measured as JSON instead; not every group can"),
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: lottery-smp [options] [GROUP...]\n"
"\n"
"Test SCHED_LOTTERY on 2 to 4 CPUs, the first 4 of more. The output is KTAP. Needs\n"
"root, and 4 CPUs for all groups but the first three. The sums of two CPUs may differ\n"
"by the tickets of the greatest task and a sixteenth of the mean, at the latest 10\n"
"seconds after a change. The groups, the first three by default:\n"
"\n"
"  balance         idle CPUs get work, the sums of tickets balance\n"
"  affinity        affinity holds at all times, bound tasks share their CPU while\n"
"                  others are busy, a real-time task drives a task to a free CPU\n"
"  hotplug         CPUs go offline and come back\n"
"  turns           nobody can make a turn last\n"
"  displacement    who loses its CPU, or wakes on a busy one, runs soon\n"
"  shares          several CPUs are shared as tickets say\n"
"  core            so is a core of two threads under core scheduling\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
	.operands = OPERANDS_ANY,
};

static void find_cpus(const struct choice *choice)
{
	u64 allowed = affinity_of(0);
	unsigned int i;
	u32 cpu;

	for (cpu = 0; cpu < CPUS_MAX && smp.count < SMP_CPUS_MAX; cpu++) {
		if (!(allowed >> cpu & 1))
			continue;
		smp.cpu[smp.count++] = cpu;
		smp.mask |= 1ULL << cpu;
	}
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (choice->group[i] && smp.count < groups[i].cpus)
			die(EXIT_SKIPPED, "the group %s needs %u CPUs, there are %u",
			    groups[i].name, groups[i].cpus, smp.count);
}

static void measure(const struct choice *choice)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (choice->group[i])
			groups[i].json();
}

static int test(const struct choice *choice)
{
	unsigned int i;
	struct ktap k;

	ktap_start(&k, choice->count);
	for (i = 0; i < ARRAY_SIZE(groups); i++)
		if (choice->group[i])
			groups[i].run(&k);
	return ktap_finish(&k);
}

int main(int argc, char **argv)
{
	struct lottery_state state;

	args_init("lottery-smp");
	smp.hotplug = true;
	choose(&choice, argv + opts_parse(&opts, argc, argv));
	lottery_require();
	if (geteuid())
		die(EXIT_FAILED, "be root: the tests take CPUs offline");
	lottery_read(&state);
	smp.tick_ns = state.tick_ns;
	find_cpus(&choice);
	affinity_set(0, smp.mask);
	become_launcher(LAUNCHER_PRIORITY);
	if (smp.hotplug)
		atexit(smp_online_all);
	if (!choice.json)
		return test(&choice);
	measure(&choice);
	return EXIT_GOOD;
}
