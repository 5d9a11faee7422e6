// SPDX-License-Identifier: GPL-2.0
/*
 * api_effect.c - wrais-api: whose requests count as privileged, by reading the
 * disk with nothing between the reader and the I/O scheduler.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "clock.h"
#include "crew.h"
#include "privilege.h"
#include "procfs.h"
#include "validate.h"

#define READS		16U
#define BLOCK		4096U

static char old_scheduler[64];

/* Who reads. */
struct reader {
	struct ioprio prio;
	const char *group;	/* NULL: the one of this program */
	bool gives_up;		/* the priority, and reads once more */
};

/* What became of requests. */
struct effect {
	u64 raised;
	u64 exempt;
};

static void scheduler_path(char *path, size_t size)
{
	snprintf(path, size, "/sys/block/%s/queue/scheduler", api.disk);
}

/* The one in brackets. */
static bool choose_bfq(void)
{
	char path[128], text[256];
	const char *open, *close;

	scheduler_path(path, sizeof(path));
	if (read_text(path, text, sizeof(text)) < 0)
		return false;
	open = strchr(text, '[');
	close = open ? strchr(open, ']') : NULL;
	if (close)
		snprintf(old_scheduler, sizeof(old_scheduler), "%.*s",
			 (int)(close - open - 1), open + 1);
	return !write_text(path, "bfq");
}

static void choose_old(void)
{
	char path[128];

	scheduler_path(path, sizeof(path));
	write_text(path, old_scheduler);
}

static bool read_blocks(int fd, void *buffer)
{
	u32 i;

	for (i = 0; i < READS; i++)
		if (pread(fd, buffer, BLOCK, (off_t)i * 2 * BLOCK) != BLOCK)
			return false;
	return true;
}

static int read_disk(const struct reader *r)
{
	static const struct ioprio usual = { IO_BE, IOPRIO_LEVEL_USUAL };
	char device[128];
	void *buffer;
	int fd;

	if (r->group && cgroup_join(r->group, 0))
		return EXIT_FAILED;
	if (ioprio_change(0, r->prio) || posix_memalign(&buffer, BLOCK, BLOCK))
		return EXIT_FAILED;
	snprintf(device, sizeof(device), "/dev/%s", api.disk);
	fd = open(device, O_RDONLY | O_DIRECT | O_CLOEXEC);
	if (fd < 0)
		return EXIT_FAILED;
	if (!read_blocks(fd, buffer))
		return EXIT_FAILED;
	if (r->gives_up && (ioprio_change(0, usual) || !read_blocks(fd, buffer)))
		return EXIT_FAILED;
	close(fd);
	free(buffer);
	return EXIT_GOOD;
}

static struct effect effect_now(struct ktap_case *t)
{
	return (struct effect){
		counter_now(t, "raised_requests"), counter_now(t, "tag_exemptions")
	};
}

static void run_reader(struct ktap_case *t, const struct reader *r)
{
	pid_t self = getpid(), pid = fork();

	if (!pid) {
		die_with_parent(self);
		_exit(read_disk(r));
	}
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a child: %s", strerror(errno));
	expect(t, !wait_child(pid, now_ns() + API_WAIT_NS), "the reader failed");
}

/* How much both counters grow while @r reads. */
static struct effect effect_of(struct ktap_case *t, const struct reader *r)
{
	struct effect before = effect_now(t), after;

	run_reader(t, r);
	after = effect_now(t);
	return (struct effect){ after.raised - before.raised, after.exempt - before.exempt };
}

static void expect_count(struct ktap_case *t, const char *who, const char *what, u64 count,
			 bool all)
{
	if (all)
		expect(t, count >= READS, "%s: %llu of %u requests %s", who, count, READS, what);
	else
		expect(t, !count, "%s: %llu requests %s", who, count, what);
}

/* Whether all or none of what @r reads is raised, and exempt from BFQ's limits of tags. */
static void expect_effect(struct ktap_case *t, const char *who, struct reader r, bool raised,
			  bool exempt)
{
	struct effect effect = effect_of(t, &r);
	u64 tags;

	expect_count(t, who, "raised", effect.raised, raised);
	expect_count(t, who, "exempt", effect.exempt, exempt && !wrais_get("tags", &tags));
}

static void expect_privileged(struct ktap_case *t, const char *who, struct reader r, bool is)
{
	expect_effect(t, who, r, is, is);
}

static const struct reader rt = { .prio = { IO_RT, 0 } };

static void switch_all(struct ktap_case *t, bool master)
{
	struct wrais_choice choice = wrais_choose("the test", "all");

	wrais_apply(&choice);
	expect(t, !wrais_set(WRAIS_MASTER, master), "cannot switch " WRAIS_MASTER);
}

static void nothing_when_off(struct ktap_case *t)
{
	struct wrais_stats before, after;
	unsigned int i;
	u64 value;

	switch_all(t, false);
	wrais_read(&before);
	expect_privileged(t, "real time", rt, false);
	wrais_read(&after);
	for (i = 0; i < after.count; i++)
		if (wrais_find(&before, after.stat[i].name, &value))
			expect(t, after.stat[i].value == value, "%s: %llu, was %llu",
			       after.stat[i].name, after.stat[i].value, value);
}

static void no_raise(struct ktap_case *t)
{
	switch_all(t, true);
	wrais_set("raise", 0);
	expect_effect(t, "real time", rt, false, true);
}

