// SPDX-License-Identifier: GPL-2.0
/* rxmode.c - show and set how a network device receives. */
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "json.h"
#include "nic.h"
#include "opts.h"
#include "procfs.h"

#define STATS_MAX	64
#define TEXT_MAX	64
#define STATS_SIZE	1024
#define NAPI_SIZE	4096
#define WORD_SIZE	16
#define PATH_SIZE	128
#define WATCH_MAX_S	86400U

#define GOVERNOR_MISSING	"this kernel has no CONFIG_NET_GOVERNOR"

#define NAMES_MAX	7

/* A decider: where its attributes are, and what they may be. The first one is the mode. */
struct decider {
	const char *directory;
	const char *name[NAMES_MAX + 1];
	const char *mode[4];
	struct {
		u32 min;
		u32 max;
	} range[NAMES_MAX];
};

static const struct decider driver = {
	"nll",
	{ "mode", "quota", "poll_us" },
	{ "interrupt", "poll", "napi" },
	{ { }, { 1, 64 }, { 100, 10000 } },
};

static const struct decider governor = {
	"governor",
	{ "mode", "limit", "high", "low", "quota", "round_us", "hold_us" },
	{ "off", "poll", "auto" },
	{ { }, { 1, 95 }, { 26, 100 }, { 1, 25 }, { 1, 4096 }, { 50, 10000 }, { 20000, 1000000 } },
};

struct change {
	unsigned int name;
	const char *value;
	char before[TEXT_MAX];
};

struct request {
	struct nic nic;
	const struct decider *by;
	struct change change[NAMES_MAX];
	unsigned int changes;
	unsigned int napi;	/* the instance whose mode is meant, 0: all */
	unsigned int watch_s;
	bool json;
};

/* A line for each NAPI instance: its number, its mode, and how it receives now. */
static int read_napi(const struct request *r, char *text)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), NET_DIR "/%s/governor/napi", r->nic.name);
	return read_text(path, text, NAPI_SIZE);
}

static int get_of_napi(const struct request *r, char *mode)
{
	char text[NAPI_SIZE], *rest = text, *line;
	int length = read_napi(r, text);
	unsigned int id;

	if (length < 0)
		return length;
	while ((line = strsep(&rest, "\n")))
		if (sscanf(line, "%u %15s", &id, mode) == 2 && id == r->napi)
			return 0;
	return -ENXIO;
}

static int get(const struct request *r, unsigned int name, char *text)
{
	char path[PATH_SIZE];
	int length;

	if (r->napi && r->by == &governor && !name)
		return get_of_napi(r, text);
	snprintf(path, sizeof(path), NET_DIR "/%s/%s/%s", r->nic.name, r->by->directory,
		 r->by->name[name]);
	length = read_text(path, text, TEXT_MAX);
	if (length < 0)
		return length;
	text[strcspn(text, "\n")] = '\0';
	return 0;
}

static int set(const struct request *r, unsigned int name, const char *value)
{
	char attribute[TEXT_MAX], of_napi[TEXT_MAX];

	if (r->napi) {
		snprintf(of_napi, sizeof(of_napi), "%u %s", r->napi, value);
		return nic_set(&r->nic, "governor/napi", of_napi);
	}
	snprintf(attribute, sizeof(attribute), "%s/%s", r->by->directory, r->by->name[name]);
	return nic_set(&r->nic, attribute, value);
}

static void undo(const struct request *r, unsigned int done)
{
	while (done--)
		set(r, r->change[done].name, r->change[done].before);
}

/* The mode is set last, so that the device is never in the new mode with an old number. */
static void put_mode_last(struct request *r)
{
	unsigned int i;

	for (i = 0; i + 1 < r->changes; i++)
		if (!r->change[i].name) {
			struct change mode = r->change[i];

			r->change[i] = r->change[i + 1];
			r->change[i + 1] = mode;
		}
}

