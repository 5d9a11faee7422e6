// SPDX-License-Identifier: GPL-2.0
/* summary.c - what is said of all samples of a mechanism. */
#include <math.h>

#include "summary.h"

static const struct summary nothing = {
	.fit = { NAN, NAN, NAN, NAN, NAN, NAN, NAN },
	.interval = { NAN, NAN },
	.min = NAN,
	.max = NAN,
};

struct summary summary_of(const struct histogram *h, const struct repeat *repeats,
			  unsigned int count, double cost)
{
	struct summary s = nothing;

	if (!h->count)
		return s;
	histogram_fit(h, cost, &s.fit);
	s.interval = interval_of_repeats(repeats, count);
	s.min = (double)h->min - cost;
	s.max = (double)h->max - cost;
	return s;
}

double summary_quantile(const struct histogram *h, double q, double cost)
{
	return h->count ? histogram_quantile(h, q) - cost : NAN;
}
