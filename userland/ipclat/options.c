// SPDX-License-Identifier: GPL-2.0
/* options.c - ipclat's command line. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "crew.h"
#include "files.h"
#include "ipclat.h"
#include "lottery_sched.h"
#include "opts.h"
#include "place.h"

/* Words through file descriptors. */

void write_word(const char *what, int fd, u64 word)
{
	ssize_t done;

	while ((done = write(fd, &word, sizeof(word))) < 0 && errno == EINTR)
		continue;
	if (done != sizeof(word))
		die(EXIT_FAILED, "%s: cannot write: %s", what, strerror(errno));
}

u64 read_word(const char *what, int fd)
{
	ssize_t done;
	u64 word;

	while ((done = read(fd, &word, sizeof(word))) < 0 && errno == EINTR)
		continue;
	if (!done)
		die(EXIT_FAILED, "%s: the other side is gone", what);
	if (done != sizeof(word))
		die(EXIT_FAILED, "%s: cannot read: %s", what, strerror(errno));
	return word;
}

/* The mechanisms: which there are, which were asked for, which are missing. */

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

#define ITERATIONS_MAX	100000000U
#define PERCENTILE_LENGTH	8U
#define BAD_PERCENTILES \
	"--percentiles: bad value '%s': allowed up to %u numbers 0..100 of up to %u characters"

static struct options o;

/* "99.9" */
static bool parse_percentile(const char *text, double *q)
{
	size_t digits = strspn(text, "0123456789");
	const char *rest = text + digits;

	if (!digits || digits > 3 || (*rest && *rest != '.'))
		return false;
	if (*rest && (!rest[1] || rest[1 + strspn(rest + 1, "0123456789")]))
		return false;
	*q = strtod(text, NULL) / 100;
	return *q <= 1 && strlen(text) <= PERCENTILE_LENGTH;
}

static void take_percentiles(const struct opt *row, const char *text)
{
	/* the texts are used to the end */
	char *rest = xstrdup(text), *word;

	(void)row;
	o.percentiles = 0;
	while ((word = strsep(&rest, ","))) {
		struct percentile *p = &o.percentile[o.percentiles];

		if (o.percentiles == PERCENTILES_MAX || !parse_percentile(word, &p->q))
			die(EXIT_USAGE, BAD_PERCENTILES, text, PERCENTILES_MAX,
			    PERCENTILE_LENGTH);
		p->text = word;
		o.percentiles++;
	}
}

static void take_policy(const struct opt *row, const char *text)
{
	o.s.policy = policy_argument(row->name, text);
	o.policy = text;
}

static void take_pin(const struct opt *row, const char *text)
{
	(void)row;
	(void)text;
	o.cpus = "pin";
	place_first_two(o.s.cpu);
}

static void take_cpus(const struct opt *row, const char *text)
{
	(void)row;
	o.cpus = text;
	place_sides(text, o.s.cpu);
}

static void take_runtime(const struct opt *row, const char *text)
{
	(void)row;
	set_runtime(text);
}

/* The form of the row, unless there is another one. */
static void take_form(const struct opt *row, const char *text)
{
	(void)text;
	if (o.form != FORM_TABLE && o.form != row->tag)
		die(EXIT_USAGE, "--json and --csv: one of them is allowed");
	o.form = row->tag;
}

static bool list;
/* What may be in it; with the names of all mechanisms behind these. */
static const char *list_words[ARRAY_SIZE(mechanisms) + 2] = { "all", "baselines" };

