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
