// SPDX-License-Identifier: GPL-2.0
/* procfs.c - small files of /proc and /sys, and what they say of a task. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "procfs.h"

/* What the rest of the machine needs: shells, kernel threads, ourselves. */
#define PROCESSES_SPARED	50

int read_text(const char *path, char *buffer, size_t size)
{
	size_t used = 0;
	ssize_t got;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while ((got = read(fd, buffer + used, size - used)) > 0) {
		used += (size_t)got;
		if (used == size) {
			close(fd);
			return -EFBIG;
		}
	}
	if (got < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	close(fd);
	buffer[used] = '\0';
	return (int)used;
}

int write_text(const char *path, const char *text)
{
	int fd, error = 0;

	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		error = -errno;
	close(fd);
	return error;
}

int read_number(const char *path, u64 *value)
{
	char text[64];
	int length;

	length = read_text(path, text, sizeof(text));
	if (length < 0)
		return length;
	text[strcspn(text, "\n")] = '\0';
	return parse_number(text, 0, ~0ULL, value) ? 0 : -EINVAL;
}

/* Copy the name in @text, which may hold any bytes. Returns the text behind it, or NULL. */
static const char *take_name(const char *text, char *name, size_t size)
{
	const char *begin = strchr(text, '('), *end = strrchr(text, ')');
	size_t length;

	if (!begin || !end || end < begin)
		return NULL;
	length = (size_t)(end - begin - 1);
	if (length >= size)
		length = size - 1;
	memcpy(name, begin + 1, length);
	name[length] = '\0';
	return end + 1;
}

static int read_stat(const char *path, struct task_stat *stat)
{
	const char *rest;
	char text[1024];
	int length;

	length = read_text(path, text, sizeof(text));
	if (length < 0)
		return length;
	rest = take_name(text, stat->name, sizeof(stat->name));
	if (!rest)
		return -EINVAL;
	/* fields 3, 14, 15, 18, 19, 22 and 39 */
	if (sscanf(rest,
		   " %c %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %llu %llu %*s %*s %ld %ld %*s %*s %llu %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %*s %u",
		   &stat->state, &stat->user_ticks, &stat->system_ticks, &stat->priority,
		   &stat->nice, &stat->started_ticks, &stat->cpu) != 7)
		return -EINVAL;
	return 0;
}

int read_task_stat(pid_t pid, struct task_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	return read_stat(path, stat);
}

int read_thread_stat(pid_t pid, pid_t tid, struct task_stat *stat)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	return read_stat(path, stat);
}

bool task_asleep(pid_t pid)
{
	char path[64], where[64];
	struct task_stat stat;

	if (read_task_stat(pid, &stat) || stat.state != 'S')
		return false;
	/* 0 while it is queued: it was preempted on its way to sleep. */
	snprintf(path, sizeof(path), "/proc/%d/wchan", pid);
	return read_text(path, where, sizeof(where)) > 0 && strcmp(where, "0") != 0;
}

int read_threads(pid_t pid, pid_t *tids, unsigned int room)
{
	struct dirent *entry;
	unsigned int count = 0;
	char path[64];
	u64 tid;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	if (!dir)
		return -errno;
	while ((entry = readdir(dir))) {
		if (!parse_number(entry->d_name, 1, 1 << 30, &tid))
			continue;
		if (count < room)
			tids[count] = (pid_t)tid;
		count++;
	}
	closedir(dir);
	return (int)count;
}

u64 process_room(void)
{
	u64 room = 1ULL << 22, value;
	struct rlimit limit;

	if (!read_number("/proc/sys/kernel/pid_max", &value) && value < room)
		room = value;
	if (!read_number("/proc/sys/kernel/threads-max", &value) && value < room)
		room = value;
	if (!getrlimit(RLIMIT_NPROC, &limit) && limit.rlim_cur < room)
		room = limit.rlim_cur;
	return room > PROCESSES_SPARED ? room - PROCESSES_SPARED : 0;
}

u32 tasks_argument(const char *what, const char *text)
{
	u64 room = process_room(), tasks;

	if (!parse_number(text, 1, room, &tasks))
		die(EXIT_USAGE, "%s: bad task count '%s': allowed 1..%llu (" PROCESS_LIMITS ")",
		    what, text, room);
	return (u32)tasks;
}
