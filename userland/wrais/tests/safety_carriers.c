// SPDX-License-Identifier: GPL-2.0
/*
 * safety_carriers.c - wrais-safety: a request is as privileged as who wants it, whoever
 * brings it to the disk.
 */
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "privilege.h"
#include "safety.h"
#include "validate.h"

#define DISK_MBPS	30U
/* Beside two readers who are not privileged it would have a third, or half as much as they. */
#define CARRIED_PERCENT	100U
/* In 5 s: 84 to 237; or 1, or 6, if it waits until the reader thinks. */
#define METADATA_SYNCS	20U
/* Of 5 s. */
#define TAG_WATCHES	5U

static void expect_first(struct ktap_case *t, const char *whose, const u64 *done)
{
	expect_share(t, 100 * done[0] > CARRIED_PERCENT * (done[1] + done[2]), whose, done[0],
		     done[1] + done[2]);
}

/* A kernel thread reads what a privileged task wants of a loop device. */
void case_worker(struct ktap_case *t)
{
	char loop[LOOP_PATH_MAX], image[PATH_MAX];
	struct task tasks[] = {
		{ .role = ROLE_READ, .privileged = true, .path = loop, .image = image },
		OTHERS(READ), OTHERS(READ),
	};
	u64 done[ARRAY_SIZE(tasks)];
	struct crew crew;
	int fd;

	devices_prepare(DISK_MBPS);
	fd = loop_make(loop, false);
	loop_image(image);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	tasks_stop(t, &crew);
	close(fd);
	expect_first(t, "by loop for a privileged task, and others", done);
}

/* The first of the tasks is privileged and syncs; beside them it gets on. */
static void expect_syncs(struct ktap_case *t, const struct task *tasks, unsigned int count)
{
	u64 done[TASKS_MAX], rounds;
	struct crew crew;

	devices_prepare(DISK_MBPS);
	wrais_set("floor_pct", 0);
	tasks_start(&crew, tasks, count);
	watch_each(t, &crew, done);
	rounds = load64(&crew.page->slot[0].rounds);
	tasks_stop(t, &crew);
	expect_bound(t, rounds >= METADATA_SYNCS, "%llu times", rounds);
}

#define FLUSHER	{ .role = ROLE_WRITE_BACK, .path = "/dev/" SAFETY_DISK }

/*
 * The flusher writes metadata beside a privileged reader. Who is privileged, too, and
 * wants to change them, waits for the lock of the buffer until they are written.
 */
void case_metadata(struct ktap_case *t)
{
	static const struct task tasks[] = { PRIVILEGED(SYNC), PRIVILEGED(READ), FLUSHER };

	expect_syncs(t, tasks, ARRAY_SIZE(tasks));
}

/*
 * The same beside one who is not privileged, and waits for such a lock with a handle: the
 * commit that the fsync waits for does not begin before that has ended.
 */
void case_handle(struct ktap_case *t)
{
	static const struct task tasks[] = {
		PRIVILEGED(SYNC), PRIVILEGED(READ), FLUSHER, OTHERS(ALLOCATE),
	};

	expect_syncs(t, tasks, ARRAY_SIZE(tasks));
}

/*
 * Writeback has the tags that there are for it, and the flusher waits for one of them with a
 * handle open: a commit waits for that, and the writers, who are privileged, for the commit.
 * Readers want the disk all the time. It took some seconds until all of that came together,
 * and then half a minute.
 */
void case_tag(struct ktap_case *t)
{
	enum { WRITER = 5 };
	static const struct task tasks[] = {
		OTHERS(SYNC), OTHERS(SYNC), PRIVILEGED(READ), PRIVILEGED(READ), PRIVILEGED(READ),
		[WRITER] = PRIVILEGED(WRITE), PRIVILEGED(WRITE), PRIVILEGED(WRITE),
	};
	unsigned int watch, i, watches = safety.brief ? 1 : TAG_WATCHES;
	u64 done[ARRAY_SIZE(tasks)];
	struct crew crew;

	devices_prepare(DISK_MBPS);
	wrais_set("floor_pct", 0);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	for (watch = 0; watch < watches; watch++) {
		watch_each(t, &crew, done);
		for (i = WRITER; i < ARRAY_SIZE(tasks); i++)
			expect_bound(t, done[i] >= MIB, "writer %u: %llu bytes", i + 1, done[i]);
	}
	tasks_stop(t, &crew);
}

/* A task that is not privileged gives single requests the real-time class. */
void case_request(struct ktap_case *t)
{
	static const struct task tasks[] = {
		OTHERS(REQUEST), OTHERS(READ), OTHERS(READ),
	};
	u64 done[ARRAY_SIZE(tasks)];
	struct crew crew;

	devices_prepare(DISK_MBPS);
	tasks_start(&crew, tasks, ARRAY_SIZE(tasks));
	watch_each(t, &crew, done);
	tasks_stop(t, &crew);
	expect_first(t, "requests of the real-time class, and others", done);
}
