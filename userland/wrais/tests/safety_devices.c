// SPDX-License-Identifier: GPL-2.0
/*
 * safety_devices.c - wrais-safety: what a privileged task does on a disk, and waits for,
 * is between those who use that disk.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "safety.h"
#include "validate.h"

#define DISK_MIB	128U
#define DISK_MBPS	30U
#define SLOW_MBPS	1U
#define ORDERED		"data=ordered"
#define DIRTY_BYTES	(8 * MIB)

/* The others are owed something soon. */
#define FLOOR_WINDOW_MS	2000U
/* Tasks are watched for so long, after they have begun. */
#define WATCH_NS	(5 * NSEC_PER_SEC)
#define BRIEF_WATCH_NS	(3 * NSEC_PER_SEC)

/* The others have 5 % of what the device does, in which requests have a price, too. */
#define OTHERS_PERMILLE	35U
/* Who is privileged has so much more than a loop device, at least; 15 times on a quiet host. */
#define LOOP_PERCENT	150U
#define COMMIT_MAX_NS	(350 * NSEC_PER_MSEC)
/* What a reader has beside who syncs, of what it has alone [percent]: 91, or 68 if not. */
#define PAIR_PERCENT	78U
/*
 * Who has more than its share of what is dirty does not nap, to be the first when there is
 * room: there are none, or 900 if it does. Beside them a writer on a fast disk has 16 to 30
 * MB on a quiet host, as without us, or 10.
 */
#define OVER_NAPS_MAX	300U

void devices_prepare(u32 mbps)
{
	disk_make(DISK_MIB, mbps, ORDERED);
	vm_set("dirty_bytes", DIRTY_BYTES);
	vm_set("dirty_background_bytes", DIRTY_BYTES / 2);
	wrais_set("floor_window_ms", FLOOR_WINDOW_MS);
}

void watch_each(struct ktap_case *t, struct crew *crew, u64 *done)
{
	u64 watch_ns = safety.brief ? BRIEF_WATCH_NS : WATCH_NS;
	unsigned int i;

	tasks_advance(t, crew, 1);
	for (i = 0; i < crew->count; i++)
		done[i] = load64(&crew->page->slot[i].value);
	sleep_until_ns(now_ns() + watch_ns);
	for (i = 0; i < crew->count; i++) {
		done[i] = load64(&crew->page->slot[i].value) - done[i];
		ktap_note(t->ktap, "task %u: %llu in %llu s, %llu rounds in all", i + 1, done[i],
			  watch_ns / NSEC_PER_SEC, load64(&crew->page->slot[i].rounds));
	}
}

void expect_share(struct ktap_case *t, bool kept, const char *whose, u64 done, u64 of)
{
	expect_bound(t, kept, "%s: %llu bytes, %llu", whose, done, of);
}

void case_slow_disk(struct ktap_case *t)
{
	enum { OTHER = 2 };
	static const struct task tasks[] = {
		PRIVILEGED(WRITE), PRIVILEGED(WRITE),
		[OTHER] = { .role = ROLE_WRITE, .second = true },
	};
	u64 done[ARRAY_SIZE(tasks)], before, naps;
	struct crew crew;

	devices_prepare(SLOW_MBPS);
	disk_make_second(DISK_MIB, DISK_MBPS);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	before = counter_now(t, "dirty_naps");
	watch_each(t, &crew, done);
	naps = counter_now(t, "dirty_naps") - before;
	tasks_stop(t, &crew);
	expect_bound(t, naps <= OVER_NAPS_MAX, "%llu naps", naps);
}

void case_other_disk(struct ktap_case *t)
{
	enum { OTHER = 2 };
	static const struct task tasks[] = {
		PRIVILEGED(READ), PRIVILEGED(SYNC),
		[OTHER] = { .role = ROLE_WRITE, .second = true },
	};
	u64 done[ARRAY_SIZE(tasks)], before, after;
	struct crew crew;

	devices_prepare(DISK_MBPS);
	disk_make_second(DISK_MIB, DISK_MBPS / 2);
	before = counter_now(t, "dirty_holds");
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	after = counter_now(t, "dirty_holds");
	tasks_stop(t, &crew);
	expect(t, after == before, "a writer on another disk was held %llu times",
	       after - before);
}

