// SPDX-License-Identifier: GPL-2.0
/* api_cgroup.c - wrais-api: the attribute io.wrais and who may write it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api.h"
#include "clock.h"
#include "privilege.h"
#include "procfs.h"

#define SUBTREE		"cgroup.subtree_control"
#define NOBODY		65534

static bool enabled_here;	/* the root's children had no I/O controller */

static void attribute_path(char *path, size_t size, const char *group, const char *file)
{
	snprintf(path, size, CGROUP_ROOT "/%s/%s", group, file);
}

int group_set(const char *group, const char *text)
{
	char path[256];

	attribute_path(path, sizeof(path), group, CGROUP_SWITCH);
	return write_text(path, text);
}

int group_get(const char *group, u64 *value)
{
	char path[256];

	attribute_path(path, sizeof(path), group, CGROUP_SWITCH);
	return read_number(path, value);
}

static bool enable_controller(void)
{
	char text[256];

	if (read_text(CGROUP_ROOT "/" SUBTREE, text, sizeof(text)) < 0)
		return false;
	if (strstr(text, "io"))
		return true;
	enabled_here = !write_text(CGROUP_ROOT "/" SUBTREE, "+io");
	return enabled_here;
}

bool groups_make(void)
{
	if (!enable_controller())
		return false;
	mkdir(CGROUP_ROOT "/" API_GROUP, 0755);
	if (write_text(CGROUP_ROOT "/" API_GROUP "/" SUBTREE, "+io"))
		return false;
	mkdir(CGROUP_ROOT "/" API_CHILD, 0755);
	return !access(CGROUP_ROOT "/" API_CHILD "/" CGROUP_SWITCH, F_OK);
}

/* The last task of a group may take a moment to leave it. */
static bool removed(void *path)
{
	return !rmdir(path) || errno == ENOENT;
}

void groups_remove(void)
{
	char child[] = CGROUP_ROOT "/" API_CHILD, group[] = CGROUP_ROOT "/" API_GROUP;

	wait_until(removed, child, API_WAIT_NS);
	wait_until(removed, group, API_WAIT_NS);
	if (enabled_here)
		write_text(CGROUP_ROOT "/" SUBTREE, "-io");
	enabled_here = false;
}

static void expect_value(struct ktap_case *t, const char *group, u64 wanted)
{
	u64 value = ~0ULL;
	int error = group_get(group, &value);

	expect(t, !error && value == wanted, "%s is %lld, not %llu", CGROUP_SWITCH,
	       error ? error : (s64)value, wanted);
}

static void starts_off(struct ktap_case *t)
{
	expect_value(t, API_GROUP, 0);
	expect_value(t, API_CHILD, 0);
}

static void not_on_root(struct ktap_case *t)
{
	expect(t, access(CGROUP_ROOT "/" CGROUP_SWITCH, F_OK), "the root has it");
}

static void taken_by_root(struct ktap_case *t)
{
	int error = group_set(API_GROUP, "1");

	expect(t, !error, "1: %s", strerror(-error));
	expect_value(t, API_GROUP, 1);
	expect_value(t, API_CHILD, 0);
	error = group_set(API_GROUP, "0");
	expect(t, !error, "0: %s", strerror(-error));
	expect_value(t, API_GROUP, 0);
}

static void bad_values(struct ktap_case *t)
{
	static const char *const words[] = {
		"2", "-1", "x", "\n", "1x", "1 1", "0x1", "4294967297", "default 1"
	};
	u64 value;
	unsigned int i;
	int error;

	for (value = 0; value < 2; value++) {
		group_set(API_GROUP, value ? "1" : "0");
		for (i = 0; i < ARRAY_SIZE(words); i++) {
			error = group_set(API_GROUP, words[i]);
			expect(t, error == -EINVAL, "'%s': %s", words[i],
			       error ? strerror(-error) : "was taken");
			expect_value(t, API_GROUP, value);
		}
	}
	group_set(API_GROUP, "0");
}

static int switch_on(const void *arg)
{
	return group_set(arg, "1");
}

static void strangers_refused(struct ktap_case *t)
{
	expect_refusal(t, DROP_USER, switch_on, API_GROUP, EACCES, EPERM);
	expect_refusal(t, DROP_CAPABILITY, switch_on, API_GROUP, EPERM, EPERM);
	expect_value(t, API_GROUP, 0);
}

static void own_attribute(uid_t uid)
{
	if (chown(CGROUP_ROOT "/" API_GROUP "/" CGROUP_SWITCH, uid, uid) ||
	    chown(CGROUP_ROOT "/" API_GROUP "/cgroup.procs", uid, uid))
		return;
}

/* Whoever a subtree was given to may open the file, and no more. */
static void owner_refused(struct ktap_case *t)
{
	own_attribute(NOBODY);
	expect_refusal(t, DROP_USER, switch_on, API_GROUP, EPERM, EPERM);
	expect_refusal(t, DROP_NAMESPACE, switch_on, API_GROUP, EPERM, EPERM);
	own_attribute(0);
	expect_value(t, API_GROUP, 0);
}

static int join_group(const void *arg)
{
	return cgroup_join(arg, 0);
}

static void members_refused(struct ktap_case *t)
{
	group_set(API_GROUP, "1");
	group_set(API_CHILD, "1");
	expect_refusal(t, DROP_USER, join_group, API_CHILD, EACCES, EACCES);
	expect_refusal(t, DROP_NAMESPACE, join_group, API_CHILD, EACCES, EACCES);
	group_set(API_CHILD, "0");
	group_set(API_GROUP, "0");
}

void api_cgroup(struct ktap *parent)
{
	static const struct ktap_test tests[] = {
		{ "starts off", starts_off },
		{ "not on the root", not_on_root },
		{ "taken by root", taken_by_root },
		{ "bad values", bad_values },
		{ "strangers", strangers_refused },
		{ "owners of the file", owner_refused },
		{ "joining a privileged one", members_refused },
	};

	if (!groups_make()) {
		groups_remove();
		ktap_skip(parent, "the cgroup attribute", "no cgroup v2 with I/O controller");
		return;
	}
	ktap_group(parent, "the cgroup attribute", tests, ARRAY_SIZE(tests));
	groups_remove();
}
