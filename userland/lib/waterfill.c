// SPDX-License-Identifier: GPL-2.0
/*
 * waterfill.c - what tickets buy of several CPUs.
 *
 * Tasks with the same set of CPUs form a group. The level is CPUs per ticket: a
 * task asks for level * tickets, but for one CPU at most. The groups of a set S
 * can have the CPUs that any of them may use, N(S), and no more. The level is
 * lowered until no S asks for more than N(S): a flow from groups to CPUs that
 * does not carry all that is asked for shows one that does, and the level at
 * which that S asks for just N(S) is the next one. The last S has its shares
 * then. It uses up its CPUs, so the others go on without both.
 */
#include <stdlib.h>
#include <string.h>

#include "files.h"
#include "waterfill.h"

#define CPUS		64U
/* Far below what is ever shown, far above what a sum of doubles loses. */
#define EPSILON		(1 / 1e12)
/* A level at which every task asks for a whole CPU. */
#define LEVEL_MAX	1.0

struct group {
	u64 cpus;
	bool done;		/* its tasks have their shares */
	bool chosen;		/* it belongs to S */
	double asked;
	double left;		/* of it, what no CPU has taken yet */
	double on[CPUS];
};

struct fill {
	struct waterfill_task *tasks;
	size_t count;
	u32 *order;		/* tasks that take part, most tickets first */
	u16 *group_of;		/* of the task order[i] */
	size_t active;
	struct group *group;
	unsigned int groups;
	double room[CPUS];	/* what is left of each CPU */
};

static unsigned int lowest(u64 cpus)
{
	return (unsigned int)__builtin_ctzll(cpus);
}

static int more_tickets(const void *a, const void *b, void *tasks)
{
	const struct waterfill_task *task = tasks;
	u32 one = *(const u32 *)a, other = *(const u32 *)b;

	if (task[one].tickets != task[other].tickets)
		return task[one].tickets < task[other].tickets ? 1 : -1;
	return one < other ? -1 : 1;
}

/* The group of that set of CPUs, a new one if need be; groups when there is no room. */
static unsigned int group_find(struct fill *f, u64 cpus)
{
	unsigned int g;

	for (g = 0; g < f->groups; g++)
		if (f->group[g].cpus == cpus)
			return g;
	if (g < WATERFILL_SETS_MAX)
		f->group[f->groups++].cpus = cpus;
	return g;
}

/* Which tasks take part, in which groups; false when there are too many groups. */
static bool fill_groups(struct fill *f, u64 cpus)
{
	size_t i;

	for (i = 0; i < f->count; i++)
		if (f->tasks[i].tickets && f->tasks[i].cpus & cpus)
			f->order[f->active++] = (u32)i;
	qsort_r(f->order, f->active, sizeof(*f->order), more_tickets, f->tasks);
	for (i = 0; i < f->active; i++) {
		unsigned int g = group_find(f, f->tasks[f->order[i]].cpus & cpus);

		if (g == WATERFILL_SETS_MAX)
			return false;
		f->group_of[i] = (u16)g;
	}
	return true;
}

static double ask(u32 tickets, double level)
{
	double asked = tickets * level;

	return asked < 1 ? asked : 1;
}

static void ask_all(struct fill *f, double level)
{
	unsigned int g;
	size_t i;

	for (g = 0; g < f->groups; g++)
		f->group[g].asked = 0;
	for (i = 0; i < f->active; i++)
		f->group[f->group_of[i]].asked += ask(f->tasks[f->order[i]].tickets, level);
}

/* How a path came to a CPU: from which group, and from which CPU that one was reached. */
struct path {
	u64 seen;
	u16 group[CPUS];
	u8 from[CPUS];		/* itself: the group is where the path begins */
};

static void path_add(struct path *p, u64 cpus, unsigned int g, unsigned int from)
{
	for (cpus &= ~p->seen; cpus; cpus &= cpus - 1) {
		unsigned int cpu = lowest(cpus);

		p->seen |= BIT_ULL(cpu);
		p->group[cpu] = (u16)g;
		p->from[cpu] = (u8)(from < CPUS ? from : cpu);
	}
}

/* The nearest CPU with room that @start reaches by moving others aside; CPUS: none. */
static unsigned int path_find(const struct fill *f, unsigned int start, struct path *p)
{
	u64 looked = 0, next;
	unsigned int g;

	p->seen = 0;
	path_add(p, f->group[start].cpus, start, CPUS);
	while ((next = p->seen & ~looked)) {
		u64 rest;

		for (rest = next; rest; rest &= rest - 1)
			if (f->room[lowest(rest)] > EPSILON)
				return lowest(rest);
		for (rest = next; rest; rest &= rest - 1)
			for (g = 0; g < f->groups; g++)
				if (f->group[g].on[lowest(rest)] > EPSILON)
					path_add(p, f->group[g].cpus, g, lowest(rest));
		looked |= next;
	}
	return CPUS;
}