static const struct opt rows[] = {
	OPT('m', "--mechanism", "LIST", TEXT(o.list, "all"),
	    "names with commas between them, or all, or baselines (%d)",
	    .names = list_words),
	OPT('a', "--available", NULL, FLAG(o.available),
	    "leave out what cannot be used here, as all does"),
	OPT('l', "--list", NULL, FLAG(list), "what there is, and what cannot be used here"),
	OPT('k', "--iterations", "N", NUMBER(o.s.iterations, 1, ITERATIONS_MAX, 10000),
	    "messages of a repeat (%d; up to 100000000)"),
	OPT('n', "--repeats", "N", NUMBER(o.s.repeats, 1, 10000, 10),
	    "how often; mechanisms take turns (%d; up to 10000)"),
	OPT('w', "--warmup", "N", NUMBER(o.s.warmup, 0, ITERATIONS_MAX, 1000),
	    "messages before those, which do not count (%d)"),
	OPT(0, "--seconds", "S",
	    DECIMAL(o.s.limit_ns, MICRO / 10, 3600 * MICRO, 10 * MICRO, NSEC_PER_USEC,
		    "0.1..3600 s"), "the most that a repeat takes (%d; 0.1 to 3600)"),
	OPT(0, "--policy", "POLICY", CALL(take_policy), POLICY_FORMS "\nof both sides (%d)",
	    .text = "other", .names = policy_words),
	OPT(0, "--pin", NULL, CALL(take_pin), "each side on a CPU of its own: the first two"),
	OPT(0, "--cpus", "CPUS", CALL(take_cpus),
	    "of the sender and the receiver: A,B or a relation of theirs:\n%r",
	    .names = (const char *const []){
		"same-core", "sibling", "cross-core", "numa", NULL
	    }),
	OPT(0, "--both-ways", NULL, FLAG(o.both_ways),
	    "each mechanism once more with the two CPUs exchanged"),
	OPT(0, "--hogs", "N", NUMBER(o.hogs, 0, HOGS_MAX, 0),
	    "CPU-bound processes run meanwhile (%d; up to 64) ..."),
	OPT(0, "--hog-tickets", "N", NUMBER(o.hog_tickets, 1, LOTTERY_TICKETS_MAX, 0),
	    "... as lottery tasks with N tickets each"),
	OPT(0, "--runtime", "PROGRAM", CALL(take_runtime),
	    "of containers: %r (the first of these\nthat is there)",
	    .names = (const char *const []){
		"crun", "runc", "youki", "podman", "docker", NULL
	    }),
	OPT(0, "--percentiles", "LIST", CALL(take_percentiles),
	    "which are shown (%d; up to 16)", .text = "1,50,99,99.9"),
	OPT(0, "--histogram", "FILE", TEXT(o.histogram.path, NULL), "all samples, CSV"),
	OPT(0, "--repeats-csv", "FILE", TEXT(o.repeats.path, NULL),
	    "the mean and median of each repeat"),
	OPT(0, "--json", NULL, CALL(take_form), "one JSON document", .tag = FORM_JSON),
	OPT(0, "--buckets", NULL, FLAG(o.buckets), "with all samples in it"),
	OPT(0, "--csv", NULL, CALL(take_form), "the table as CSV", .tag = FORM_CSV),
	OPT(0, "--side", "SIDE", TEXT(o.side, NULL), NULL),
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: ipclat [options]\n"
"\n"
"Measure how long a message needs from one thread, process or container to another,\n"
"through each of several mechanisms: from just before it is published until the\n"
"receiver has it.\n"
"\n",
	.rows = rows,
};

struct options parse_options(int argc, char **argv)
{
	unsigned int i;

	for (i = 0; mechanisms[i]; i++)
		list_words[i + 2] = mechanisms[i]->name;
	o.s.cpu[SENDER] = -1;
	o.s.cpu[RECEIVER] = -1;
	opts_parse(&opts, argc, argv);
	if (list)
		list_mechanisms();
	if (o.buckets && o.form != FORM_JSON)
		die(EXIT_USAGE, "--buckets needs --json");
	if (o.both_ways && !o.cpus)
		die(EXIT_USAGE, "--both-ways needs --cpus or --pin");
	if (o.hog_tickets && !o.hogs)
		die(EXIT_USAGE, "--hog-tickets needs --hogs");
	return o;
}