/* A device whose blocks are those of a file. */
static int loop_over(const char *file, char path[LOOP_PATH_MAX], u32 flags)
{
	struct loop_config config = {
		.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_READ_ONLY | flags,
	};
	int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC), number, loop, error = 0;

	number = control < 0 ? -1 : ioctl(control, LOOP_CTL_GET_FREE);
	if (number < 0)
		die(EXIT_FAILED, "no loop device: %s", strerror(errno));
	close(control);
	snprintf(path, LOOP_PATH_MAX, "/dev/loop%d", number);
	config.fd = (unsigned int)open(file, O_RDONLY | O_CLOEXEC);
	loop = open(path, O_RDONLY | O_CLOEXEC);
	if (loop < 0 || ioctl(loop, LOOP_CONFIGURE, &config))
		error = errno;
	close((int)config.fd);
	if (error)
		die(EXIT_FAILED, "%s over %s: %s", path, file, strerror(error));
	return loop;
}

void loop_image(char file[PATH_MAX])
{
	char dir[PATH_MAX];

	disk_dir(dir, false);
	if (snprintf(file, PATH_MAX, "%s/image", dir) >= PATH_MAX)
		die(EXIT_FAILED, "%s: too long", dir);
}

int loop_make(char path[LOOP_PATH_MAX], bool direct)
{
	char file[PATH_MAX];

	loop_image(file);
	disk_file(file, MIB);
	return loop_over(file, path, direct ? LO_FLAGS_DIRECT_IO : 0);
}

/* Whose I/O is waited for on another disk does not help a kernel thread here. */
void case_loop(struct ktap_case *t)
{
	enum { SYNCER, READER, OTHER };
	char loop[LOOP_PATH_MAX];
	struct task tasks[] = {
		[SYNCER] = { .role = ROLE_SYNC, .privileged = true, .second = true },
		[READER] = PRIVILEGED(READ),
		[OTHER] = { .role = ROLE_READ, .path = loop },
	};
	u64 done[ARRAY_SIZE(tasks)];
	struct crew crew;
	int fd;

	devices_prepare(DISK_MBPS);
	disk_make_second(DISK_MIB, DISK_MBPS);
	fd = loop_make(loop, true);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	tasks_stop(t, &crew);
	close(fd);
	expect_share(t, 100 * done[READER] > LOOP_PERCENT * done[OTHER], "privileged, and by loop",
		     done[READER], done[OTHER]);
}

/*
 * A commit that is waited for gets on beside privileged readers, one of whom always has a
 * request, and beside another kernel thread, whose queue BFQ would like to merge with that
 * of the journal.
 */
void case_commit(struct ktap_case *t)
{
	enum { SYNCER, OTHER };
	char loop[LOOP_PATH_MAX];
	struct task tasks[] = {
		[SYNCER] = PRIVILEGED(SYNC),
		[OTHER] = { .role = ROLE_READ, .path = loop },
		PRIVILEGED(READ), PRIVILEGED(READ), PRIVILEGED(READ),
	};
	u64 done[ARRAY_SIZE(tasks)], longest;
	struct crew crew;
	int fd;

	devices_prepare(DISK_MBPS);
	fd = loop_make(loop, true);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	longest = load64(&crew.page->slot[SYNCER].value);
	tasks_stop(t, &crew);
	close(fd);
	ktap_note(t->ktap, "the longest fsync took %llu ms", longest / NSEC_PER_MSEC);
	expect_bound(t, longest <= COMMIT_MAX_NS, "an fsync took %llu ms",
		     longest / NSEC_PER_MSEC);
}

void case_writer(struct ktap_case *t)
{
	enum { WRITER, READER, OTHER };
	static const struct task tasks[] = {
		[WRITER] = PRIVILEGED(WRITE),
		[READER] = PRIVILEGED(READ),
		[OTHER] = OTHERS(READ),
	};
	u64 done[ARRAY_SIZE(tasks)], sum;
	struct crew crew;

	devices_prepare(DISK_MBPS);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	tasks_stop(t, &crew);
	sum = done[WRITER] + done[READER] + done[OTHER];
	expect_share(t, done[OTHER] * 1000 >= OTHERS_PERMILLE * sum, "the others, and all",
		     done[OTHER], sum);
}

/* The device is not kept idle for who waits for the journal while a privileged task reads. */
void case_pair(struct ktap_case *t)
{
	enum { READER };
	static const struct task tasks[] = { [READER] = PRIVILEGED(READ), PRIVILEGED(SYNC) };
	u64 done[ARRAY_SIZE(tasks)], alone;
	struct crew crew;

	devices_prepare(DISK_MBPS);
	tasks_start(&crew, tasks, 1);
	watch_each(t, &crew, &alone);
	tasks_stop(t, &crew);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	tasks_stop(t, &crew);
	expect_share(t, 100 * done[READER] > PAIR_PERCENT * alone, "the reader, and alone",
		     done[READER], alone);
}
