// SPDX-License-Identifier: GPL-2.0
/* lottery-smp.c - the class on several CPUs: turns and shares. */
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
};

static const struct group groups[] = {
	{ .name = "turns", .run = smp_turns },
	{ .name = "displacement", .run = smp_displaced, .json = smp_displaced_json },
	{ .name = "shares", .run = smp_shares, .json = smp_shares_json },
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
		choice->group[i] = !*names;
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
"Test SCHED_LOTTERY on 4 CPUs, the first of more. The output is KTAP. Needs root. The\n"
"groups, all by default:\n"
"\n"
"  turns           no task can make a turn last\n"
"  displacement    a task that loses its CPU, or wakes on a busy one, runs soon\n"
"  shares          several CPUs are shared as tickets say\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
	.operands = OPERANDS_ANY,
};

static void find_cpus(void)
{
	unsigned int i;

	smp.count = allowed_cpus(smp.cpu, SMP_CPUS);
	if (smp.count < SMP_CPUS)
		die(EXIT_SKIPPED, "needs %u CPUs, there are %u", SMP_CPUS, smp.count);
	for (i = 0; i < SMP_CPUS; i++)
		smp.mask |= 1ULL << smp.cpu[i];
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
	find_cpus();
	affinity_set(0, smp.mask);
	become_launcher(LAUNCHER_PRIORITY);
	if (smp.hotplug)
		atexit(smp_online_all);
	if (!choice.json)
		return test(&choice);
	measure(&choice);
	return EXIT_GOOD;
}
