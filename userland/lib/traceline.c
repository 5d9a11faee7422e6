// SPDX-License-Identifier: GPL-2.0
/* traceline.c - lines of a trace: of the kernel, or of trace-cmd report without plugins. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "traceline.h"

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
