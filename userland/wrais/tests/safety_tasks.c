// SPDX-License-Identifier: GPL-2.0
/* safety_tasks.c - wrais-safety: readers and writers that note what ended them. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/aio_abi.h>
#include <linux/ioprio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "privilege.h"
#include "safety.h"

#define BLOCK		(64U * 1024)
/* A writer's file holds so much, and gives back so much at a time. */
#define WRITE_ROOM	(24 * MIB)
#define PUNCH		(8 * MIB)
#define READ_SIZE	(1 * MIB)
/* What a polite reader leaves to others: longer than BFQ waits for it (slice_idle). */
#define PAUSE_NS	(20 * NSEC_PER_MSEC)
/* What a task that thinks does not leave to them: shorter than that. */
#define THINK_NS	(NSEC_PER_MSEC / 2)

/* A task at work. */
struct worker {
	aio_context_t aio;
	struct crew_slot *slot;
	char *buffer;
	int fd;
	int image;
	u64 at;			/* where it goes on */
	u64 hole;		/* what it has given back */
	u64 pause_ns;		/* before each read */
};

static void name_file(char path[PATH_MAX], unsigned int i, bool second)
{
	char dir[PATH_MAX];

	disk_dir(dir, second);
	if (snprintf(path, PATH_MAX, "%s/task.%u", dir, i + 1) >= PATH_MAX)
		die(EXIT_FAILED, "%s: too long", dir);
}

/* Steps return 0 or an error number. */
static int append(struct worker *w, size_t size)
{
	ssize_t done = pwrite(w->fd, w->buffer, size, (off_t)w->at);

	if (done < 0)
		return errno;
	w->at += (u64)done;
	return 0;
}

static int step_fill(struct worker *w)
{
	int error = append(w, BLOCK);

	store64(&w->slot->value, w->at);
	return error;
}

static int step_write(struct worker *w)
{
	int error = step_fill(w);

	if (error || w->at - w->hole < WRITE_ROOM + PUNCH)
		return error;
	if (fallocate(w->fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)w->hole,
		      (off_t)PUNCH))
		return errno;
	w->hole += PUNCH;
	return 0;
}

static int step_allocate(struct worker *w)
{
	if (fallocate(w->fd, 0, 0, (off_t)PUNCH) || ftruncate(w->fd, 0))
		return errno;
	return 0;
}

static int step_sync(struct worker *w)
{
	int error = append(w, PAGE_BYTES);
	u64 begin = now_ns(), took;

	if (error)
		return error;
	if (fsync(w->fd))
		return errno;
	took = now_ns() - begin;
	if (took > w->slot->value)
		store64(&w->slot->value, took);
	return 0;
}

/*
 * The real-time class goes before all others for as long as it wants the disk: nothing
 * but the floor keeps a reader that never pauses from starving them, also of the sync
 * that del_gendisk() waits for.
 */
static bool may_starve_others(const struct task *task)
{
	u64 floor;

	return task->privileged && (all_off() || wrais_get("floor", &floor) || !floor);
}

static int step_read(struct worker *w)
{
	ssize_t got;

	if (w->pause_ns)
		sleep_until_ns(now_ns() + w->pause_ns);
	got = pread(w->fd, w->buffer, BLOCK, (off_t)w->at);
	if (got < 0)
		return errno;
	w->at += (u64)got;
	if (!got) {
		w->at = 0;
		forget_pages(w->fd);
		if (w->image >= 0)
			forget_pages(w->image);
	}
	store64(&w->slot->value, w->slot->value + (u64)got);
	return 0;
}

static int await_request(struct worker *w, struct iocb *request)
{
	struct io_event event;

	if (syscall(SYS_io_submit, w->aio, 1L, &request) != 1)
		return errno;
	if (syscall(SYS_io_getevents, w->aio, 1L, 1L, &event, NULL) != 1)
		return errno;
	return event.res == BLOCK ? 0 : EIO;
}

static int step_request(struct worker *w)
{
	struct iocb request = {
		.aio_lio_opcode = IOCB_CMD_PREAD,
		.aio_flags = IOCB_FLAG_IOPRIO,
		.aio_reqprio = IOPRIO_PRIO_VALUE(IOPRIO_CLASS_RT, 0),
		.aio_fildes = (u32)w->fd,
		.aio_buf = (u64)(uintptr_t)w->buffer,
		.aio_nbytes = BLOCK,
		.aio_offset = (s64)w->at,
	};
	int error = 0;

	if (!w->aio && syscall(SYS_io_setup, 1L, &w->aio))
		return errno;
	error = await_request(w, &request);
	if (error)
		return error;
	w->at = (w->at + BLOCK) % READ_SIZE;
	store64(&w->slot->value, w->slot->value + BLOCK);
	return 0;
}

/* As the flusher does every few seconds. */
static int step_write_back(struct worker *w)
{
	sleep_until_ns(now_ns() + PAUSE_NS);
	return sync_file_range(w->fd, 0, 0, SYNC_FILE_RANGE_WRITE) ? errno : 0;
}

static int (*const steps[])(struct worker *w) = {
	[ROLE_FILL] = step_fill,
	[ROLE_WRITE] = step_write,
	[ROLE_ALLOCATE] = step_allocate,
	[ROLE_SYNC] = step_sync,
	[ROLE_READ] = step_read,
	[ROLE_REQUEST] = step_request,
	[ROLE_WRITE_BACK] = step_write_back,
};

