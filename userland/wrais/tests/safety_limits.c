// SPDX-License-Identifier: GPL-2.0
/*
 * safety_limits.c - wrais-safety: a privileged task that writes for ever is
 * bounded, in memory and in what it takes from the others.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "privilege.h"
#include "procfs.h"
#include "safety.h"
#include "validate.h"

#define DISK_MIB	128U
/* Slower than a guest writes: it has to fall behind. */
#define SLOW_MBPS	1U
#define DISK_MBPS	15U
#define ORDERED		"data=ordered"

/* With the headroom less than a writer keeps, which would wait for its own pages. */
#define DIRTY_BYTES	(16 * MIB)
#define BRIEF_DIRTY	(4 * MIB)
#define HEADROOM_PCT	25U
/* A writer looks at the limits every few pages; the kernel's counters are per CPU. */
#define SLACK_BYTES	(MIB / 2)
/* The headroom is used up so often while the privileged are watched. */
#define NAPS		20U
#define BRIEF_NAPS	5U
/* What they write where there is no headroom, or no limit to reach. */
#define STOCK_BYTES	(20 * MIB)
#define UNBOUND_BYTES	(48 * MIB)

/* The others' floor is reckoned over a window: an fsync ends in two of them. */
#define FLOOR_WINDOW_MS	10000U
#define FSYNC_MAX_NS	(2 * FLOOR_WINDOW_MS * NSEC_PER_MSEC)
#define FSYNCS		3U

#define DIRTY_RATIO	80U
#define ALLOCATE_MAX	(256 * MIB)
#define CONTROLLERS	CGROUP_ROOT "/cgroup.subtree_control"
#define GROUP		"wrais-safety"
#define GROUP_PATH	CGROUP_ROOT "/" GROUP
#define GROUP_BYTES	(32 * MIB)
#define GROUP_ALLOCATES	(12 * MIB)
/*
 * The kernel counts what a group has dirty every 2 s: meanwhile all of it may be, without us
 * as well, and its memory has to be had in 17 attempts to reclaim some. A slow disk is too
 * slow for that.
 */
#define GROUP_MBPS	60U
#define GROUP_RATIO	40U

#define TEXT_SIZE	16384U

static void read_file(const char *path, char text[TEXT_SIZE])
{
	int error = read_text(path, text, TEXT_SIZE);

	if (error < 0)
		die(EXIT_FAILED, "%s: %s", path, strerror(-error));
}

/* Of the line "name value" in a text of many; exits when it has none. */
static u64 value_in(const char *text, const char *name)
{
	size_t length = strlen(name);
	const char *line = text;

	while (line) {
		line += *line == '\n';
		if (!strncmp(line, name, length) && strchr(" :", line[length]))
			return strtoull(line + length + 1, NULL, 10);
		line = strchr(line, '\n');
	}
	die(EXIT_FAILED, "there is no %s", name);
}

u64 value_of(const char *path, const char *name)
{
	char text[TEXT_SIZE];

	read_file(path, text);
	return value_in(text, name);
}

/* Of one moment: pages go from the one to the other. */
static u64 dirty_now(void)
{
	char text[TEXT_SIZE];

	read_file(VMSTAT, text);
	return (value_in(text, "nr_dirty") + value_in(text, "nr_writeback")) * PAGE_BYTES;
}

/* Whether those who write have got where they are to be watched until. */
struct watch {
	struct ktap_case *t;
	const struct crew *crew;	/* all of it writes */
	u64 bytes;
	u64 naps;
	u64 most;			/* that may be dirty: beyond, it is over; 0: any */
	u64 peak;			/* the most that was dirty */
};

static bool have_come(void *arg)
{
	struct watch *w = arg;
	u64 dirty = dirty_now();

	if (dirty > w->peak)
		w->peak = dirty;
	if (w->most && dirty > w->most)
		return true;
	return tasks_bytes(w->crew) >= w->bytes &&
	       (!w->naps || counter_now(w->t, "dirty_naps") >= w->naps);
}

