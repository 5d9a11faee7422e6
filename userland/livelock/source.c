// SPDX-License-Identifier: GPL-2.0
/* source.c - the kernel's source of frames. */
#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "procfs.h"
#include "source.h"

#define TEXT_MAX	1024
#define RESULTS_MAX	8192

static int source_write(const char *file, const char *text)
{
	char path[PATH_MAX];

	snprintf(path, sizeof(path), SOURCE_FILES "/%s", file);
	return write_text(path, text);
}

int source_clear(void)
{
	return source_write("targets", "clear");
}

int source_add(const struct nic *sender, const struct nic *receiver, u32 ip, u16 port)
{
	char text[128];

	snprintf(text, sizeof(text), "%s %s %u.%u.%u.%u %u", sender->pci, receiver->pci,
		 ip >> 24, ip >> 16 & 255, ip >> 8 & 255, ip & 255, port);
	return source_write("targets", text);
}

int source_configure(const char *format, ...)
{
	char text[TEXT_MAX];
	va_list args;
	int length;

	va_start(args, format);
	length = vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return length < TEXT_MAX ? source_write("config", text) : -E2BIG;
}

int source_start(void)
{
	return source_write("run", "1");
}

int source_stop(void)
{
	return source_write("run", "0");
}

bool source_done(void)
{
	char text[32];

	return read_text(SOURCE_FILES "/run", text, sizeof(text)) > 0 &&
	       !strcmp(text, "done\n");
}

static struct source_span *span_of(struct source_results *results, const char *name)
{
	return !strcmp(name, "window") ? &results->window : &results->total;
}

static bool parse_line(const char *line, struct source_results *results)
{
	struct source_counts counts;
	struct source_effort effort;
	struct source_span *span;
	unsigned int i;
	char name[16];

	if (sscanf(line, "effort %15s shots %llu timer_ns %llu late_max_ns %llu busy %llu", name,
		   &effort.shots, &effort.timer_ns, &effort.late_max_ns, &effort.busy) == 5) {
		span_of(results, name)->effort = effort;
		return true;
	}
	if (sscanf(line, "target %u %15s due %llu sent %llu tail %llu full %llu malformed %llu",
		   &i, name, &counts.due, &counts.sent, &counts.tail, &counts.full,
		   &counts.malformed) != 7 || i >= SOURCE_TARGETS)
		return false;
	span = span_of(results, name);
	span->target[i] = counts;
	span->targets = i + 1;
	return true;
}

int source_read(struct source_results *results)
{
	char text[RESULTS_MAX], *rest = text, *line;
	int length;

	*results = (struct source_results){ };
	length = read_text(SOURCE_FILES "/results", text, sizeof(text));
	if (length < 0)
		return length;
	while ((line = strsep(&rest, "\n")))
		if (*line && !parse_line(line, results))
			return -EPROTO;
	return 0;
}

struct source_counts source_sum(const struct source_span *span)
{
	struct source_counts sum = { };
	unsigned int i;

	for (i = 0; i < span->targets; i++) {
		sum.due += span->target[i].due;
		sum.sent += span->target[i].sent;
		sum.tail += span->target[i].tail;
		sum.full += span->target[i].full;
		sum.malformed += span->target[i].malformed;
	}
	return sum;
}
