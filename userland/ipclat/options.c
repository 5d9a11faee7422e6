// SPDX-License-Identifier: GPL-2.0
/* options.c - ipclat's command line. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "hog.h"
#include "ipclat.h"
#include "lottery_sched.h"
#include "memory.h"
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
#define REPEATS_MAX	10000U
#define SECONDS_MAX	3600U
#define PERCENTILES	"1,50,99,99.9"
#define PERCENTILE_LENGTH	8U
#define BAD_PERCENTILES \
	"--percentiles: bad value '%s': allowed up to %u numbers 0..100 of up to %u characters"

static const char usage[] =
"Usage: ipclat [options]\n"
"\n"
"Measure how long a message needs from one thread, process or container to another,\n"
"through each of several mechanisms: from just before it is published until the\n"
"receiver has it.\n"
"\n"
"  -m, --mechanism LIST  names with commas between them, or all, or baselines (all)\n"
"  -a, --available       leave out what cannot be used here, as all does\n"
"  -l, --list            what there is, and what cannot be used here\n"
"  -k, --iterations N    messages of a repeat (10000; up to 100000000)\n"
"  -n, --repeats N       how often; mechanisms take turns (10; up to 10000)\n"
"  -w, --warmup N        messages before those, which do not count (1000)\n"
"      --seconds S       the most that a repeat takes (10; 0.1 to 3600)\n"
"      --policy POLICY   " POLICY_FORMS "\n"
"                        of both sides (other)\n"
"      --pin             each side on a CPU of its own: the first two\n"
"      --cpus CPUS       of the sender and the receiver: A,B or a relation of theirs:\n"
"                        same-core, sibling, cross-core, numa\n"
"      --both-ways       each mechanism once more with the two CPUs exchanged\n"
"      --hogs N          CPU-bound processes beside it (0; up to 64) ...\n"
"      --hog-tickets N   ... as lottery tasks with N tickets each\n"
"      --runtime PROGRAM of containers: crun, runc, youki, podman or docker (the first\n"
"                        of these that is there)\n"
"      --percentiles LIST  which are shown (1,50,99,99.9; up to 16)\n"
"      --histogram FILE  all samples, CSV\n"
"      --repeats-csv FILE  the mean and median of each repeat\n"
"      --json            one JSON document\n"
"      --buckets         with all samples in it\n"
"      --csv             the table as CSV\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_SECONDS = 256, OPT_POLICY, OPT_PIN, OPT_HOGS, OPT_HOG_TICKETS, OPT_RUNTIME,
	OPT_HISTOGRAM, OPT_REPEATS_CSV, OPT_JSON, OPT_BUCKETS, OPT_CSV, OPT_SIDE, OPT_CPUS,
	OPT_BOTH_WAYS, OPT_PERCENTILES,
};

static const struct option longs[] = {
	{ "mechanism", required_argument, NULL, 'm' },
	{ "available", no_argument, NULL, 'a' },
	{ "list", no_argument, NULL, 'l' },
	{ "iterations", required_argument, NULL, 'k' },
	{ "repeats", required_argument, NULL, 'n' },
	{ "warmup", required_argument, NULL, 'w' },
	{ "seconds", required_argument, NULL, OPT_SECONDS },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "pin", no_argument, NULL, OPT_PIN },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "both-ways", no_argument, NULL, OPT_BOTH_WAYS },
	{ "percentiles", required_argument, NULL, OPT_PERCENTILES },
	{ "hogs", required_argument, NULL, OPT_HOGS },
	{ "hog-tickets", required_argument, NULL, OPT_HOG_TICKETS },
	{ "runtime", required_argument, NULL, OPT_RUNTIME },
	{ "histogram", required_argument, NULL, OPT_HISTOGRAM },
	{ "repeats-csv", required_argument, NULL, OPT_REPEATS_CSV },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "buckets", no_argument, NULL, OPT_BUCKETS },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "side", required_argument, NULL, OPT_SIDE },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static bool parse_settings(int c, struct options *o)
{
	struct settings *s = &o->s;

	switch (c) {
	case 'k':
		s->iterations = args_number("--iterations", optarg, 1, ITERATIONS_MAX);
		return true;
	case 'n':
		s->repeats = (u32)args_number("--repeats", optarg, 1, REPEATS_MAX);
		return true;
	case 'w':
		s->warmup = args_number("--warmup", optarg, 0, ITERATIONS_MAX);
		return true;
	case OPT_SECONDS:
		s->limit_ns = args_decimal("--seconds", optarg, MICRO / 10, SECONDS_MAX * MICRO,
					   "0.1..3600 s") * NSEC_PER_USEC;
		return true;
	case OPT_POLICY:
		s->policy = policy_argument("--policy", optarg);
		o->policy = optarg;
		return true;
	case OPT_PIN:
		o->cpus = "pin";
		place_first_two(s->cpu);
		return true;
	case OPT_CPUS:
		o->cpus = optarg;
		place_sides(optarg, s->cpu);
		return true;
	case OPT_BOTH_WAYS:
		o->both_ways = true;
		return true;
	case OPT_HOGS:
		o->hogs = (u32)args_number("--hogs", optarg, 0, HOGS_MAX);
		return true;
	case OPT_HOG_TICKETS:
		o->hog_tickets = (u32)args_number("--hog-tickets", optarg, 1, LOTTERY_TICKETS_MAX);
		return true;
	}
	return false;
}

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

static void parse_percentiles(const char *text, struct options *o)
{
	/* the texts are used to the end */
	char *rest = xstrdup(text), *word;

	o->percentiles = 0;
	while ((word = strsep(&rest, ","))) {
		struct percentile *p = &o->percentile[o->percentiles];

		if (o->percentiles == PERCENTILES_MAX || !parse_percentile(word, &p->q))
			die(EXIT_USAGE, BAD_PERCENTILES, text, PERCENTILES_MAX,
			    PERCENTILE_LENGTH);
		p->text = word;
		o->percentiles++;
	}
}

