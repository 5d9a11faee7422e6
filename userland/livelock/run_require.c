// SPDX-License-Identifier: GPL-2.0
/* run_require.c - livelock-run: what figures are required to be. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "json.h"
#include "ktap.h"
#include "run.h"

/* NAME>=NUMBER or NAME<=NUMBER. */
struct requirement {
	const char *text;
	size_t length;		/* of the name */
	bool most;
	double bound;
	bool seen;
	bool met;
};

static struct requirement requirements[RUN_REQUIREMENTS];
static unsigned int count;

void run_require(const char *text)
{
	struct requirement *r = &requirements[count];
	char *end;

	if (count == RUN_REQUIREMENTS)
		die(EXIT_USAGE, "require '%s': allowed are %u of them", text, RUN_REQUIREMENTS);
	*r = (struct requirement){ .text = text, .length = strcspn(text, "<>") };
	r->most = text[r->length] == '<';
	errno = 0;
	if (r->length && text[r->length] && text[r->length + 1] == '=')
		r->bound = strtod(text + r->length + 2, &end);
	else
		end = NULL;
	if (!end || end == text + r->length + 2 || *end || errno)
		die(EXIT_USAGE, "require '%s': allowed is FIGURE>=NUMBER or FIGURE<=NUMBER", text);
	count++;
}

bool run_bound(bool good, const char *format, ...)
{
	char text[256];
	va_list args;

	if (good)
		return true;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (bounds_on())
		complain("%s", text);
	else
		complain("# bound missed: %s", text);
	return !bounds_on();
}

static void hold_against(const char *name, double value)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct requirement *r = &requirements[i];

		if (strlen(name) != r->length || strncmp(name, r->text, r->length))
			continue;
		r->seen = true;
		r->met = run_bound(r->most ? value <= r->bound : value >= r->bound,
				   "%s is %g: required is %s", name, value, r->text);
	}
}

void run_real(const char *name, double value)
{
	json_real(name, value);
	hold_against(name, value);
}

void run_count(const char *name, s64 value)
{
	json_signed(name, value);
	hold_against(name, (double)value);
}

bool run_required(void)
{
	bool met = true;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!requirements[i].seen)
			die(EXIT_USAGE, "require '%s': there is no such figure",
			    requirements[i].text);
		met &= requirements[i].met;
		requirements[i].seen = false;
	}
	return met;
}
