// SPDX-License-Identifier: GPL-2.0
/* document.c - the one JSON document of an instrument. */
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>

#include "args.h"
#include "document.h"
#include "json.h"

#define CPUINFO		"/proc/cpuinfo"
#define MODEL		"model name"

static time_t begun;

void document_begin(void)
{
	begun = time(NULL);
}

/* "" when the kernel does not tell. */
static void read_model(char *model, size_t size)
{
	FILE *file = fopen(CPUINFO, "re");
	char line[256];

	*model = '\0';
	while (file && !*model && fgets(line, sizeof(line), file)) {
		char *value = strchr(line, ':');

		if (strncmp(line, MODEL, strlen(MODEL)) || !value)
			continue;
		value += strspn(value, ": \t");
		value[strcspn(value, "\n")] = '\0';
		snprintf(model, size, "%s", value);
	}
	if (file)
		fclose(file);
}

static u64 count_usable_cpus(void)
{
	cpu_set_t set;

	return sched_getaffinity(0, sizeof(set), &set) ? 0 : (u64)CPU_COUNT(&set);
}

const char *document_time(time_t when, char text[DOCUMENT_TIME])
{
	struct tm utc;

	if (!gmtime_r(&when, &utc) || !strftime(text, DOCUMENT_TIME, "%FT%TZ", &utc))
		*text = '\0';
	return text;
}

void document_open(void)
{
	document_open_of(begun);
}

void document_open_of(time_t when)
{
	char model[128], text[DOCUMENT_TIME];
	struct utsname system = { 0 };

	uname(&system);
	read_model(model, sizeof(model));
	json_open();
	json_number("schema", DOCUMENT_SCHEMA);
	json_text("version", LAB_VERSION);
	json_text("time", document_time(when, text));
	json_text("host", system.nodename);
	json_text("kernel", system.release);
	json_text("machine", system.machine);
	json_text("cpu_model", model);
	json_number("cpus", count_usable_cpus());
}

void document_buckets(const char *name, const struct histogram *h, double offset, double unit)
{
	unsigned int b;

	json_list(name);
	for (b = 0; b < HISTOGRAM_BUCKETS - 1; b++) {
		if (!h->bucket[b])
			continue;
		json_list(NULL);
		json_real(NULL, ((double)histogram_floor(b) - offset) * unit);
		json_real(NULL, ((double)histogram_floor(b + 1) - offset) * unit);
		json_number(NULL, h->bucket[b]);
		json_end();
	}
	json_end();
}