static void set_form(struct options *o, enum form form)
{
	if (o->form != FORM_TABLE && o->form != form)
		die(EXIT_USAGE, "--json and --csv: one of them is allowed");
	o->form = form;
}

static bool parse_output(int c, struct options *o)
{
	switch (c) {
	case OPT_HISTOGRAM:
		o->histogram.path = optarg;
		return true;
	case OPT_REPEATS_CSV:
		o->repeats.path = optarg;
		return true;
	case OPT_JSON:
		set_form(o, FORM_JSON);
		return true;
	case OPT_BUCKETS:
		o->buckets = true;
		return true;
	case OPT_PERCENTILES:
		parse_percentiles(optarg, o);
		return true;
	case OPT_CSV:
		set_form(o, FORM_CSV);
		return true;
	case OPT_SIDE:
		o->side = optarg;
		return true;
	case OPT_RUNTIME:
		set_runtime(optarg);
		return true;
	}
	return false;
}

void parse_options(int argc, char **argv, struct options *o)
{
	bool list = false;
	int c;

	*o = (struct options){
		.s = { .iterations = 10000, .warmup = 1000, .repeats = 10,
		       .limit_ns = 10 * NSEC_PER_SEC, .cpu = { -1, -1 } },
		.list = "all", .policy = "other",
	};
	parse_percentiles(PERCENTILES, o);
	while ((c = getopt_long(argc, argv, ":m:alk:n:w:hV", longs, NULL)) != -1) {
		if (parse_settings(c, o) || parse_output(c, o))
			continue;
		switch (c) {
		case 'm':
			o->list = optarg;
			break;
		case 'a':
			o->available = true;
			break;
		case 'l':
			list = true;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	args_no_more(argc, argv, optind);
	if (list)
		list_mechanisms();
	if (o->buckets && o->form != FORM_JSON)
		die(EXIT_USAGE, "--buckets needs --json");
	if (o->both_ways && !o->cpus)
		die(EXIT_USAGE, "--both-ways needs --cpus or --pin");
	if (o->hog_tickets && !o->hogs)
		die(EXIT_USAGE, "--hog-tickets needs --hogs");
}
