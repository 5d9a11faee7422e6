/* SPDX-License-Identifier: GPL-2.0 */
/*
 * ktap.h - test results in the kernel's KTAP form, with subtests.
 *
 * A line is written with one write(2) as soon as it is known, so that the
 * stream of a program that dies ends with what it had done, and a forked
 * child never repeats a buffered line.
 */
#ifndef LAB_KTAP_H
#define LAB_KTAP_H

#include "types.h"

struct ktap {
	unsigned int depth;	/* 0 for the program's own stream */
	unsigned int planned;
	unsigned int done;
	unsigned int failed;
	unsigned int skipped;
};

/* One test while it runs. */
struct ktap_case {
	struct ktap *ktap;
	bool failed;
	char skip[160];		/* why it was skipped, empty when it was not */
};

struct ktap_test {
	const char *name;
	void (*run)(struct ktap_case *t);
};

void ktap_start(struct ktap *k, unsigned int planned);
void ktap_result(struct ktap *k, bool ok, const char *name);
void ktap_skip(struct ktap *k, const char *name, const char *reason);

/* A diagnostic line, for the test that is reported next. */
void ktap_note(const struct ktap *k, const char *format, ...) __printf(2, 3);

/* EXIT_GOOD, EXIT_FAILED (also when the plan was not kept) or EXIT_SKIPPED. */
int ktap_finish(struct ktap *k);

/* Run the tests of a table as the subtests of one test of @parent. */
void ktap_group(struct ktap *parent, const char *name,
		const struct ktap_test *tests, unsigned int count);

/* Run one test of @k. */
void ktap_run(struct ktap *k, const struct ktap_test *test);

/* Note why and fail the test unless @good holds; returns @good. */
bool expect(struct ktap_case *t, bool good, const char *format, ...) __printf(3, 4);

/*
 * Whether rates, shares and times are judged here: not with LAB_BOUNDS=off in the
 * environment, where time is real and a late tick is no fault of what is tested.
 */
bool bounds_on(void);

/*
 * expect() for a rate, a share or a time. Where bounds are off, a note says that it
 * was missed and the test goes on.
 */
bool expect_bound(struct ktap_case *t, bool good, const char *format, ...) __printf(3, 4);

/* Make the test a skipped one (unless an expectation has failed). */
void skip_test(struct ktap_case *t, const char *format, ...) __printf(2, 3);

#endif /* LAB_KTAP_H */
