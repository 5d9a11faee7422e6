// SPDX-License-Identifier: GPL-2.0
/* verb_stat.c - wrais stat, wrais on, wrais off: the kernel's counters and switches. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "control.h"
#include "json.h"
#include "verbs.h"

static bool json;

static const struct opt rows[] = {
	OPT(0, "--json", NULL, FLAG(json), "one JSON object"),
	{ }
};

const struct opts stat_opts = { .name = "stat", .rows = rows, .whole = &wrais_opts };

const struct opts on_opts = { .name = "on", .rows = rows + 1, .operand_names = wrais_parts };
const struct opts off_opts = { .name = "off", .rows = rows + 1, .operand_names = wrais_parts };

static void show_switch(const char *name)
{
	u64 value;
	int error = wrais_get(name, &value);

	if (error == -ENOENT) {
		if (!json)
			printf("%-22s not in this kernel\n", name);
		return;
	}
	if (error)
		die(EXIT_FAILED, "%s: %s", name, strerror(-error));
	if (json)
		json_bool(name, value);
	else
		printf("%-22s %s\n", name, value ? "on" : "off");
}

static void show_number(const char *name, u64 value)
{
	if (json)
		json_number(name, value);
	else
		printf("%-22s %llu\n", name, value);
}

int verb_stat(int argc, char **argv)
{
	struct wrais_stats stats;
	unsigned int i;
	u64 value;

	opts_parse(&stat_opts, argc, argv);
	wrais_require();
	wrais_read(&stats);
	if (json)
		json_open();
	show_switch(WRAIS_MASTER);
	for (i = 0; wrais_parts[i]; i++)
		show_switch(wrais_parts[i]);
	for (i = 0; i < wrais_nr_knobs; i++)
		if (!wrais_get(wrais_knobs[i].name, &value))
			show_number(wrais_knobs[i].name, value);
	for (i = 0; i < stats.count; i++)
		show_number(stats.stat[i].name, stats.stat[i].value);
	if (json)
		json_close();
	finish_output();
	return EXIT_GOOD;
}

static void switch_one(const char *name, bool on)
{
	int error = wrais_set(name, on);

	if (error)
		die(EXIT_FAILED, "cannot switch %s %s: %s", name, on ? "on" : "off",
		    strerror(-error));
}

/* Without parts: all, or none, and the master switch. */
int verb_switch(int argc, char **argv)
{
	bool on = !strcmp(argv[0], "on");
	struct wrais_choice choice;
	u64 value;
	int i;

	if (argc > 1 && argv[1][0] == '-') {
		opts_parse(&stat_opts, argc, argv);
		die(EXIT_USAGE, "%s takes parts, no options", argv[0]);
	}
	for (i = 1; i < argc; i++)
		args_choice(argv[0], argv[i], wrais_parts);
	wrais_require();
	for (i = 1; i < argc; i++)
		if (wrais_get(argv[i], &value) == -ENOENT)
			die(EXIT_UNSUPPORTED, "this kernel was built without the part %s",
			    argv[i]);
	if (argc == 1) {
		choice = wrais_choose(argv[0], on ? "all" : "none");
		wrais_apply(&choice);
		return EXIT_GOOD;
	}
	for (i = 1; i < argc; i++)
		switch_one(argv[i], on);
	if (on)
		switch_one(WRAIS_MASTER, true);
	return EXIT_GOOD;
}
