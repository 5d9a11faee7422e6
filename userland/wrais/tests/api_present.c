// SPDX-License-Identifier: GPL-2.0
/* api_present.c - wrais-api: switches, knobs and counters are there and work. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"
#include "procfs.h"
#include "validate.h"

#define MODES	0777U

/* Which part counts what. */
static const struct {
	const char *part;
	const char *counter;
} counters[] = {
	{ "raise", "raised_requests" },
	{ "raise", "think_turns" },
	{ "raise", "fellow_turns" },
	{ "dirty", "dirty_breaks" },
	{ "dirty", "dirty_naps" },
	{ "dirty", "dirty_holds" },
	{ "dirty", "dirty_releases" },
	{ "copy_out", "copy_outs" },
	{ "inherit", "inherits" },
	{ "tags", "tag_exemptions" },
	{ "floor", "floor_turns" },
	{ "floor", "overdue_turns" },
};

static bool missing(struct ktap_case *t, const char *name)
{
	u64 value;

	if (wrais_get(name, &value) != -ENOENT)
		return false;
	skip_test(t, "this kernel was built without it");
	return true;
}

static void expect_mode(struct ktap_case *t, const char *path, mode_t mode)
{
	struct stat stat_now;

	if (!expect(t, !stat(path, &stat_now), "%s: %s", path, strerror(errno)))
		return;
	expect(t, (stat_now.st_mode & MODES) == mode, "%s: mode %o, not %o", path,
	       stat_now.st_mode & MODES, mode);
	expect(t, !stat_now.st_uid, "%s: not root's", path);
}

static void expect_taken(struct ktap_case *t, u64 value)
{
	int error = wrais_set(api.name, value);

	expect(t, !error, "%llu: %s", value, strerror(-error));
	expect(t, value_now(t, api.name) == value, "%llu was not kept", value);
}

static void try_values(struct ktap_case *t, const u64 *values, unsigned int count)
{
	u64 before = value_now(t, api.name);
	char path[WRAIS_PATH];
	unsigned int i;

	wrais_path(path, api.name);
	expect_mode(t, path, 0644);
	for (i = 0; i < count; i++)
		expect_taken(t, values[i]);
	expect_taken(t, before);
}

static void switch_works(struct ktap_case *t)
{
	static const u64 values[] = { 1, 1, 0, 0, 1, 0 };

	if (!missing(t, api.name))
		try_values(t, values, ARRAY_SIZE(values));
}

static void master_exists(struct ktap_case *t)
{
	static const u64 values[] = { 1, 0 };

	api.name = WRAIS_MASTER;
	try_values(t, values, ARRAY_SIZE(values));
}

static void raise_exists(struct ktap_case *t)
{
	u64 value;

	expect(t, !wrais_get("raise", &value), "it is not optional");
}

void api_switches(struct ktap *parent)
{
	static const struct ktap_test tests[] = {
		{ WRAIS_MASTER, master_exists },
		{ "raise is always there", raise_exists },
	};
	unsigned int count = 0;
	struct ktap k;

	while (wrais_parts[count])
		count++;
	ktap_start_group(&k, parent, "switches", 2);
	ktap_group(&k, "of all", tests, ARRAY_SIZE(tests));
	api_each(&k, "of the parts", wrais_parts, count, switch_works);
	ktap_finish_group(&k, parent, "switches");
}

static void knob_works(struct ktap_case *t)
{
	const struct wrais_knob *knob = wrais_knobs;

	if (missing(t, api.name))
		return;
	while (strcmp(knob->name, api.name))
		knob++;
	try_values(t, (u64 []){ knob->min, knob->max, knob->usual }, 3);
}

void api_knobs(struct ktap *parent)
{
	const char *names[8];
	unsigned int i;

	for (i = 0; i < wrais_nr_knobs; i++)
		names[i] = wrais_knobs[i].name;
	api_each(parent, "numbers", names, wrais_nr_knobs, knob_works);
}

static void counter_there(struct ktap_case *t)
{
	unsigned int i = 0;

	while (strcmp(counters[i].counter, api.name))
		i++;
	if (!missing(t, counters[i].part))
		counter_now(t, api.name);
}

void api_counters(struct ktap *parent)
{
	const char *names[ARRAY_SIZE(counters)];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counters); i++)
		names[i] = counters[i].counter;
	api_each(parent, "counters", names, ARRAY_SIZE(names), counter_there);
}

static void form(struct ktap_case *t)
{
	struct wrais_stats stats;
	const char *wrong;
	char text[4096];

	expect_mode(t, WRAIS_STAT, 0444);
	if (!expect(t, read_text(WRAIS_STAT, text, sizeof(text)) > 0, "cannot be read"))
		return;
	wrong = wrais_parse(text, &stats);
	expect(t, !wrong, "%s", wrong);
}

static void byte_by_byte(struct ktap_case *t)
{
	struct wrais_stats stats;
	char text[4096];
	size_t used = 0;
	const char *wrong;
	ssize_t got;
	int fd;

	fd = open(WRAIS_STAT, O_RDONLY | O_CLOEXEC);
	if (!expect(t, fd >= 0, WRAIS_STAT ": %s", strerror(errno)))
		return;
	while (used < sizeof(text) - 1 && (got = read(fd, text + used, 1)) == 1)
		used++;
	close(fd);
	text[used] = '\0';
	wrong = wrais_parse(text, &stats);
	expect(t, !wrong, "%s", wrong);
}

static void read_only(struct ktap_case *t)
{
	int error = write_text(WRAIS_STAT, "1");

	expect(t, error, "it can be written");
}

void api_proc(struct ktap *parent)
{
	static const struct ktap_test tests[] = {
		{ "form", form },
		{ "byte by byte", byte_by_byte },
		{ "read only", read_only },
	};

	ktap_group(parent, WRAIS_STAT, tests, ARRAY_SIZE(tests));
}