/* Let as much as the path holds flow along it, to its end @cpu. */
static void path_use(struct fill *f, unsigned int start, const struct path *p, unsigned int cpu)
{
	double flow = f->room[cpu];
	unsigned int at;

	if (flow > f->group[start].left)
		flow = f->group[start].left;
	for (at = cpu; p->from[at] != at; at = p->from[at])
		if (flow > f->group[p->group[at]].on[p->from[at]])
			flow = f->group[p->group[at]].on[p->from[at]];
	for (at = cpu; p->from[at] != at; at = p->from[at]) {
		f->group[p->group[at]].on[at] += flow;
		f->group[p->group[at]].on[p->from[at]] -= flow;
	}
	f->group[start].on[at] += flow;
	f->group[start].left -= flow;
	f->room[cpu] -= flow;
}

/*
 * Give every group the CPU time that it asks for. 0 when that is possible;
 * otherwise CPUs that the groups on them alone ask too much of.
 */
static u64 flow(struct fill *f, u64 cpus)
{
	u64 short_of = 0;
	unsigned int g;

	for (; cpus; cpus &= cpus - 1)
		f->room[lowest(cpus)] = 1;
	for (g = 0; g < f->groups; g++) {
		f->group[g].left = f->group[g].done ? 0 : f->group[g].asked;
		memset(f->group[g].on, 0, sizeof(f->group[g].on));
	}
	for (g = 0; g < f->groups; g++) {
		while (f->group[g].left > EPSILON) {
			struct path path;
			unsigned int cpu = path_find(f, g, &path);

			if (cpu == CPUS) {
				short_of |= path.seen;
				break;
			}
			path_use(f, g, &path, cpu);
		}
	}
	return short_of;
}

static void choose(struct fill *f, u64 cpus)
{
	unsigned int g;

	for (g = 0; g < f->groups; g++)
		f->group[g].chosen = !f->group[g].done && !(f->group[g].cpus & ~cpus);
}

/* The level at which the chosen ask for just @cpus CPUs. */
static double level_of_chosen(const struct fill *f, unsigned int cpus)
{
	u64 tickets = 0;
	size_t i;

	for (i = 0; i < f->active; i++)
		if (f->group[f->group_of[i]].chosen)
			tickets += f->tasks[f->order[i]].tickets;
	for (i = 0; i < f->active; i++) {
		u64 mine = f->tasks[f->order[i]].tickets;

		if (!f->group[f->group_of[i]].chosen)
			continue;
		/* those with the most tickets have a whole CPU each */
		if (mine * cpus <= tickets)
			return (double)cpus / (double)tickets;
		cpus--;
		tickets -= mine;
	}
	return LEVEL_MAX;
}

/* The chosen have what they ask for at @level, and need no more looking at. */
static void settle(struct fill *f, double level)
{
	unsigned int g;
	size_t i;

	for (i = 0; i < f->active; i++) {
		struct waterfill_task *task = &f->tasks[f->order[i]];

		if (f->group[f->group_of[i]].chosen)
			task->share = ask(task->tickets, level);
	}
	for (g = 0; g < f->groups; g++)
		f->group[g].done |= f->group[g].chosen;
}

/* One group or more gets its shares; the CPUs that are left for the others. */
static u64 fill_some(struct fill *f, u64 cpus)
{
	double level = LEVEL_MAX, lower;
	u64 full = 0, short_of;
	unsigned int g;

	for (;;) {
		ask_all(f, level);
		short_of = flow(f, cpus);
		if (!short_of)
			break;
		choose(f, short_of);
		lower = level_of_chosen(f, (unsigned int)__builtin_popcountll(short_of));
		full = short_of;
		/* what is missing then is what doubles lose */
		if (lower >= level * (1 - EPSILON))
			break;
		level = lower;
	}
	choose(f, full ? full : cpus);
	settle(f, level);
	cpus &= ~full;
	for (g = 0; g < f->groups; g++)
		f->group[g].cpus &= cpus;
	return full ? cpus : 0;
}

bool waterfill(struct waterfill_task *tasks, size_t count, u64 cpus)
{
	struct fill f = { .tasks = tasks, .count = count };
	bool good;
	size_t i;

	f.order = xcalloc(count + 1, sizeof(*f.order));
	f.group_of = xcalloc(count + 1, sizeof(*f.group_of));
	f.group = xcalloc(WATERFILL_SETS_MAX, sizeof(*f.group));
	good = fill_groups(&f, cpus);
	if (good) {
		for (i = 0; i < count; i++)
			tasks[i].share = 0;
		while (f.active && cpus)
			cpus = fill_some(&f, cpus);
	}
	free(f.group);
	free(f.group_of);
	free(f.order);
	return good;
}
