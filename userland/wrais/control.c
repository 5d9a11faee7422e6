// SPDX-License-Identifier: GPL-2.0
/* control.c - the kernel's switches, knobs and counters of privileged I/O. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "control.h"
#include "files.h"
#include "procfs.h"

#define PROC_SIZE	4096U
#define PATH_SIZE	128U

const char *const wrais_parts[] = {
	"raise", "dirty", "copy_out", "inherit", "tags", "floor", NULL
};

const struct wrais_knob wrais_knobs[] = {
	{ "dirty_headroom_pct", 25, 1, 25 },
	{ "nap_ms", 10, 1, 200 },
	{ "fill_ms", 25, 1, 1000 },
	{ "floor_pct", 5, 0, 50 },
	{ "floor_window_ms", 30000, 1000, 300000 },
	{ "random_pct", 30, 1, 100 },
};

const unsigned int wrais_nr_knobs = ARRAY_SIZE(wrais_knobs);

/* Where a switch or knob is. */
static void path_of(char path[PATH_SIZE], const char *name)
{
	if (!strcmp(name, WRAIS_MASTER))
		snprintf(path, PATH_SIZE, WRAIS_SYSCTL);
	else
		snprintf(path, PATH_SIZE, WRAIS_DEBUGFS "/%s", name);
}

bool wrais_supported(void)
{
	return !access(WRAIS_SYSCTL, F_OK);
}

void wrais_require(void)
{
	if (!wrais_supported())
		die(EXIT_UNSUPPORTED, WRAIS_MISSING);
}

int wrais_get(const char *name, u64 *value)
{
	char path[PATH_SIZE];

	path_of(path, name);
	return read_number(path, value);
}

int wrais_set(const char *name, u64 value)
{
	char path[PATH_SIZE], text[32];

	path_of(path, name);
	snprintf(text, sizeof(text), "%llu", value);
	return write_text(path, text);
}

/* One line, "name value"; behind it on success. */
static char *parse_line(char *line, struct wrais_stat *stat)
{
	char *end = strchr(line, '\n'), *blank;

	if (!end)
		return NULL;
	*end = '\0';
	blank = strchr(line, ' ');
	if (!blank || blank == line || blank - line >= (long)sizeof(stat->name))
		return NULL;
	*blank = '\0';
	memcpy(stat->name, line, (size_t)(blank - line) + 1);
	return parse_number(blank + 1, 0, ~0ULL, &stat->value) ? end + 1 : NULL;
}

/* NULL when the text of WRAIS_STAT is exactly in the documented form, else what is wrong. */
static const char *parse(const char *text, struct wrais_stats *stats)
{
	char copy[PROC_SIZE], *line = copy;
	struct wrais_stat version;

	stats->count = 0;
	if (snprintf(copy, sizeof(copy), "%s", text) >= (int)sizeof(copy))
		return "it is too long";
	line = parse_line(line, &version);
	if (!line || strcmp(version.name, "version") || version.value != 1)
		return "it does not start with 'version 1'";
	while (*line) {
		if (stats->count == WRAIS_STATS_MAX)
			return "it has too many lines";
		line = parse_line(line, &stats->stat[stats->count]);
		if (!line)
			return "a line is not 'name value'";
		stats->count++;
	}
	return NULL;
}

bool wrais_read(struct wrais_stats *stats)
{
	char text[PROC_SIZE];
	const char *wrong;
	int length;

	stats->count = 0;
	length = read_text(WRAIS_STAT, text, sizeof(text));
	if (length == -ENOENT)
		return false;
	if (length < 0)
		die(EXIT_FAILED, WRAIS_STAT ": %s", strerror(-length));
	wrong = parse(text, stats);
	if (wrong)
		die(EXIT_FAILED, WRAIS_STAT ": %s", wrong);
	return true;
}

bool wrais_find(const struct wrais_stats *stats, const char *name, u64 *value)
{
	unsigned int i;

	for (i = 0; i < stats->count; i++)
		if (!strcmp(stats->stat[i].name, name)) {
			*value = stats->stat[i].value;
			return true;
		}
	return false;
}

static u32 all_parts(void)
{
	u32 mask = 0;
	unsigned int i;

	for (i = 0; wrais_parts[i]; i++)
		mask |= 1U << i;
	return mask;
}

static void choose_one(struct wrais_choice *choice, const char *what, const char *word)
{
	bool off = word[0] == '-';
	u32 bit;

	if (!strcmp(word, "all")) {
		choice->on = all_parts();
		choice->any = true;
		return;
	}
	bit = 1U << args_choice(what, word + off, wrais_parts);
	if (off) {
		choice->on &= ~bit;
		choice->named &= ~bit;
		return;
	}
	choice->on |= bit;
	choice->named |= bit;
	choice->any = true;
}

struct wrais_choice wrais_choose(const char *what, const char *text)
{
	struct wrais_choice choice = { };
	char *copy = xstrdup(text), *word, *rest;

	if (!*text)
		die(EXIT_USAGE, "%s: empty: allowed all, none or a list of parts", what);
	if (!strcmp(text, "none")) {
		free(copy);
		return choice;
	}
	for (word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
		choose_one(&choice, what, word);
	free(copy);
	return choice;
}

void wrais_check(const struct wrais_choice *choice)
{
	unsigned int i;
	u64 value;

	if (!choice->any && !wrais_supported())
		return;		/* nothing is there to be switched off */
	wrais_require();
	for (i = 0; wrais_parts[i]; i++)
		if (choice->named >> i & 1 && wrais_get(wrais_parts[i], &value) == -ENOENT)
			die(EXIT_UNSUPPORTED, "this kernel was built without the part %s",
			    wrais_parts[i]);
}

static void set_or_die(const struct wrais_choice *choice, const char *name, bool on, bool may_lack)
{
	int error = wrais_set(name, on);

	if (error && !(error == -ENOENT && may_lack))
		die(EXIT_FAILED, "cannot switch privileges %s: %s: %s", choice->any ? "on" : "off",
		    name, strerror(-error));
}

void wrais_apply(const struct wrais_choice *choice)
{
	unsigned int i;

	wrais_check(choice);
	if (!wrais_supported())
		return;
	set_or_die(choice, WRAIS_MASTER, false, false);
	for (i = 0; wrais_parts[i]; i++)
		set_or_die(choice, wrais_parts[i], choice->on >> i & 1, true);
	if (choice->any)
		set_or_die(choice, WRAIS_MASTER, true, false);
}