/* The changes would have no effect. A mode may still go back to off. */
static void refuse_without_napi(const struct request *r)
{
	char text[NAPI_SIZE], path[PATH_SIZE], flags[TEXT_MAX];

	if (r->by != &governor || !r->changes || read_napi(r, text))
		return;
	if (r->changes == 1 && !r->change->name && !strcmp(r->change->value, "off"))
		return;
	snprintf(path, sizeof(path), NET_DIR "/%s/flags", r->nic.name);
	if (read_text(path, flags, sizeof(flags)) > 0 && strtoul(flags, NULL, 16) & IFF_UP)
		die(EXIT_UNSUPPORTED, "device '%s': no NAPI instance", r->nic.name);
	complain("device '%s': no NAPI instance yet, it is down", r->nic.name);
}

static void apply(struct request *r)
{
	unsigned int i;
	int error;

	refuse_without_napi(r);
	put_mode_last(r);
	for (i = 0; i < r->changes; i++) {
		struct change *c = &r->change[i];

		error = get(r, c->name, c->before);
		if (!error)
			error = set(r, c->name, c->value);
		if (!error)
			continue;
		undo(r, i);
		die(EXIT_FAILED, "%s '%s': %s", r->by->name[c->name], c->value, strerror(-error));
	}
}

/* Lines of a name and a number. How many, or -errno. */
static int governor_stats(const struct nic *nic, struct nic_stat *stats)
{
	char path[PATH_SIZE], text[STATS_SIZE], *rest = text, *line;
	int length, count = 0;

	snprintf(path, sizeof(path), NET_DIR "/%s/governor/stats", nic->name);
	length = read_text(path, text, sizeof(text));
	if (length < 0)
		return length;
	while ((line = strsep(&rest, "\n")) && count < STATS_MAX)
		count += sscanf(line, "%31s %llu", stats[count].name, &stats[count].value) == 2;
	return count;
}

static unsigned int read_stats(const struct request *r, struct nic_stat *stats)
{
	int count = r->by == &governor ? governor_stats(&r->nic, stats) :
					 nic_stats(&r->nic, stats, STATS_MAX);

	if (count < 0)
		die(EXIT_FAILED, "%s: counters: %s", r->nic.name, strerror(-count));
	return count < STATS_MAX ? (unsigned int)count : STATS_MAX;
}

/* Not counters: they are what they are now. */
static bool is_gauge(const char *name)
{
	return !strcmp(name, "ring_waiting") || !strcmp(name, "sockets");
}

static void print_settings(const struct request *r)
{
	unsigned int i;

	for (i = 0; r->by->name[i]; i++) {
		const char *name = r->by->name[i];
		int error;
		char text[TEXT_MAX];
		u64 number;

		error = get(r, i, text);
		if (error)
			die(EXIT_FAILED, "%s: %s: %s", r->nic.name, name, strerror(-error));
		if (!r->json)
			printf(" %s %s", name, text);
		else if (parse_number(text, 0, ~0ULL, &number))
			json_number(name, number);
		else
			json_text(name, text);
	}
}

