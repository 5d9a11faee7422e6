// SPDX-License-Identifier: GPL-2.0
/* choice.c - the mechanisms: which there are, which were asked for, which are missing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "container_runtime.h"
#include "ipclat.h"
#include "memory.h"

static const struct mechanism *const mechanisms[] = {
	&via_spin, &via_spin_affinity, &via_spin_shm, &via_semaphore, &via_zmq_inproc,
	&via_zmq_ipc, &via_zmq_tcp, &via_zmq_containers, &via_shm_containers, &via_futex,
	&via_pipe, &via_eventfd, &via_unix, &via_mq, &base_flag, &base_zmq_perf, NULL
};

const struct mechanism *find_mechanism(const char *name)
{
	unsigned int i;

	for (i = 0; mechanisms[i]; i++)
		if (!strcmp(mechanisms[i]->name, name))
			return mechanisms[i];
	return NULL;
}

static const char *why_missing(const struct mechanism *m)
{
	unsigned int cpus[SIDES];

	if (m->spins && allowed_cpus(cpus, SIDES) < SIDES)
		return "spinning needs two CPUs";
	return m->missing ? m->missing() : NULL;
}

void __noreturn list_mechanisms(void)
{
	unsigned int i;

	for (i = 0; mechanisms[i]; i++) {
		const struct mechanism *m = mechanisms[i];
		const char *missing = why_missing(m);

		printf("%-20s %s", m->name, m->text);
		if (missing)
			printf(" (not supported here: %s)", missing);
		else if (m->containers)
			printf(" (by %s)", runtime_path());
		puts("");
	}
	finish_output();
	exit(EXIT_GOOD);
}

static void choose(struct options *o, const struct mechanism *m, bool named)
{
	unsigned int i;

	for (i = 0; i < o->count && o->chosen[i].m != m; i++)
		continue;
	if (i == o->count)
		o->chosen[o->count++].m = m;
	if (named)
		o->chosen[i].named = true;
}

static void choose_kind(struct options *o, bool baselines)
{
	unsigned int i;

	for (i = 0; mechanisms[i]; i++)
		if (mechanisms[i]->baseline == baselines)
			choose(o, mechanisms[i], false);
}

void choose_list(struct options *o, const char *text)
{
	char *words = xstrdup(text), *rest = words, *word;

	while ((word = strsep(&rest, ","))) {
		const struct mechanism *m = find_mechanism(word);

		if (m)
			choose(o, m, true);
		else if (!strcmp(word, "all") || !strcmp(word, "baselines"))
			choose_kind(o, *word == 'b');
		else
			die(EXIT_USAGE, "--mechanism: bad value '%s': try --list", word);
	}
	free(words);
}

/* Each way of a mechanism has a row of its own, one after the other. */
static void choose_both_ways(struct options *o)
{
	unsigned int i = o->count;

	o->count *= 2;
	while (i--) {
		o->chosen[2 * i + 1] = o->chosen[i];
		o->chosen[2 * i] = o->chosen[i];
		o->chosen[2 * i + 1].back = true;
	}
}

void check_mechanisms(struct options *o)
{
	bool demanded = false;
	unsigned int i;

	if (o->both_ways)
		choose_both_ways(o);
	for (i = 0; i < o->count; i++) {
		struct chosen *c = &o->chosen[i];

		c->missing = why_missing(c->m);
		if (!c->missing && c->m->spins && o->cpus &&
		    o->s.cpu[SENDER] == o->s.cpu[RECEIVER])
			c->missing = "spinning needs two CPUs";
		if (c->missing && c->named && !c->back && !o->available) {
			complain("%s: not supported here: %s", c->m->name, c->missing);
			demanded = true;
		}
	}
	if (demanded)
		exit(EXIT_UNSUPPORTED);
	for (i = 0; i < o->count; i++) {
		struct chosen *c = &o->chosen[i];

		if (c->missing && !c->back)
			complain("%s: left out, not supported here: %s", c->m->name, c->missing);
		c->histogram = xcalloc(1, sizeof(*c->histogram));
		c->repeats = xcalloc(o->s.repeats, sizeof(*c->repeats));
	}
}
