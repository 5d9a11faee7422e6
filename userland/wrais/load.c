// SPDX-License-Identifier: GPL-2.0
/* load.c - background load: copies of dd that read and write files. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "load.h"

/* Blocks are given back in large pieces, as truncation gives them back. */
#define PUNCH		(16 * MIB)

#define GATHER_NS	(60 * NSEC_PER_SEC)

static void name_file(char path[PATH_MAX], const struct load_options *o, const char *kind,
		      unsigned int i)
{
	if (snprintf(path, PATH_MAX, "%s/%s.%u", o->dir, kind, i + 1) >= PATH_MAX)
		die(EXIT_USAGE, "the name of the directory is too long");
}

void load_prepare(const struct load_options *o)
{
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < o->readers; i++) {
		name_file(path, o, "read", i);
		disk_file(path, o->read_size);
	}
}

static char *block_buffer(size_t size)
{
	char *buffer = xmalloc(size);

	memset(buffer, 0, size);
	return buffer;
}

static int open_file(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC, 0644);

	if (fd < 0)
		die(EXIT_FAILED, "cannot open %s: %s", path, strerror(errno));
	return fd;
}

static u64 count_bytes(struct crew_slot *slot, ssize_t bytes, u64 moved)
{
	store64(&slot->value, slot->value + (u64)bytes);
	return moved + (u64)bytes;
}

/* A reader: each time around, its file is no longer in memory. */
static void read_pass(const struct load_options *o, unsigned int i, struct crew_slot *slot)
{
	char path[PATH_MAX], *buffer = block_buffer(o->block_size);
	u64 moved = 0;
	int fd;

	prctl(PR_SET_NAME, "load-reader");
	name_file(path, o, "read", i);
	fd = open_file(path, O_RDONLY);
	forget_pages(fd);
	while (moved < o->pass_size) {
		ssize_t got = read(fd, buffer, o->block_size);

		if (got < 0)
			die(EXIT_FAILED, "cannot read %s: %s", path, strerror(errno));
		if (!got) {
			lseek(fd, 0, SEEK_SET);
			forget_pages(fd);
		}
		moved = count_bytes(slot, got, moved);
	}
	close(fd);
	free(buffer);
}

/*
 * A writer: each block is a new one, as in a file that is written for the first
 * time, and the oldest ones are given back to keep the file small.
 */
static void write_pass(const struct load_options *o, unsigned int i, struct crew_slot *slot)
{
	char path[PATH_MAX], *buffer = block_buffer(o->block_size);
	u64 moved = 0, hole = 0;
	int fd;

	prctl(PR_SET_NAME, "load-writer");
	name_file(path, o, "write", i);
	fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
	while (moved < o->pass_size) {
		ssize_t done = write(fd, buffer, o->block_size);

		if (done <= 0)
			die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
		moved = count_bytes(slot, done, moved);
		if (moved - hole < o->write_size + PUNCH)
			continue;
		if (fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			      (off_t)hole, (off_t)PUNCH))
			die(EXIT_FAILED, "cannot give back blocks of %s: %s", path,
			    strerror(errno));
		hole += PUNCH;
	}
	close(fd);
	free(buffer);
}

/* Until it is killed. It moves nothing itself, and is at work from the beginning. */
static void __noreturn sync_often(const struct load_options *o, struct crew_slot *slot)
{
	prctl(PR_SET_NAME, "load-sync");
	store64(&slot->value, 1);
	for (;;) {
		sleep_until_ns(now_ns() + o->sync_ms * NSEC_PER_MSEC);
		sync();
		slot->rounds++;
	}
}

static void take_priority(const struct load_options *o)
{
	int error = o->prio_set ? ioprio_change(0, o->prio) : 0;

	if (error)
		die(EXIT_FAILED, "the I/O priority of the load: %s", strerror(-error));
}

static CREW_FN(work)
{
	const struct load_options *o = arg;
	struct crew_slot *slot = &crew->page->slot[i];

	if (i == o->readers + o->writers)
		sync_often(o, slot);
	take_priority(o);
	if (!slot->rounds++)
		sleep_until_ns(now_ns() + i * o->stagger_ms * NSEC_PER_MSEC);
	if (i < o->readers)
		read_pass(o, i, slot);
	else
		write_pass(o, i - o->readers, slot);
	return 0;
}

