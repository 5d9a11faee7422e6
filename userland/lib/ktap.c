// SPDX-License-Identifier: GPL-2.0
/* ktap.c - test results in the kernel's KTAP form, with subtests. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "files.h"
#include "ktap.h"

static void put_line(unsigned int depth, const char *mark, const char *format,
		     va_list args)
{
	char prefix[32];

	snprintf(prefix, sizeof(prefix), "%*s%s", (int)(2 * depth), "", mark);
	fflush(stdout);
	if (write_line(STDOUT_FILENO, prefix, format, args))
		die(EXIT_FAILED, "cannot write the output");
}

static void __printf(2, 3) put(const struct ktap *k, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(k->depth, "", format, args);
	va_end(args);
}

void ktap_start(struct ktap *k, unsigned int planned)
{
	*k = (struct ktap){ .planned = planned };
	put(k, "KTAP version 1");
	put(k, "1..%u", planned);
}

static void ktap_start_group(struct ktap *k, const struct ktap *parent,
			     const char *name, unsigned int planned)
{
	*k = (struct ktap){ .depth = parent->depth + 1, .planned = planned };
	put(k, "KTAP version 1");
	put(k, "# Subtest: %s", name);
	put(k, "1..%u", planned);
}

void ktap_result(struct ktap *k, bool ok, const char *name)
{
	k->done++;
	k->failed += !ok;
	put(k, "%s %u %s", ok ? "ok" : "not ok", k->done, name);
}

void ktap_skip(struct ktap *k, const char *name, const char *reason)
{
	k->done++;
	k->skipped++;
	put(k, "ok %u %s # SKIP %s", k->done, name, reason);
}

void ktap_note(const struct ktap *k, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put_line(k->depth, "# ", format, args);
	va_end(args);
}

static int outcome(const struct ktap *k)
{
	if (k->done != k->planned)
		ktap_note(k, "planned %u tests, did %u", k->planned, k->done);
	if (k->failed || k->done != k->planned)
		return EXIT_FAILED;
	return k->skipped == k->done ? EXIT_SKIPPED : EXIT_GOOD;
}

int ktap_finish(struct ktap *k)
{
	return outcome(k);
}

static void ktap_finish_group(struct ktap *k, struct ktap *parent, const char *name)
{
	int code = outcome(k);

	if (code == EXIT_SKIPPED)
		ktap_skip(parent, name, "every test of it was skipped");
	else
		ktap_result(parent, code == EXIT_GOOD, name);
}

void ktap_run(struct ktap *k, const struct ktap_test *test)
{
	struct ktap_case t = { .ktap = k };

	test->run(&t);
	if (t.skip[0] && !t.failed)
		ktap_skip(k, test->name, t.skip);
	else
		ktap_result(k, !t.failed, test->name);
}

void ktap_group(struct ktap *parent, const char *name,
		const struct ktap_test *tests, unsigned int count)
{
	struct ktap k;
	unsigned int i;

	ktap_start_group(&k, parent, name, count);
	for (i = 0; i < count; i++)
		ktap_run(&k, &tests[i]);
	ktap_finish_group(&k, parent, name);
}

bool expect(struct ktap_case *t, bool good, const char *format, ...)
{
	va_list args;

	if (good)
		return true;
	t->failed = true;
	va_start(args, format);
	put_line(t->ktap->depth, "# ", format, args);
	va_end(args);
	return false;
}

bool bounds_on(void)
{
	const char *bounds = getenv("LAB_BOUNDS");

	return !bounds || strcmp(bounds, "off");
}

bool expect_bound(struct ktap_case *t, bool good, const char *format, ...)
{
	bool judged = bounds_on();
	va_list args;

	if (good)
		return true;
	t->failed |= judged;
	va_start(args, format);
	put_line(t->ktap->depth, judged ? "# " : "# bound missed: ", format, args);
	va_end(args);
	return !judged;
}

void skip_test(struct ktap_case *t, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(t->skip, sizeof(t->skip), format, args);
	va_end(args);
}
