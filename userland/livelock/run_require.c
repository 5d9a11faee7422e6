// SPDX-License-Identifier: GPL-2.0
/* run_require.c - livelock-run: what figures are required to be. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "json.h"
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

static void hold_against(const char *name, double value)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct requirement *r = &requirements[i];

		if (strlen(name) != r->length || strncmp(name, r->text, r->length))
			continue;
		r->seen = true;
		r->met = r->most ? value <= r->bound : value >= r->bound;
		if (!r->met)
			complain("%s is %g: required is %s", name, value, r->text);
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