static void no_tags(struct ktap_case *t)
{
	switch_all(t, true);
	if (wrais_set("tags", 0)) {
		skip_test(t, "this kernel was built without it");
		return;
	}
	expect_effect(t, "real time", rt, true, false);
}

static void classes(struct ktap_case *t)
{
	switch_all(t, true);
	expect_privileged(t, "no class", (struct reader){ .prio = { IO_NONE, 0 } }, false);
	expect_privileged(t, "best effort 0", (struct reader){ .prio = { IO_BE, 0 } }, false);
	expect_privileged(t, "idle", (struct reader){ .prio = { IO_IDLE, 0 } }, false);
	expect_privileged(t, "real time 0", rt, true);
	expect_privileged(t, "real time 7", (struct reader){ .prio = { IO_RT, 7 } }, true);
}

/* From the next request on. */
static void given_up(struct ktap_case *t)
{
	const struct reader r = { .prio = { IO_RT, 0 }, .gives_up = true };
	u64 raised;

	switch_all(t, true);
	raised = effect_of(t, &r).raised;
	expect(t, raised == READS, "%llu of %u and then %u requests raised", raised, READS,
	       READS);
}

/* A member needs the attribute in its cgroup and in all above. */
static void cgroups(struct ktap_case *t)
{
	static const struct {
		const char *parent;
		const char *child;
		bool privileged;
	} cases[] = {
		{ "0", "0", false }, { "1", "0", false }, { "0", "1", false },
		{ "1", "1", true }, { "0", "1", false }, { "1", "1", true },
		{ "1", "0", false },
	};
	const struct reader r = { .prio = { IO_NONE, 0 }, .group = API_CHILD };
	char who[64];
	unsigned int i;

	if (!groups_make()) {
		skip_test(t, "no cgroup v2 with I/O controller");
		groups_remove();
		return;
	}
	switch_all(t, true);
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		expect(t, !group_set(API_GROUP, cases[i].parent) &&
		       !group_set(API_CHILD, cases[i].child), "cannot set " CGROUP_SWITCH);
		snprintf(who, sizeof(who), "member, %s below %s", cases[i].child,
			 cases[i].parent);
		expect_privileged(t, who, r, cases[i].privileged);
	}
	groups_remove();
}

/* What of its I/O a cgroup's io.stat says to be privileged. */
struct told {
	u64 bytes;
	u64 ios;
};

/* False when it says nothing. */
static bool told_by(const char *group, struct told *told)
{
	char path[256], text[1024];
	const char *words;

	*told = (struct told){ };
	snprintf(path, sizeof(path), CGROUP_ROOT "/%s/io.stat", group);
	if (read_text(path, text, sizeof(text)) < 0)
		return false;
	words = strstr(text, " wrais.bytes=");
	return words && sscanf(words, " wrais.bytes=%llu wrais.ios=%llu", &told->bytes,
			       &told->ios) == 2;
}

/* @group's io.stat tells of so many reads of the disk, all of them privileged. */
static void expect_told(struct ktap_case *t, const char *group, u64 reads)
{
	struct told told;
	bool any = told_by(group, &told);

	expect(t, any == (reads > 0) && told.ios == reads && told.bytes == reads * BLOCK,
	       "%s: %llu bytes in %llu, expected %llu reads", group, told.bytes, told.ios, reads);
}

/* In the cgroup and in all above but the root, for either reason, while it counts. */
static void told_in_io_stat(struct ktap_case *t)
{
	const struct reader usual = { .prio = { IO_NONE, 0 }, .group = API_CHILD };
	const struct reader by_class = { .prio = { IO_RT, 0 }, .group = API_CHILD };
	struct told told;

	if (!groups_make()) {
		skip_test(t, "no cgroup v2 with I/O controller");
		groups_remove();
		return;
	}
	switch_all(t, true);
	run_reader(t, &usual);
	expect_told(t, API_CHILD, 0);
	run_reader(t, &by_class);
	expect_told(t, API_CHILD, READS);
	expect(t, !group_set(API_GROUP, "1") && !group_set(API_CHILD, "1"),
	       "cannot set " CGROUP_SWITCH);
	run_reader(t, &usual);
	expect_told(t, API_CHILD, 2 * READS);
	expect_told(t, API_GROUP, 2 * READS);
	expect(t, !told_by("", &told), "the root's io.stat tells of it");
	wrais_set(WRAIS_MASTER, 0);
	run_reader(t, &by_class);
	expect(t, !told_by(API_CHILD, &told), "told while it is off");
	wrais_set(WRAIS_MASTER, 1);
	expect_told(t, API_CHILD, 2 * READS);
	groups_remove();
}

void api_effects(struct ktap *parent)
{
	static const struct ktap_test tests[] = {
		{ "nothing counts when off", nothing_when_off },
		{ "raised not without raise", no_raise },
		{ "exempt not without tags", no_tags },
		{ "classes", classes },
		{ "given up", given_up },
		{ "cgroups", cgroups },
		{ "io.stat", told_in_io_stat },
	};

	if (!choose_bfq()) {
		ktap_skip(parent, "whose requests are privileged", "no disk with bfq (--disk)");
		return;
	}
	ktap_group(parent, "whose requests are privileged", tests, ARRAY_SIZE(tests));
	choose_old();
}
