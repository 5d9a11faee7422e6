// SPDX-License-Identifier: GPL-2.0
/* place.c - which CPUs the two sides run on. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "files.h"
#include "place.h"

#ifndef CPU_DIR
#define CPU_DIR		"/sys/devices/system/cpu"
#endif

/* Where a CPU is; what the kernel does not tell is 0 on all of them. */
struct spot {
	unsigned int cpu;
	unsigned int package;
	unsigned int core;	/* of the package */
	unsigned int node;
};

enum relation { SAME_CORE, SIBLING, CROSS_CORE, CROSS_NODE };

static const struct {
	const char *name;
	const char *text;
} relations[] = {
	[SAME_CORE] = { "same-core", "a CPU" },
	[SIBLING] = { "sibling", "two hardware threads of one core" },
	[CROSS_CORE] = { "cross-core", "two cores of one NUMA node" },
	[CROSS_NODE] = { "numa", "CPUs of two NUMA nodes" },
};

static unsigned int read_topology(unsigned int cpu, const char *name)
{
	unsigned int value = 0;
	char path[192];
	FILE *file;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u/topology/%s", cpu, name);
	file = fopen(path, "re");
	if (!file)
		return 0;
	if (fscanf(file, "%u", &value) != 1)
		value = 0;
	fclose(file);
	return value;
}

/* A CPU's directory has a link that is called after its node. */
static unsigned int find_node(unsigned int cpu)
{
	unsigned int node = 0;
	struct dirent *entry;
	char path[192];
	DIR *dir;

	snprintf(path, sizeof(path), CPU_DIR "/cpu%u", cpu);
	dir = opendir(path);
	while (dir && (entry = readdir(dir)))
		if (sscanf(entry->d_name, "node%u", &node) == 1)
			break;
	if (dir)
		closedir(dir);
	return node;
}

static bool related(const struct spot *a, const struct spot *b, enum relation relation)
{
	bool core = a->package == b->package && a->core == b->core;

	switch (relation) {
	case SAME_CORE:
		return a->cpu == b->cpu;
	case SIBLING:
		return a->cpu != b->cpu && core;
	case CROSS_CORE:
		return !core && a->node == b->node;
	case CROSS_NODE:
		return a->node != b->node;
	}
	return false;
}

static bool place_related(enum relation relation, const unsigned int *cpus, unsigned int count,
			  s32 *cpu)
{
	struct spot *spots = xcalloc(count, sizeof(*spots));
	bool found = false;
	unsigned int a, b;

	for (a = 0; a < count; a++)
		spots[a] = (struct spot){ cpus[a], read_topology(cpus[a], "physical_package_id"),
					  read_topology(cpus[a], "core_id"), find_node(cpus[a]) };
	for (a = 0; a < count && !found; a++)
		for (b = a; b < count && !found; b++)
			if (related(&spots[a], &spots[b], relation)) {
				cpu[SENDER] = (s32)cpus[a];
				cpu[RECEIVER] = (s32)cpus[b];
				found = true;
			}
	free(spots);
	return found;
}

static bool is_allowed(u64 cpu, const unsigned int *cpus, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (cpus[i] == cpu)
			return true;
	return false;
}

static void __noreturn refuse_cpu(const char *text, u64 cpu)
{
	die(EXIT_USAGE, "--cpus: bad value '%s': CPU %llu is not online or not allowed", text, cpu);
}

static void place_numbers(const char *text, const unsigned int *cpus, unsigned int count,
			  s32 *cpu)
{
	char *words = xstrdup(text), *rest = words, *word;
	enum side side = SENDER;
	u64 number;

	while ((word = strsep(&rest, ","))) {
		if (side == SIDES || !parse_number(word, 0, CPU_NUMBERS_MAX - 1, &number))
			die(EXIT_USAGE, "--cpus: bad value '%s': allowed " CPUS_FORMS, text);
		if (!is_allowed(number, cpus, count))
			refuse_cpu(text, number);
		cpu[side++] = (s32)number;
	}
	if (side < SIDES)
		die(EXIT_USAGE, "--cpus: bad value '%s': allowed " CPUS_FORMS, text);
	free(words);
}

void place_sides(const char *text, s32 *cpu)
{
	static unsigned int cpus[CPU_NUMBERS_MAX];
	unsigned int count = allowed_cpus(cpus, CPU_NUMBERS_MAX), i;

	for (i = 0; i < ARRAY_SIZE(relations); i++) {
		if (strcmp(text, relations[i].name))
			continue;
		if (!place_related(i, cpus, count, cpu))
			die(EXIT_UNSUPPORTED, "--cpus %s: no %s among the %u CPUs that are allowed",
			    text, relations[i].text, count);
		return;
	}
	place_numbers(text, cpus, count, cpu);
}

void place_first_two(s32 *cpu)
{
	unsigned int cpus[SIDES];

	if (allowed_cpus(cpus, SIDES) < SIDES)
		die(EXIT_UNSUPPORTED, "--pin needs two CPUs, and only CPU %u is allowed", cpus[0]);
	cpu[SENDER] = (s32)cpus[SENDER];
	cpu[RECEIVER] = (s32)cpus[RECEIVER];
}
