// SPDX-License-Identifier: GPL-2.0
/*
 * api_refuse.c - wrais-api: nobody becomes privileged who may not, and bad values
 * change nothing.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "procfs.h"

/* The real-time class at each level, for oneself and for one's parent. */
static int take_class(const void *arg)
{
	struct ioprio prio = { IO_RT, 0 }, now;
	pid_t tid = arg ? getppid() : 0;
	int error;

	for (prio.level = 0; prio.level <= IOPRIO_LEVEL_MAX; prio.level++) {
		error = ioprio_change(tid, prio);
		if (error != -EPERM)
			return error;
		if (!ioprio_read(tid, &now) && now.class == IO_RT)
			return 0;
	}
	return error;
}

static void class_refused(struct ktap_case *t)
{
	enum drop how;

	for (how = 0; how < DROPS; how++)
		if (!strcmp(api.name, drop_names[how]))
			expect_refusal(t, how, take_class, NULL, EPERM, EPERM);
}

static void others_class_refused(struct ktap_case *t)
{
	expect_refusal(t, DROP_USER, take_class, "the parent", EPERM, EPERM);
}

/* What anybody may have, and is no privilege therefore. */
static int take_best_effort(const void *arg)
{
	(void)arg;
	return ioprio_change(0, (struct ioprio){ IO_BE, 0 });
}

static void best_effort_permitted(struct ktap_case *t)
{
	int result = unprivileged(DROP_USER, take_best_effort, NULL);

	expect(t, !result, "result %d", result);
}

static int class_of_child(const void *arg)
{
	struct ioprio now;

	(void)arg;
	if (ioprio_read(0, &now))
		return -EIO;
	return now.class == IO_RT ? 0 : -ENOENT;
}

static void class_inherited(struct ktap_case *t)
{
	struct ioprio old;
	int result;

	if (!expect(t, !ioprio_read(0, &old), "cannot read the own class"))
		return;
	expect(t, !ioprio_change(0, (struct ioprio){ IO_RT, 0 }), "root cannot have it");
	result = unprivileged(DROP_USER, class_of_child, NULL);
	expect(t, !result, "the child of a task in the class is not in it");
	ioprio_change(0, old);
}

void api_priority(struct ktap *parent)
{
	static const struct ktap_test rest[] = {
		{ "another task's", others_class_refused },
		{ "best effort 0 is for all", best_effort_permitted },
		{ "children have it", class_inherited },
	};

	struct ktap k;

	ktap_start_group(&k, parent, "the real-time I/O class", 2);
	api_each(&k, "refused", drop_names, DROPS, class_refused);
	ktap_group(&k, "the rest", rest, ARRAY_SIZE(rest));
	ktap_finish_group(&k, parent, "the real-time I/O class");
}

/* A name, and what is not to be written there. */
static void refuse_value(struct ktap_case *t, const char *name, const char *text)
{
	char path[WRAIS_PATH];
	u64 before = value_now(t, name);
	int error;

	wrais_path(path, name);
	error = write_text(path, text);
	expect(t, error == -EINVAL, "'%s': %s, not %s", text,
	       error ? strerror(-error) : "was taken", strerror(EINVAL));
	expect(t, value_now(t, name) == before, "'%s' changed it", text);
}

static bool missing(struct ktap_case *t, const char *name)
{
	u64 value;

	if (wrais_get(name, &value) != -ENOENT)
		return false;
	skip_test(t, "this kernel was built without it");
	return true;
}

static const char *const words[] = {
	"x", "\n", "1x", "-1", "99999999999999999999", "0x", "on"
};

static void switch_values(struct ktap_case *t)
{
	unsigned int i;

	if (missing(t, api.name))
		return;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		refuse_value(t, api.name, words[i]);
	refuse_value(t, api.name, "2");
}

static void refuse_number(struct ktap_case *t, u64 value)
{
	char text[32];

	snprintf(text, sizeof(text), "%llu", value);
	refuse_value(t, api.name, text);
}

static void knob_values(struct ktap_case *t)
{
	const struct wrais_knob *knob = wrais_knobs;
	unsigned int i;

	if (missing(t, api.name))
		return;
	while (strcmp(knob->name, api.name))
		knob++;
	for (i = 0; i < ARRAY_SIZE(words); i++)
		refuse_value(t, api.name, words[i]);
	refuse_number(t, knob->max + 1ULL);
	refuse_number(t, 1ULL << 32);
	if (knob->min)
		refuse_number(t, knob->min - 1);
}

#define NAMES_MAX	32U

/* All switches, or switches and knobs; how many. */
static unsigned int all_names(const char *names[NAMES_MAX], bool switches, bool knobs)
{
	unsigned int i, count = 0;

	if (switches) {
		names[count++] = WRAIS_MASTER;
		for (i = 0; wrais_parts[i]; i++)
			names[count++] = wrais_parts[i];
	}
	for (i = 0; knobs && i < wrais_nr_knobs; i++)
		names[count++] = wrais_knobs[i].name;
	return count;
}

void api_bad_values(struct ktap *parent)
{
	const char *names[NAMES_MAX];
	struct ktap k;

	ktap_start_group(&k, parent, "bad values", 2);
	api_each(&k, "of switches", names, all_names(names, true, false), switch_values);
	api_each(&k, "of numbers", names, all_names(names, false, true), knob_values);
	ktap_finish_group(&k, parent, "bad values");
}

static int flip(const void *arg)
{
	const char *name = arg;
	u64 value;
	int error = wrais_get(name, &value);

	return error ? error : wrais_set(name, value ? 0 : 1);
}

/* A file of root's; a namespace's root is nobody to it. */
static void user_refused(struct ktap_case *t)
{
	u64 before;

	if (missing(t, api.name))
		return;
	before = value_now(t, api.name);
	expect_refusal(t, DROP_USER, flip, api.name, EACCES, EPERM);
	expect_refusal(t, DROP_NAMESPACE, flip, api.name, EACCES, EPERM);
	expect(t, value_now(t, api.name) == before, "it was changed");
}

void api_sysctl_users(struct ktap *parent)
{
	const char *names[NAMES_MAX];

	api_each(parent, "other users cannot switch", names, all_names(names, true, true),
		 user_refused);
}