/* What worker @i is, and its number among those that are the same, from 1 on. */
static const char *load_worker(const struct load_options *o, unsigned int i)
{
	return i < o->readers ? "reader" : i < o->readers + o->writers ? "writer" : "sync";
}

static unsigned int load_number(const struct load_options *o, unsigned int i)
{
	return (i < o->readers ? i : i < o->readers + o->writers ? i - o->readers : 0) + 1;
}

static void watch_worker(struct load *load, unsigned int i)
{
	load->pidfd[i] = (int)syscall(SYS_pidfd_open, load->crew.pid[i], 0);
	if (load->pidfd[i] < 0)
		die(EXIT_FAILED, "pidfd_open: %s", strerror(errno));
}

void load_start(struct load *load, const struct load_options *o)
{
	unsigned int i;

	*load = (struct load){ .o = o, .count = o->readers + o->writers + !!o->sync_ms };
	load->pidfd = xcalloc(load->count + 1, sizeof(*load->pidfd));
	load->marked = xcalloc(load->count + 1, sizeof(*load->marked));
	crew_create(&load->crew, load->count);
	for (i = 0; i < load->count; i++) {
		crew_fork(&load->crew, work, o);
		watch_worker(load, i);
	}
	crew_gather(&load->crew, GATHER_NS);
	crew_release(&load->crew);
}

static void replace(struct load *load, unsigned int i)
{
	int status = crew_wait(&load->crew, i, 0);

	if (status == -1)
		return;
	if (status)
		die(EXIT_FAILED, "%s %u of the load failed", load_worker(load->o, i),
		    load_number(load->o, i));
	close(load->pidfd[i]);
	crew_refork(&load->crew, i, work, load->o);
	watch_worker(load, i);
}

/* How long poll(2) may sleep. */
static int milliseconds_until(u64 deadline_ns)
{
	u64 now = now_ns(), ms;

	if (now >= deadline_ns)
		return 0;
	ms = (deadline_ns - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

bool load_watch(struct load *load, int fd, u64 deadline_ns)
{
	struct pollfd polled[2 * LOAD_WORKERS_MAX + 2];
	unsigned int i;

	for (;;) {
		for (i = 0; i < load->count; i++)
			polled[i] = (struct pollfd){ load->pidfd[i], POLLIN, 0 };
		polled[i] = (struct pollfd){ fd, POLLIN, 0 };
		if (poll(polled, load->count + 1, milliseconds_until(deadline_ns)) < 0)
			die(EXIT_FAILED, "poll: %s", strerror(errno));
		for (i = 0; i < load->count; i++)
			if (polled[i].revents)
				replace(load, i);
		if (polled[load->count].revents)
			return true;
		if (now_ns() >= deadline_ns)
			return false;
	}
}

bool load_runs(const struct load *load)
{
	unsigned int i;

	for (i = 0; i < load->count; i++)
		if (!load64(&load->crew.page->slot[i].value))
			return false;
	return true;
}

static u64 sum_bytes(const struct load *load, unsigned int first, unsigned int end)
{
	u64 sum = 0;

	for (; first < end; first++)
		sum += load64(&load->crew.page->slot[first].value);
	return sum;
}

u64 load_read_bytes(const struct load *load)
{
	return sum_bytes(load, 0, load->o->readers);
}

u64 load_written_bytes(const struct load *load)
{
	return sum_bytes(load, load->o->readers, load->o->readers + load->o->writers);
}

void load_mark(struct load *load)
{
	unsigned int i;

	for (i = 0; i < load->o->readers + load->o->writers; i++)
		load->marked[i] = load64(&load->crew.page->slot[i].value);
}

unsigned int load_starved(const struct load *load)
{
	unsigned int i, starved = 0;

	for (i = 0; i < load->o->readers + load->o->writers; i++)
		starved += load64(&load->crew.page->slot[i].value) == load->marked[i];
	return starved;
}

void load_stop(struct load *load)
{
	char path[PATH_MAX];
	unsigned int i;

	for (i = 0; i < load->count; i++)
		close(load->pidfd[i]);
	free(load->pidfd);
	free(load->marked);
	crew_destroy(&load->crew);
	for (i = 0; i < load->o->writers; i++) {
		name_file(path, load->o, "write", i);
		unlink(path);
	}
}
