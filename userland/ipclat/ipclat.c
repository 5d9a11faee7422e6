// SPDX-License-Identifier: GPL-2.0
/* ipclat.c - how long one thread needs to reach another. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "affinity.h"
#include "args.h"
#include "container.h"
#include "container_runtime.h"
#include "hog.h"
#include "json.h"
#include "lottery_sched.h"
#include "memory.h"
#include "pair.h"

#define ITERATIONS_MAX	100000000U
#define REPEATS_MAX	10000U
#define SECONDS_MAX	3600U
#define CHOSEN_MAX	32U
#define CALIBRATION_NS	(200 * NSEC_PER_MSEC)

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
"      --seconds S       the most that a repeat takes (10; up to 3600)\n"
"      --policy POLICY   " POLICY_FORMS "\n"
"                        of both sides (other)\n"
"      --pin             each side on a CPU of its own\n"
"      --hogs N          CPU-bound processes beside it (0; up to 64) ...\n"
"      --hog-tickets N   ... as lottery tasks with N tickets each\n"
"      --runtime PROGRAM of containers: crun, runc, youki, podman or docker (the first\n"
"                        of these that is there)\n"
"      --histogram FILE  all samples, CSV\n"
"      --repeats-csv FILE  the mean and median of each repeat\n"
"      --json            one JSON object for each mechanism\n"
"      --buckets         with all samples in it, as text\n"
"      --csv             the table as CSV\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_SECONDS = 256, OPT_POLICY, OPT_PIN, OPT_HOGS, OPT_HOG_TICKETS, OPT_RUNTIME,
	OPT_HISTOGRAM, OPT_REPEATS_CSV, OPT_JSON, OPT_BUCKETS, OPT_CSV, OPT_SIDE,
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

static const struct mechanism *const mechanisms[] = {
	&via_spin, &via_spin_affinity, &via_spin_shm, &via_semaphore, &via_zmq_inproc,
	&via_zmq_ipc, &via_zmq_tcp, &via_zmq_containers, &via_shm_containers, &via_futex,
	&via_pipe, &via_eventfd, &via_unix, &via_mq, &base_flag, &base_zmq_perf, NULL
};

static const struct mechanism *find_mechanism(const char *name)
{
	unsigned int i;

	for (i = 0; mechanisms[i]; i++)
		if (!strcmp(mechanisms[i]->name, name))
			return mechanisms[i];
	return NULL;
}

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

/* A mechanism that was asked for, and what came of it. */
struct chosen {
	const struct mechanism *m;
	bool named;		/* by its own name: then it must be there */
	const char *missing;	/* why it was not measured, NULL when it was */
	struct histogram *histogram;
};

struct options {
	struct settings s;
	struct chosen chosen[CHOSEN_MAX];
	unsigned int count;
	const char *list;	/* the text of --mechanism */
	bool available;		/* a name is no demand */
	const char *policy;
	const char *side;
	u32 hogs;
	u32 hog_tickets;
	const char *histogram;
	const char *repeats;
	enum form form;
	bool buckets;
};

static const char *why_missing(const struct mechanism *m)
{
	if (m->spins && count_cpus(affinity_of(0)) < SIDES)
		return "spinning needs two CPUs";
	return m->missing ? m->missing() : NULL;
}

static void __noreturn list_mechanisms(void)
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

static void choose_list(struct options *o, const char *text)
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
		s->limit_ns = args_number("--seconds", optarg, 1, SECONDS_MAX) * NSEC_PER_SEC;
		return true;
	case OPT_POLICY:
		s->policy = policy_argument("--policy", optarg);
		o->policy = optarg;
		return true;
	case OPT_PIN:
		s->pin = true;
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

