// SPDX-License-Identifier: GPL-2.0
/* files.c - lines, whole files, pipes: what read(2) and write(2) do in parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "files.h"

/* The kernel refuses a record of more than 1024 bytes. */
#define LINE_SIZE	1000U

int write_all(int fd, const void *data, size_t size)
{
	const char *next = data;

	while (size) {
		ssize_t done = write(fd, next, size);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return -errno;
		next += done;
		size -= (size_t)done;
	}
	return 0;
}

int write_line(int fd, const char *prefix, const char *format, va_list args)
{
	char line[LINE_SIZE];
	size_t used;

	used = (size_t)snprintf(line, sizeof(line), "%s", prefix);
	if (used < sizeof(line))
		used += (size_t)vsnprintf(line + used, sizeof(line) - used, format, args);
	if (used > sizeof(line) - 1)
		used = sizeof(line) - 1;
	line[used++] = '\n';
	return write_all(fd, line, used);
}

s64 copy_file(const char *path, int to)
{
	int from = open(path, O_RDONLY | O_CLOEXEC), error = 0;
	char chunk[4096];
	ssize_t got = 0;
	s64 copied = 0;

	if (from < 0)
		return -errno;
	while (!error && (got = read(from, chunk, sizeof(chunk))) > 0) {
		error = write_all(to, chunk, (size_t)got);
		copied += got;
	}
	if (got < 0)
		error = -errno;
	close(from);
	return error ? error : copied;
}

/* Memory, or the end of the program with EXIT_FAILED and one line. */

static void *checked(void *memory)
{
	if (!memory)
		die(EXIT_FAILED, "no memory");
	return memory;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count, size));
}

void *xrealloc(void *old, size_t size)
{
	return checked(realloc(old, size));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

void *xshared(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return checked(page == MAP_FAILED ? NULL : page);
}