static void print_stats(const struct request *r, const struct nic_stat *before)
{
	struct nic_stat stats[STATS_MAX];
	unsigned int count = read_stats(r, stats), i;

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

static void print_napi(const struct request *r)
{
	char text[NAPI_SIZE], *rest = text, *line;
	int length = read_napi(r, text);

	if (length < 0)
		die(EXIT_FAILED, "%s: napi: %s", r->nic.name, strerror(-length));
	while ((line = strsep(&rest, "\n"))) {
		char mode[WORD_SIZE], state[WORD_SIZE], name[TEXT_MAX];
		unsigned int id;

		if (sscanf(line, "%u %15s %15s", &id, mode, state) != 3)
			continue;
		if (r->json) {
			json_object(NULL);
			json_number("id", id);
			json_text("mode", mode);
			json_text("state", state);
			json_end();
			continue;
		}
		snprintf(name, sizeof(name), "napi_%u", id);
		printf("  %-20s %s %s\n", name, mode, state);
	}
}

static void print_json(const struct request *r, const struct nic_stat *before)
{
	json_open();
	json_text("device", r->nic.name);
	json_text("by", r->by == &governor ? "governor" : "driver");
	json_object("settings");
	print_settings(r);
	json_end();
	json_object("counters");
	print_stats(r, before);
	json_end();
	if (r->by == &governor) {
		json_list("napi");
		print_napi(r);
		json_end();
	}
	json_close();
}

static void print_line(const struct request *r)
{
	printf("%s", r->nic.name);
	print_settings(r);
	putchar('\n');
}

static void print(const struct request *r, const struct nic_stat *before)
{
	if (r->json) {
		print_json(r, before);
		return;
	}
	print_line(r);
	print_stats(r, before);
	if (r->by == &governor)
		print_napi(r);
	finish_output();
}

static void watch(const struct request *r)
{
	struct nic_stat before[STATS_MAX];
	u64 next = now_ns();
	unsigned int i;

	for (i = 0; i < r->watch_s; i++) {
		read_stats(r, before);
		next += NSEC_PER_SEC;
		sleep_until_ns(next);
		print(r, before);
	}
}

/* Whether there is such a one for the device: 0 or -errno. */
static int get_by(struct request *r, const struct decider *by, char *text)
{
	r->by = by;
	return get(r, 0, text);
}

static bool is_changed(const struct request *r, unsigned int name)
{
	unsigned int i;

	for (i = 0; i < r->changes; i++)
		if (r->change[i].name == name)
			return true;
	return false;
}

static bool is_device(const char *name)
{
	char path[PATH_SIZE];

	snprintf(path, sizeof(path), NET_DIR "/%.15s/ifindex", name);
	return !strchr(name, '/') && !access(path, F_OK);
}

/* Its name; not where another one's is looked for. */
static void parse_device(const char *name, struct nic *nic)
{
	snprintf(nic->name, sizeof(nic->name), "%.15s", name);
	if (strcmp(nic->name, name) || !is_device(name))
		die(EXIT_USAGE, "device '%s': no such network device", name);
}

/* The decider: as the options say, otherwise the driver if it can. 0 or -errno. */
static int find_decider(struct request *r)
{
	char text[TEXT_MAX];

	if (!r->by && !get_by(r, &driver, text))
		return 0;
	return get_by(r, &governor, text);
}

static void require_decider(struct request *r)
{
	int error = find_decider(r);

	if (error == -ENXIO)
		die(EXIT_USAGE, "napi %u: %s has no such instance", r->napi, r->nic.name);
	if (error)
		die(EXIT_UNSUPPORTED, "device '%s': " GOVERNOR_MISSING, r->nic.name);
}

static void list(const struct request *all)
{
	int count, i, shown = 0;
	struct dirent **entry;

	count = scandir(NET_DIR, &entry, NULL, alphasort);
	for (i = 0; i < count; i++) {
		struct request r = *all;

		snprintf(r.nic.name, sizeof(r.nic.name), "%.15s", entry[i]->d_name);
		if (entry[i]->d_name[0] == '.' || find_decider(&r))
			continue;
		if (r.json)
			print_json(&r, NULL);
		else
			print_line(&r);
		shown++;
	}
	if (!shown)
		die(EXIT_UNSUPPORTED, GOVERNOR_MISSING);
	finish_output();
}

static void parse_change(struct request *r, const char *text, const char *value)
{
	unsigned int name = args_choice("name", text, r->by->name);

	if (is_changed(r, name))
		die(EXIT_USAGE, "name '%s': given twice", text);
	if (r->napi && name)
		die(EXIT_USAGE, "name '%s': of one instance only mode can be set", text);
	if (!value)
		die(EXIT_USAGE, "name '%s': a value is missing", text);
	if (name)
		args_number(text, value, r->by->range[name].min, r->by->range[name].max);
	else
		args_choice(text, value, r->by->mode);
	r->change[r->changes].name = name;
	r->change[r->changes++].value = value;
}

static void parse_operands(int argc, char **argv, struct request *r)
{
	parse_device(argv[optind++], &r->nic);
	require_decider(r);
	for (; optind < argc; optind += 2)
		parse_change(r, argv[optind], argv[optind + 1]);
}

static struct request r;
static bool governed;

static const struct opt rows[] = {
	OPT('g', "--governor", NULL, FLAG(governed),
	    "the governor also for a device of napi_livelock"),
	OPT('n', "--napi", "ID", NUMBER(r.napi, 1, UINT_MAX, 0),
	    "its mode, of one NAPI instance of the device alone", .given = &governed),
	OPT('w', "--watch", "SECONDS", NUMBER(r.watch_s, 1, WATCH_MAX_S, 0),
	    "show what is counted in each of SECONDS seconds"),
	OPT(0, "--json", NULL, FLAG(r.json), "one JSON object a line"),
	{ }
};

/* Values of the names, of both that can decide, and the names behind a device. */
static void print_words(char **typed)
{
	static const struct decider *const deciders[] = { &governor, &driver };
	unsigned int i, k;
	bool device = false;

	for (; *typed; typed++)
		device |= is_device(*typed);
	for (i = 0; i < ARRAY_SIZE(deciders); i++) {
		printf("mode|");
		for (k = 0; deciders[i]->mode[k]; k++)
			printf("%s ", deciders[i]->mode[k]);
		putchar('\n');
		for (k = 1; deciders[i]->name[k]; k++)
			printf("%s|NUMBER\n", deciders[i]->name[k]);
	}
	printf("|");
	for (i = 0; device && i < ARRAY_SIZE(deciders); i++)
		for (k = 0; deciders[i]->name[k]; k++)
			printf("%s ", deciders[i]->name[k]);
	puts(device ? "" : "DEVICE");
}

static const struct opts opts = {
	.words = print_words,
	.usage =
"Usage: rxmode [options] DEVICE [NAME VALUE]...\n"
"       rxmode [-g] [--json]\n"
"\n"
"Show how a network device receives, or change that. All changes are made, or none.\n"
"Without a device, show what is set for each.\n"
"\n"
"the receive governor, for every device whose driver uses NAPI:\n"
"  mode     off, poll (in rounds), auto (interrupts, and rounds where they are better)\n"
"  limit    per cent of a CPU that others wait for, for receiving, 1..95 (50)\n"
"  high     per cent of its buffer that make a socket hot, 26..100 (30)\n"
"  low      and below which it is not hot any more, 1..25 (20)\n"
"  quota    frames before it is looked whether to go on, 1..4096 (64)\n"
"  round_us from one round to the next, 50..10000 (200)\n"
"  hold_us  how long rounds go on after there was reason for them, 20000..1000000\n"
"           (20000)\n"
"\n"
"the driver napi_livelock:\n"
"  mode     interrupt, poll, napi (for which the governor may decide)\n"
"  quota    frames of a turn of polling, 1..64 (32)\n"
"  poll_us  from the end of a turn to the next one, 100..10000 (1000)\n"
"\n",
	.rows = rows,
	.operands = OPERANDS_ANY,
};

int main(int argc, char **argv)
{
	args_init("rxmode");
	opts_parse(&opts, argc, argv);
	if (governed)
		r.by = &governor;
	if (optind == argc) {
		if (r.napi || r.watch_s)
			die(EXIT_USAGE, "-n and -w need a device");
		list(&r);
		return EXIT_GOOD;
	}
	parse_operands(argc, argv, &r);
	apply(&r);
	if (r.watch_s)
		watch(&r);
	else if (!r.changes || r.json)
		print(&r, NULL);
	return EXIT_GOOD;
}
