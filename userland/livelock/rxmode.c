// SPDX-License-Identifier: GPL-2.0
/* rxmode.c - show and set how a port of napi_livelock receives. */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "json.h"
#include "nic.h"
#include "procfs.h"

#define STATS_MAX	64
#define TEXT_MAX	64
#define PATH_SIZE	128
#define WATCH_MAX_S	86400U

static const char usage[] =
"Usage: rxmode [options] DEVICE [NAME VALUE]...\n"
"\n"
"Show how a network device of the driver napi_livelock receives, or change that.\n"
"All changes are made, or none.\n"
"\n"
"  mode     interrupt, poll, napi, hybrid\n"
"  limit    per cent of a CPU's time for receiving, 1..95 (50)\n"
"  high     per cent of buffers or ring that make hybrid poll, 1..100 (40)\n"
"  low      per cent of both that let it return, below high (20)\n"
"  quota    frames of a port before it is the next one's turn, 1..4096 (32)\n"
"  hold_us  how long it has to be calm before that, 20000..1000000 (50000)\n"
"  poll_us  from one round of polling to the next, 100..10000 (1000)\n"
"  buffers  of 512 bytes that applications may be behind, 32..2048 (160)\n"
"\n"
"  -w, --watch SECONDS  show what is counted in each of SECONDS seconds\n"
"      --json           one JSON object a line\n"
"  -h, --help           this text\n"
"  -V, --version        the version\n";

/* The state is only shown. */
static const char *const names[] = {
	"mode", "limit", "high", "low", "quota", "hold_us", "poll_us", "buffers", "state",
};

#define SETTABLE	(ARRAY_SIZE(names) - 1)
#define ALLOWED		"mode, limit, high, low, quota, hold_us, poll_us, buffers"

struct change {
	unsigned int name;
	const char *value;
	char before[TEXT_MAX];
};

struct request {
	struct nic nic;
	struct change change[SETTABLE];
	unsigned int changes;
	unsigned int watch_s;
	bool json;
};

static int get(const struct nic *nic, unsigned int name, char *text)
{
	char path[PATH_SIZE];
	int length;

	snprintf(path, sizeof(path), "/sys/class/net/%s/nll/%s", nic->name, names[name]);
	length = read_text(path, text, TEXT_MAX);
	if (length < 0)
		return length;
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int set(const struct nic *nic, unsigned int name, const char *value)
{
	char attribute[TEXT_MAX];

	snprintf(attribute, sizeof(attribute), "nll/%s", names[name]);
	/* An empty write does not get as far as the driver. */
	return *value ? nic_set(nic, attribute, value) : -EINVAL;
}

static unsigned int settable(const char *text)
{
	unsigned int i;

	for (i = 0; i < SETTABLE; i++)
		if (!strcmp(text, names[i]))
			return i;
	die(EXIT_USAGE, "name '%s': allowed are " ALLOWED, text);
}

static void undo(const struct request *r, unsigned int done)
{
	while (done--)
		set(&r->nic, r->change[done].name, r->change[done].before);
}

static void apply(struct request *r)
{
	unsigned int i;
	int error;

	for (i = 0; i < r->changes; i++) {
		struct change *c = &r->change[i];

		error = get(&r->nic, c->name, c->before);
		if (!error)
			error = set(&r->nic, c->name, c->value);
		if (!error)
			continue;
		undo(r, i);
		if (error == -EINVAL)
			die(EXIT_USAGE, "%s '%s': not allowed, see rxmode --help", names[c->name],
			    c->value);
		die(EXIT_FAILED, "%s '%s': %s", names[c->name], c->value, strerror(-error));
	}
}

static unsigned int read_stats(const struct nic *nic, struct nic_stat *stats)
{
	int count = nic_stats(nic, stats, STATS_MAX);

	if (count < 0)
		die(EXIT_FAILED, "%s: counters: %s", nic->name, strerror(-count));
	return count < STATS_MAX ? (unsigned int)count : STATS_MAX;
}

/* Not counters: they are what they are now. */
static bool is_gauge(const char *name)
{
	return !strcmp(name, "buffers_held") || !strcmp(name, "ring_waiting");
}

static void print_stats(const struct request *r, const struct nic_stat *stats,
			const struct nic_stat *before, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		u64 value = stats[i].value;

		if (before && !is_gauge(stats[i].name))
			value -= before[i].value;
		if (r->json)
			json_number(stats[i].name, value);
		else if (value || !before)
			printf("  %-20s %llu\n", stats[i].name, value);
	}
}

static void print(const struct request *r, const struct nic_stat *before)
{
	struct nic_stat stats[STATS_MAX];
	unsigned int count, i;
	char text[TEXT_MAX];
	int error;

	if (r->json) {
		json_open();
		json_text("device", r->nic.name);
	} else {
		printf("%s", r->nic.name);
	}
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		error = get(&r->nic, i, text);
		if (error)
			die(EXIT_FAILED, "%s: %s: %s", r->nic.name, names[i], strerror(-error));
		if (r->json)
			json_text(names[i], text);
		else
			printf(" %s %s", names[i], text);
	}
	if (!r->json)
		putchar('\n');
	count = read_stats(&r->nic, stats);
	print_stats(r, stats, before, count);
	if (r->json)
		json_close();
	finish_output();
}

static void watch(const struct request *r)
{
	struct nic_stat before[STATS_MAX];
	u64 next = now_ns();
	unsigned int i;

	for (i = 0; i < r->watch_s; i++) {
		read_stats(&r->nic, before);
		next += NSEC_PER_SEC;
		sleep_until_ns(next);
		print(r, before);
	}
}

static void parse_operands(int argc, char **argv, struct request *r)
{
	char text[TEXT_MAX];

	if (optind == argc)
		die(EXIT_USAGE, "no device; see rxmode --help");
	if (strlen(argv[optind]) >= sizeof(r->nic.name) || strchr(argv[optind], '/'))
		die(EXIT_USAGE, "device '%s': no such network device", argv[optind]);
	snprintf(r->nic.name, sizeof(r->nic.name), "%s", argv[optind++]);
	if (!if_nametoindex(r->nic.name))
		die(EXIT_USAGE, "device '%s': no such network device", r->nic.name);
	if (get(&r->nic, 0, text))
		die(EXIT_UNSUPPORTED, "device '%s': not a device of napi_livelock", r->nic.name);
	for (; optind < argc; optind += 2) {
		struct change *c = &r->change[r->changes];

		if (r->changes == SETTABLE)
			die(EXIT_USAGE, "more than %zu changes", SETTABLE);
		c->name = settable(argv[optind]);
		if (optind + 1 == argc)
			die(EXIT_USAGE, "name '%s': a value is missing", argv[optind]);
		c->value = argv[optind + 1];
		r->changes++;
	}
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "watch", required_argument, NULL, 'w' },
		{ "json", no_argument, NULL, 'j' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	struct request r = { };
	int c;

	args_init("rxmode");
	while ((c = getopt_long(argc, argv, ":w:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'w':
			r.watch_s = (unsigned int)args_number("watch", optarg, 1, WATCH_MAX_S);
			break;
		case 'j':
			r.json = true;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	parse_operands(argc, argv, &r);
	apply(&r);
	if (r.watch_s)
		watch(&r);
	else if (!r.changes || r.json)
		print(&r, NULL);
	return EXIT_GOOD;
}
