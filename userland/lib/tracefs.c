// SPDX-License-Identifier: GPL-2.0
/* tracefs.c - the kernel's tracing files. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "files.h"
#include "procfs.h"
#include "tracefs.h"

void tracefs_require(void)
{
	if (access(TRACEFS "/trace", F_OK))
		die(EXIT_UNSUPPORTED, TRACEFS ": cannot be used (CONFIG_FTRACE, being root)");
}

void tracefs_path(char *path, size_t size, const char *instance, const char *file)
{
	if (instance)
		snprintf(path, size, TRACEFS "/instances/%s/%s", instance, file);
	else
		snprintf(path, size, TRACEFS "/%s", file);
}

static void put(const char *instance, const char *file, const char *text, int how)
{
	size_t length = strlen(text);
	char path[256];
	int fd;

	tracefs_path(path, sizeof(path), instance, file);
	fd = open(path, O_WRONLY | O_CLOEXEC | how);
	if (fd < 0 || (length && write(fd, text, length) < 0))
		die(EXIT_FAILED, "cannot write '%s' to %s: %s", text, path, strerror(errno));
	close(fd);
}

/* Truncation is what empties a list. */
void tracefs_write(const char *instance, const char *file, const char *text)
{
	put(instance, file, text, O_TRUNC);
}

void tracefs_append(const char *instance, const char *file, const char *text)
{
	put(instance, file, text, O_APPEND);
}

void tracefs_read(const char *instance, const char *file, char *text, size_t size)
{
	char path[256];
	int length;

	tracefs_path(path, sizeof(path), instance, file);
	length = read_text(path, text, size);
	if (length < 0)
		die(EXIT_FAILED, "%s: %s", path, strerror(-length));
}

void tracefs_copy(const char *file, const char *to)
{
	char path[256];
	s64 copied;
	int out;

	tracefs_path(path, sizeof(path), NULL, file);
	out = open(to, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (out < 0)
		die(EXIT_FAILED, "%s: %s", to, strerror(errno));
	copied = copy_file(path, out);
	if (copied < 0)
		die(EXIT_FAILED, "cannot copy %s to %s: %s", path, to, strerror((int)-copied));
	close(out);
}
