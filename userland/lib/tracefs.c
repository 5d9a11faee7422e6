// SPDX-License-Identifier: GPL-2.0
/* tracefs.c - the kernel's tracing files. */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
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

/* Lines of a trace: of the kernel, or of trace-cmd report without plugins. */

void trace_read(const char *path, void (*take)(void *arg, const char *line), void *arg)
{
	bool given = !strcmp(path, "-");
	FILE *file = given ? stdin : fopen(path, "re");
	char line[TRACE_LINE_MAX];

	if (!file)
		die(EXIT_FAILED, "%s: %s", path, strerror(errno));
	while (fgets(line, sizeof(line), file)) {
		line[strcspn(line, "\n")] = '\0';
		take(arg, line);
	}
	if (ferror(file))
		die(EXIT_FAILED, "%s: %s", path, strerror(errno));
	if (!given)
		fclose(file);
}

/* "   123.456789" that ends at @end, or with nine digits behind the point. */
static u64 time_before(const char *line, const char *end)
{
	unsigned long long seconds, part;
	const char *start = end, *point;
	ptrdiff_t digits;

	while (start > line && start[-1] != ' ')
		start--;
	if (sscanf(start, "%llu.%llu", &seconds, &part) != 2)
		return 0;
	point = strchr(start, '.');
	for (digits = end - point - 1; digits < 9; digits++)
		part *= 10;
	return seconds * NSEC_PER_SEC + part;
}

const char *trace_fields(const char *line, const char *event, u64 *now_ns)
{
	const char *at = strstr(line, event);

	if (!at)
		return NULL;
	*now_ns = time_before(line, at);
	at += strlen(event);
	/* trace-cmd fills up with blanks */
	return at + strspn(at, " ");
}

long trace_number(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtol(at + strlen(key), NULL, 10) : -1;
}

bool trace_loses(const char *line, u64 *lost)
{
	const char *kernel = strstr(line, " [LOST ");
	const char *at = strchr(line, '[');
	unsigned long long events;

	if (strncmp(line, "CPU:", 4) || !at || (!kernel && !strstr(at, "EVENTS DROPPED]")))
		return false;
	at = kernel ? kernel + strlen(" [LOST ") : at + 1;
	events = strtoull(at, NULL, 10);
	*lost += events ? events : 1;
	return true;
}

void trace_complain(u64 lost)
{
	if (lost)
		complain("%llu events of the trace were lost", lost);
}

int trace_cpu(const char *line)
{
	const char *at = line;
	int cpu, length;

	/* a name can hold anything, also this */
	while ((at = strstr(at, " ["))) {
		length = 0;
		if (sscanf(at, " [%d]%n", &cpu, &length) == 1 && length == 6)
			return cpu;
		at++;
	}
	return -1;
}
