// SPDX-License-Identifier: GPL-2.0
/*
 * safety_disruptions.c - wrais-safety: the disk is full, frozen, unmounted or
 * gone while the privileged and the others use it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "safety.h"

#define DISK_MBPS	30U
#define SMALL_MIB	24U
#define BRIEF_MIB	12U
#define DISK_MIB	128U
#define ORDERED		"data=ordered"
#define JOURNAL		"data=journal"
#define DIRTY_BYTES	(4 * MIB)

/* What fits again when the disk is no longer full. */
#define AGAIN_BYTES	(4 * MIB)

/* The others have to get ahead as well, and soon. */
#define FLOOR_WINDOW_MS	1000U

/* So little that writers are over it nearly always. */
#define REMOVAL_DIRTY_BYTES	(256 * 1024)
#define REMOVALS	6U

#define FREEZES		2U
#define UNMOUNTS	8U

/* Both kinds of tasks, in each way. */
static const struct task mixed[] = {
	PRIVILEGED(WRITE), PRIVILEGED(SYNC), PRIVILEGED(READ),
	OTHERS(WRITE), OTHERS(SYNC), OTHERS(READ),
};

static void prepare(u32 mib, const char *options)
{
	disk_make(mib, DISK_MBPS, options);
	vm_set("dirty_bytes", DIRTY_BYTES);
	vm_set("dirty_background_bytes", DIRTY_BYTES / 2);
	wrais_set("floor_window_ms", FLOOR_WINDOW_MS);
}

/* Start both kinds of tasks, and see that each gets ahead. */
static void start_mixed(struct ktap_case *t, struct crew *crew)
{
	tasks_start(crew, mixed, ARRAY_SIZE(mixed));
	tasks_advance(t, crew, 1);
}

static void expect_usable(struct ktap_case *t)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/again", safety.dir);
	disk_file(path, AGAIN_BYTES);
	expect(t, !unlink(path), "cannot remove a file: %s", strerror(errno));
}

static void expect_clean_end(struct ktap_case *t)
{
	int error = disk_unmount();

	if (expect(t, !error, "cannot unmount: %s", strerror(-error)))
		disk_expect_clean(t);
}

static void fill_up(struct ktap_case *t, const char *options)
{
	static const struct task tasks[] = {
		PRIVILEGED(FILL), OTHERS(FILL),
		PRIVILEGED(FILL), OTHERS(FILL),
	};
	struct crew crew;

	prepare(safety.brief ? BRIEF_MIB : SMALL_MIB, options);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	tasks_expect_error(t, &crew, ENOSPC, ENOSPC);
	expect(t, !tasks_clean(ARRAY_SIZE(tasks)), "cannot remove the files");
	sync();
	expect_usable(t);
	expect_clean_end(t);
}

void case_space(struct ktap_case *t)
{
	fill_up(t, ORDERED);
}

void case_space_journal(struct ktap_case *t)
{
	fill_up(t, JOURNAL);
}

/* Nothing reaches a frozen disk; reading from it, which takes a while, goes on. */
static void expect_frozen(struct ktap_case *t, struct crew *crew)
{
	u64 before = disk_written(), after;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(mixed); i++)
		if (mixed[i].role == ROLE_READ)
			task_advance(t, crew, i, 1);
	after = disk_written();
	expect(t, after == before, "%llu bytes were written while frozen", after - before);
}

void case_freeze(struct ktap_case *t)
{
	struct crew crew;
	unsigned int i;

	prepare(DISK_MIB, ORDERED);
	start_mixed(t, &crew);
	for (i = 0; i < (safety.brief ? 1 : FREEZES) && !t->failed; i++) {
		int error = disk_freeze(true);

		if (!expect(t, !error, "freeze %u: %s", i + 1, strerror(-error)))
			break;
		expect_frozen(t, &crew);
		error = disk_freeze(false);
		if (expect(t, !error, "thaw %u: %s", i + 1, strerror(-error)))
			tasks_advance(t, &crew, 1);
	}
	tasks_stop(t, &crew);
	expect_clean_end(t);
}

void case_unmount(struct ktap_case *t)
{
	struct crew crew;
	unsigned int i;
	int error;

	prepare(DISK_MIB, ORDERED);
	start_mixed(t, &crew);
	for (i = 0; i < UNMOUNTS && !t->failed; i++) {
		error = disk_unmount();
		expect(t, error == -EBUSY, "unmount while used: %s", strerror(-error));
		error = disk_remount(true);
		expect(t, error == -EBUSY, "remount read-only while used: %s",
		       strerror(-error));
	}
	tasks_advance(t, &crew, 1);
	crew_destroy(&crew);
	error = disk_remount(true);
	expect(t, !error, "remount read-only: %s", strerror(-error));
	error = disk_remount(false);
	expect(t, !error, "remount read-write: %s", strerror(-error));
	expect_usable(t);
	expect_clean_end(t);
	error = disk_mount(ORDERED);
	if (!expect(t, !error, "mount: %s", strerror(-error)))
		return;
	start_mixed(t, &crew);
	tasks_stop(t, &crew);
	expect_clean_end(t);
}

/* Whoever uses the disk when it is taken away ends; the disk comes back as it was then. */
static void take_away(struct ktap_case *t)
{
	struct crew crew;
	int error;

	start_mixed(t, &crew);
	error = disk_power(false);
	expect(t, !error, "cannot take the disk away: %s", strerror(-error));
	tasks_expect_error(t, &crew, EIO, EROFS);
	error = disk_unmount();
	expect(t, !error, "unmount: %s", strerror(-error));
	error = disk_power(true);
	if (!expect(t, !error, "the disk does not come back: %s", strerror(-error)))
		return;
	error = disk_mount(ORDERED);
	expect(t, !error, "mount: %s", strerror(-error));
}

/*
 * Who uses a disk that is taken away gets an error: EIO, or EROFS once the
 * journal has been given up. Also a writer that waits for others' dirty pages.
 */
void case_removal(struct ktap_case *t)
{
	unsigned int i;

	prepare(DISK_MIB, ORDERED);
	vm_set("dirty_bytes", REMOVAL_DIRTY_BYTES);
	for (i = 0; i < (safety.brief ? 1 : REMOVALS) && !t->failed; i++)
		take_away(t);
	if (t->failed)
		return;
	expect_usable(t);
	expect_clean_end(t);
}