static bool parse_output(int c, struct options *o)
{
	switch (c) {
	case OPT_HISTOGRAM:
		o->histogram = optarg;
		return true;
	case OPT_REPEATS_CSV:
		o->repeats = optarg;
		return true;
	case OPT_JSON:
		o->form = FORM_JSON;
		return true;
	case OPT_BUCKETS:
		o->buckets = true;
		return true;
	case OPT_CSV:
		o->form = FORM_CSV;
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

static void parse(int argc, char **argv, struct options *o)
{
	bool list = false;
	int c;

	*o = (struct options){
		.s = { .iterations = 10000, .warmup = 1000, .repeats = 10,
		       .limit_ns = 10 * NSEC_PER_SEC },
		.list = "all", .policy = "other",
	};
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
	choose_list(o, o->list);
	if (o->buckets && o->form != FORM_JSON)
		die(EXIT_USAGE, "--buckets needs --json");
	if (o->hog_tickets && !o->hogs)
		die(EXIT_USAGE, "--hog-tickets needs --hogs");
}

static FILE *open_csv(const char *what, const char *path, const char *header)
{
	FILE *file;

	if (!path)
		return NULL;
	file = fopen(path, "we");
	if (!file)
		die(EXIT_USAGE, "%s: cannot write %s: %s", what, path, strerror(errno));
	fputs(header, file);
	return file;
}

static void close_csv(const char *what, FILE *file)
{
	if (file && (fflush(file) || ferror(file) || fclose(file)))
		die(EXIT_FAILED, "%s: cannot write: %s", what, strerror(errno));
}

/* Exits, with nothing measured, when one that must be there is not. */
static void look_what_is_missing(struct options *o)
{
	bool demanded = false;
	unsigned int i;

	for (i = 0; i < o->count; i++) {
		struct chosen *c = &o->chosen[i];

		c->missing = why_missing(c->m);
		if (c->missing && c->named && !o->available) {
			complain("%s: not supported here: %s", c->m->name, c->missing);
			demanded = true;
		}
	}
	if (demanded)
		exit(EXIT_UNSUPPORTED);
	for (i = 0; i < o->count; i++) {
		struct chosen *c = &o->chosen[i];

		if (c->missing)
			complain("%s: left out, not supported here: %s", c->m->name, c->missing);
		c->histogram = xcalloc(1, sizeof(*c->histogram));
	}
}

/* Mechanisms take turns: whatever disturbs the machine disturbs all of them. */
static int measure(struct options *o)
{
	FILE *file = open_csv("--repeats-csv", o->repeats, "mechanism,repeat,mean_ns,median_ns\n");
	double ns = NSEC_PER_SEC / o->s.tsc.hz;
	int code = EXIT_GOOD;
	u32 repeat, i;

	for (repeat = 1; repeat <= o->s.repeats; repeat++) {
		for (i = 0; i < o->count; i++) {
			struct histogram *one = xcalloc(1, sizeof(*one));
			struct chosen *c = &o->chosen[i];
			const char *bad;

			bad = c->missing ? NULL : run_pair(&o->s, c->m, one);
			if (!bad && !c->missing && !one->count)
				bad = "no message came within --seconds";
			if (bad) {
				complain("%s: %s", c->m->name, bad);
				c->missing = bad;
				code = EXIT_FAILED;
			}
			if (file && one->count)
				fprintf(file, "%s,%u,%.3f,%.3f\n", c->m->name, repeat,
					histogram_mean(one) * ns,
					histogram_quantile(one, 0.5) * ns);
			histogram_merge(c->histogram, one);
			free(one);
		}
	}
	close_csv("--repeats-csv", file);
	return code;
}

/* What is said of a mechanism, ns. */
struct row {
	struct histogram_fit fit;	/* of cycles */
	double mean, low, high, p1, p50, p99, p999, max;
};

static struct row row_of(const struct histogram *h, double ns)
{
	struct row r;

	histogram_fit(h, &r.fit);
	r.mean = r.fit.mean * ns;
	r.low = r.fit.low * ns;
	r.high = r.fit.high * ns;
	r.p1 = histogram_quantile(h, 0.01) * ns;
	r.p50 = histogram_quantile(h, 0.5) * ns;
	r.p99 = histogram_quantile(h, 0.99) * ns;
	r.p999 = histogram_quantile(h, 0.999) * ns;
	r.max = (double)h->max * ns;
	return r;
}

/* "FROM-TO:COUNT FROM-TO:COUNT ...", ns */
static void put_buckets(const struct histogram *h, double ns)
{
	size_t size = 0;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &size);
	unsigned int b;

	for (b = 0; stream && b < HISTOGRAM_BUCKETS - 1; b++)
		if (h->bucket[b])
			fprintf(stream, "%s%.2f-%.2f:%llu", ftell(stream) ? " " : "",
				(double)histogram_floor(b) * ns,
				(double)histogram_floor(b + 1) * ns, h->bucket[b]);
	if (!stream || fclose(stream))
		die(EXIT_FAILED, "no memory");
	json_text("buckets", text);
	free(text);
}

static void put_json(const struct options *o, const struct chosen *c, double ns)
{
	struct row r = row_of(c->histogram, ns);

	json_open();
	json_text("mechanism", c->m->name);
	json_text("policy", o->policy);
	json_number("hogs", o->hogs);
	json_bool("pinned", o->s.pin || c->m->pinned);
	if (c->m->containers)
		json_text("runtime", runtime_path() ? runtime_path() : "");
	json_text("missing", c->missing ? c->missing : "");
	json_number("samples", c->histogram->count);
	json_number("repeats", o->s.repeats);
	json_number("warmup", o->s.warmup);
	json_real("mean_ns", r.mean);
	json_real("low_ns", r.low);
	json_real("high_ns", r.high);
	json_real("p1_ns", r.p1);
	json_real("p50_ns", r.p50);
	json_real("p99_ns", r.p99);
	json_real("p999_ns", r.p999);
	json_real("max_ns", r.max);
	json_real("sd_ns", r.fit.sd * ns);
	json_real("p50_cycles", histogram_quantile(c->histogram, 0.5));
	json_real("model_mean_ns", r.fit.model_mean * ns);
	json_real("log_sd", r.fit.log_sd);
	json_real("distance_normal", r.fit.distance_normal);
	json_real("distance_lognormal", r.fit.distance_lognormal);
	json_real("tsc_ghz", o->s.tsc.hz / NSEC_PER_SEC);
	json_bool("tsc_invariant", o->s.tsc.invariant);
	json_real("clock_overhead_ns", (double)o->s.tsc.overhead * ns);
	if (o->buckets)
		put_buckets(c->histogram, ns);
	json_close();
}

static void put_csv(const struct chosen *c, const struct row *r)
{
	printf("%s,%llu,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f,%.3f\n", c->m->name,
	       c->histogram->count, r->mean, r->low, r->high, r->p1, r->p50, r->p99, r->p999,
	       r->max);
}

static void put_line(const struct chosen *c, const struct row *r)
{
	printf("%-18s %9llu %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %9.1f %11.1f\n", c->m->name,
	       c->histogram->count, r->mean, r->low, r->high, r->p1, r->p50, r->p99, r->p999,
	       r->max);
}

static void report(const struct options *o)
{
	double ns = NSEC_PER_SEC / o->s.tsc.hz;
	unsigned int i;

	if (o->form == FORM_TABLE) {
		printf("policy %s, %u hogs; clock %.4f GHz%s, overhead of %.1f ns taken off\n",
		       o->policy, o->hogs, o->s.tsc.hz / NSEC_PER_SEC,
		       o->s.tsc.invariant ? "" : " (not said to be constant)",
		       (double)o->s.tsc.overhead * ns);
		printf("%-18s %9s %9s %9s %9s %9s %9s %9s %9s %11s\n", "ns", "samples", "mean",
		       "low", "high", "1 %", "50 %", "99 %", "99.9 %", "max");
	} else if (o->form == FORM_CSV) {
		puts("mechanism,samples,mean_ns,low_ns,high_ns,p1_ns,p50_ns,p99_ns,p999_ns,max_ns");
	}
	for (i = 0; i < o->count; i++) {
		const struct chosen *c = &o->chosen[i];
		struct row r = row_of(c->histogram, ns);

		if (o->form == FORM_JSON)
			put_json(o, c, ns);
		else if (!c->histogram->count)
			continue;
		else if (o->form == FORM_CSV)
			put_csv(c, &r);
		else
			put_line(c, &r);
	}
	finish_output();
}

/* Bucket by bucket, so that any figure can be drawn again. */
static void write_histograms(const struct options *o)
{
	FILE *file = open_csv("--histogram", o->histogram, "mechanism,from_ns,to_ns,count\n");
	double ns = NSEC_PER_SEC / o->s.tsc.hz;
	unsigned int i, b;

	for (i = 0; file && i < o->count; i++) {
		const struct chosen *c = &o->chosen[i];

		for (b = 0; b < HISTOGRAM_BUCKETS - 1; b++)
			if (c->histogram->bucket[b])
				fprintf(file, "%s,%.2f,%.2f,%llu\n", c->m->name,
					(double)histogram_floor(b) * ns,
					(double)histogram_floor(b + 1) * ns,
					c->histogram->bucket[b]);
	}
	close_csv("--histogram", file);
}

int main(int argc, char **argv)
{
	struct options o;
	struct crew hogs;
	int code;

	args_init("ipclat");
	parse(argc, argv, &o);
	if (o.side)
		return contained_side(find_mechanism(o.list), o.side);
	look_what_is_missing(&o);
	policy_try(&o.s.policy);
	tsc_calibrate(&o.s.tsc, CALIBRATION_NS);
	hogs_start(&hogs, o.hogs, o.hog_tickets);
	code = measure(&o);
	hogs_stop(&hogs);
	report(&o);
	write_histograms(&o);
	return code;
}