static int open_file(const struct task *task, const char *path)
{
	if (task->path && task->role >= ROLE_READ)
		return open(task->path, O_RDONLY | O_CLOEXEC);
	if (task->path)
		path = task->path;
	if (task->role == ROLE_REQUEST)
		return open(path, O_RDONLY | O_DIRECT | O_CLOEXEC);
	return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
}

static CREW_FN(work)
{
	const struct task *task = (const struct task *)arg + i;
	struct worker w = { .slot = &crew->page->slot[i] };
	char path[PATH_MAX];
	int error = 0;

	w.buffer = aligned_alloc(PAGE_BYTES, BLOCK);
	if (!w.buffer)
		die(EXIT_FAILED, "no memory");
	memset(w.buffer, 0x5a, BLOCK);
	if (may_starve_others(task))
		w.pause_ns = PAUSE_NS;
	else if (task->thinks)
		w.pause_ns = THINK_NS;
	if (task->privileged)
		error = ioprio_change(0, (struct ioprio){ IO_RT, 0 });
	if (!error && task->group)
		error = cgroup_join(task->group, 0);
	if (error)
		die(EXIT_FAILED, "task %u: its privilege or group: %s", i + 1,
		    strerror(-error));
	name_file(path, i, task->second);
	w.fd = open_file(task, path);
	error = w.fd < 0 ? errno : 0;
	w.image = task->image ? open(task->image, O_RDONLY | O_CLOEXEC) : -1;
	forget_pages(w.fd);
	while (!error && !load(&crew->page->stop)) {
		error = steps[task->role](&w);
		store64(&w.slot->rounds, w.slot->rounds + 1);
	}
	store(&w.slot->mark, (u32)error);
	return EXIT_GOOD;
}

void tasks_start(struct crew *crew, const struct task *tasks, unsigned int count)
{
	char path[PATH_MAX];
	unsigned int i;

	crew_create(crew, count);
	for (i = 0; i < count; i++) {
		if (tasks[i].role >= ROLE_READ && !tasks[i].path) {
			name_file(path, i, tasks[i].second);
			disk_file(path, READ_SIZE);
		}
		crew_fork(crew, work, tasks);
	}
	crew_gather(crew, safety_left_ns());
	crew_release(crew);
}

struct goal {
	const struct crew_slot *slot;
	u64 rounds;
};

static bool has_advanced(void *arg)
{
	const struct goal *goal = arg;

	return load64(&goal->slot->rounds) >= goal->rounds || load(&goal->slot->mark);
}

static bool await_goal(struct ktap_case *t, unsigned int i, struct goal goal)
{
	bool there = wait_until(has_advanced, &goal, safety_left_ns());
	u32 error = load(&goal.slot->mark);

	return expect(t, !error, "task %u was ended: %s", i + 1, strerror((int)error)) &&
	       expect(t, there, "task %u does not get on: %llu rounds, not %llu", i + 1,
		      load64(&goal.slot->rounds), goal.rounds);
}

void task_advance(struct ktap_case *t, struct crew *crew, unsigned int i, u64 rounds)
{
	const struct crew_slot *slot = &crew->page->slot[i];

	await_goal(t, i, (struct goal){ slot, load64(&slot->rounds) + rounds });
}

void tasks_advance(struct ktap_case *t, struct crew *crew, u64 rounds)
{
	struct goal goal[crew->count];
	unsigned int i;

	for (i = 0; i < crew->count; i++) {
		goal[i].slot = &crew->page->slot[i];
		goal[i].rounds = load64(&goal[i].slot->rounds) + rounds;
	}
	/* one that does not get on has used up the time of the others */
	for (i = 0; i < crew->count; i++)
		if (!await_goal(t, i, goal[i]))
			break;
}

unsigned int tasks_clean(unsigned int count)
{
	unsigned int missing = 0;
	char path[PATH_MAX];

	while (count--) {
		name_file(path, count, false);
		missing += unlink(path) != 0;
	}
	return missing;
}

u64 tasks_bytes(const struct crew *crew)
{
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < crew->count; i++)
		sum += load64(&crew->page->slot[i].value);
	return sum;
}

void tasks_expect_error(struct ktap_case *t, struct crew *crew, int error, int other)
{
	unsigned int i, late = crew_reap(crew, safety_left_ns());

	expect(t, !late, "%u tasks have not ended", late);
	for (i = 0; i < crew->count; i++) {
		int got = (int)load(&crew->page->slot[i].mark);

		expect(t, got == error || got == other, "task %u: %s, not %s", i + 1,
		       got ? strerror(got) : "no error", strerror(error));
	}
	crew_destroy(crew);
}

void tasks_stop(struct ktap_case *t, struct crew *crew)
{
	unsigned int late;

	store(&crew->page->stop, 1);
	late = crew_reap(crew, safety_left_ns());
	expect(t, !late, "%u tasks have not ended", late);
	for (unsigned int i = 0; i < crew->count; i++) {
		u32 error = load(&crew->page->slot[i].mark);

		expect(t, !error, "task %u was ended: %s", i + 1, strerror((int)error));
	}
	crew_destroy(crew);
}
