/* SPDX-License-Identifier: GPL-2.0 */
/* policy.h - the scheduling policy that a measurement runs under, by name. */
#ifndef LAB_POLICY_H
#define LAB_POLICY_H

#include "opts.h"

/* What --policy may say, for usage texts. */
#define POLICY_FORMS	"other, rr:PRIORITY, fifo[:PRIORITY], lottery:TICKETS"

struct policy {
	int number;		/* SCHED_OTHER ... */
	u32 value;		/* priority or tickets */
};

/* "other", "rr:90" ... Exits with EXIT_USAGE, naming @what, for anything else. */
struct policy policy_argument(const char *what, const char *text);

/* How these begin, for completion. */
extern const char *const policy_words[];

/* The same as the call of a row, CALL_TO(policy_option, o.policy). */
void policy_option(const struct opt *row, const char *value);

/*
 * Give the caller (a thread) the policy. Exits with EXIT_UNSUPPORTED when the
 * kernel lacks it, with EXIT_FAILED when it is not permitted.
 */
void policy_take(const struct policy *policy);

/* The same in a child that is thrown away, so as to find out early. */
void policy_try(const struct policy *policy);

#endif /* LAB_POLICY_H */