static void watch(struct watch *w)
{
	bool there = wait_until(have_come, w, safety_left_ns());

	expect(w->t, there, "%llu of %llu bytes written, %llu of %llu naps",
	       tasks_bytes(w->crew), w->bytes, w->naps ? counter_now(w->t, "dirty_naps") : 0,
	       w->naps);
}

static u64 dirty_limit(void)
{
	return safety.brief ? BRIEF_DIRTY : DIRTY_BYTES;
}

static void set_limits(void)
{
	vm_set("dirty_bytes", dirty_limit());
	vm_set("dirty_background_bytes", dirty_limit() / 2);
}

/* The part of a domain that a device with a limit of its own may use. */
#define STRICT_PCT	10U
#define STRICT_BYTES	(6 * MIB)

void case_strict_limit(struct ktap_case *t)
{
	static const struct task writer = PRIVILEGED(WRITE);
	struct crew crew;
	struct watch w = {
		.t = t, .crew = &crew, .bytes = STRICT_BYTES,
		.most = DIRTY_BYTES / 100 * STRICT_PCT + SLACK_BYTES,
	};

	disk_make(DISK_MIB, SLOW_MBPS, ORDERED);
	vm_set("dirty_bytes", DIRTY_BYTES);
	vm_set("dirty_background_bytes", DIRTY_BYTES / 2);
	if (disk_set("bdi/max_ratio", "10") || disk_set("bdi/strict_limit", "1"))
		die(EXIT_FAILED, "the disk cannot have a limit of its own");
	tasks_start(&crew, &writer, 1);
	watch(&w);
	tasks_stop(t, &crew);
	expect(t, w.peak <= w.most, "%llu bytes dirty, allowed %llu", w.peak, w.most);
}

static void stay_below(struct ktap_case *t, unsigned int writers)
{
	static const struct task tasks[] = {
		PRIVILEGED(WRITE), PRIVILEGED(WRITE),
		PRIVILEGED(WRITE),
	};
	u64 limit = dirty_limit();
	u64 most = limit + limit / 100 * HEADROOM_PCT + writers * SLACK_BYTES;
	struct crew crew;
	struct watch w = {
		.t = t, .crew = &crew, .most = most,
		.bytes = limit == DIRTY_BYTES ? STOCK_BYTES : most,
	};

	disk_make(DISK_MIB, SLOW_MBPS, ORDERED);
	set_limits();
	wrais_set("dirty_headroom_pct", HEADROOM_PCT);
	if (!all_off())
		w.naps = counter_now(t, "dirty_naps") + (safety.brief ? BRIEF_NAPS : NAPS);
	tasks_start(&crew, tasks, writers);
	watch(&w);
	tasks_stop(t, &crew);
	ktap_note(t->ktap, "at most %llu bytes dirty, allowed %llu", w.peak, most);
	expect(t, w.peak <= most, "%llu bytes dirty, allowed %llu", w.peak, most);
	if (!all_off())
		expect(t, w.peak > limit, "%llu bytes dirty: no headroom", w.peak);
}

void case_headroom(struct ktap_case *t)
{
	stay_below(t, 1);
}

void case_shared_headroom(struct ktap_case *t)
{
	stay_below(t, 3);
}

void case_fsync(struct ktap_case *t)
{
	enum { SYNCER = 3 };
	/* a privileged fsync would have the commit raised, for everybody */
	static const struct task tasks[] = {
		PRIVILEGED(WRITE), PRIVILEGED(WRITE),
		PRIVILEGED(READ), [SYNCER] = OTHERS(SYNC),
	};
	struct crew crew;
	u64 longest;

	disk_make(DISK_MIB, DISK_MBPS, ORDERED);
	set_limits();
	wrais_set("floor_window_ms", FLOOR_WINDOW_MS);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	task_advance(t, &crew, 0, 1);
	task_advance(t, &crew, SYNCER, FSYNCS);
	longest = load64(&crew.page->slot[SYNCER].value);
	tasks_stop(t, &crew);
	ktap_note(t->ktap, "the longest of %u fsyncs took %llu ms", FSYNCS,
		  longest / NSEC_PER_MSEC);
	expect_bound(t, longest <= FSYNC_MAX_NS, "an fsync took %llu ms",
		     longest / NSEC_PER_MSEC);
}

