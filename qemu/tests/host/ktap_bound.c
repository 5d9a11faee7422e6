// SPDX-License-Identifier: GPL-2.0
/* A test that misses a bound, and one that misses what has to happen if there is an argument. */
#include "args.h"
#include "ktap.h"

static bool fails;

static void missed(struct ktap_case *t)
{
	if (expect_bound(t, false, "%u of 4 %%", 3))
		ktap_note(t->ktap, "it goes on");
}

static void happened(struct ktap_case *t)
{
	expect(t, !fails, "it did not");
}

int main(int argc, char **argv)
{
	static const struct ktap_test tests[] = {
		{ "missed", missed }, { "happened", happened },
	};
	struct ktap k;

	fails = argc > 1 && argv;
	ktap_start(&k, ARRAY_SIZE(tests));
	ktap_run(&k, &tests[0]);
	ktap_run(&k, &tests[1]);
	return ktap_finish(&k);
}
