// SPDX-License-Identifier: GPL-2.0
/* Time, waiting with a deadline, whole files */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "init.h"

long long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

void pause_ms(long ms)
{
	struct timespec ts = {
		.tv_sec = ms / 1000,
		.tv_nsec = (ms % 1000) * NSEC_PER_MSEC,
	};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

/*
 * Ask @ready until it says yes or the deadline passes: every millisecond first,
 * since most things come soon, then less often.
 */
bool wait_for(bool (*ready)(void *arg), void *arg, int seconds)
{
	long long deadline = now_ns() + seconds * NSEC_PER_SEC;
	unsigned int asked = 0;

	while (!ready(arg)) {
		if (now_ns() > deadline)
			return false;
		pause_ms(asked++ < 100 ? 1 : 20);
	}
	return true;
}

int write_all(int fd, const void *data, size_t len)
{
	const char *p = data;

	while (len) {
		ssize_t n = write(fd, p, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		p += n;
		len -= n;
	}
	return 0;
}

int write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	err = write_all(fd, text, strlen(text));
	close(fd);
	return err;
}

/* The whole file with a NUL behind it, or NULL with errno set. */
char *read_file(const char *path, size_t *len)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	char *text = NULL;
	size_t size = 0;
	size_t used = 0;
	ssize_t n;

	if (fd < 0)
		return NULL;
	do {
		if (size - used < 4096) {
			size = size ? 2 * size : 8192;
			text = xrealloc(text, size);
		}
		n = read(fd, text + used, size - used - 1);
		if (n > 0)
			used += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	if (n < 0) {
		int err = errno;

		free(text);
		close(fd);
		errno = err;
		return NULL;
	}
	close(fd);
	text[used] = '\0';
	if (len)
		*len = used;
	return text;
}

/* PID 1 has nobody to hand the error to: say it and end the machine. */
void *xrealloc(void *ptr, size_t size)
{
	void *new = realloc(ptr, size);

	if (!new) {
		log_line("out of memory (%zu bytes)", size);
		system_power_off();
	}
	return new;
}