/* In a child: use so much memory. */
static CREW_FN(allocate)
{
	size_t size = (size_t)crew->page->slot[i].value;
	const char *group = arg;
	void *memory;

	if (group && cgroup_join(group, 0))
		return EXIT_FAILED;
	memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED || madvise(memory, size, MADV_POPULATE_WRITE))
		return EXIT_FAILED;
	return EXIT_GOOD;
}

u64 memory_to_have(void)
{
	u64 size = value_of("/proc/meminfo", "MemAvailable") * 1024 / 2;

	return size < ALLOCATE_MAX ? size : ALLOCATE_MAX;
}

void expect_memory(struct ktap_case *t, const char *group, u64 size)
{
	struct crew crew;
	int status;

	crew_create(&crew, 1);
	crew.page->slot[0].value = size;
	crew_fork(&crew, allocate, group);
	crew_gather(&crew, safety_left_ns());
	crew_release(&crew);
	status = crew_wait(&crew, 0, now_ns() + safety_left_ns());
	expect(t, !status, "%llu bytes cannot be had: status %d", size, status);
	crew_destroy(&crew);
}

/* Others can have memory while the privileged of @group (NULL: none) write. */
static void leave_memory(struct ktap_case *t, const char *group, u64 size, const char *kills)
{
	unsigned int ratio = group ? GROUP_RATIO : DIRTY_RATIO;
	const struct task tasks[] = {
		{ .role = ROLE_WRITE, .privileged = true, .group = group },
		{ .role = ROLE_WRITE, .privileged = true, .group = group },
		{ .role = ROLE_WRITE, .privileged = true, .group = group },
	};
	u64 before = value_of(kills, "oom_kill");
	struct crew crew;
	struct watch w = { .t = t, .crew = &crew, .bytes = UNBOUND_BYTES };

	disk_make(DISK_MIB, group ? GROUP_MBPS : DISK_MBPS, ORDERED);
	vm_set("dirty_ratio", ratio);
	vm_set("dirty_background_ratio", ratio / 2);
	wrais_set("dirty_headroom_pct", HEADROOM_PCT);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch(&w);
	expect_memory(t, group, size);
	tasks_advance(t, &crew, 1);
	tasks_stop(t, &crew);
	expect(t, value_of(kills, "oom_kill") == before, "somebody was killed for memory");
}

void case_memory(struct ktap_case *t)
{
	leave_memory(t, NULL, memory_to_have(), VMSTAT);
}

static bool group_removed(void *unused)
{
	(void)unused;
	return !rmdir(GROUP_PATH) || errno == ENOENT;
}

void case_memory_cgroup(struct ktap_case *t)
{
	char before[256], limit[32];

	if (read_text(CONTROLLERS, before, sizeof(before)) < 0 ||
	    write_text(CONTROLLERS, "+memory +io")) {
		skip_test(t, "no cgroup v2 with memory and I/O controllers");
		return;
	}
	mkdir(GROUP_PATH, 0755);
	snprintf(limit, sizeof(limit), "%llu", GROUP_BYTES);
	if (expect(t, !write_text(GROUP_PATH "/memory.max", limit), "cannot limit a group"))
		leave_memory(t, GROUP, GROUP_ALLOCATES, GROUP_PATH "/memory.events");
	expect(t, wait_until(group_removed, NULL, safety_left_ns()), "the group stays");
	if (!strstr(before, "memory"))
		write_text(CONTROLLERS, "-memory");
	if (!strstr(before, "io"))
		write_text(CONTROLLERS, "-io");
}
