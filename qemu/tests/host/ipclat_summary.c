// SPDX-License-Identifier: GPL-2.0
/* ipclat_summary.c - a summary of two samples that took so many cycles. */
#include "../../../userland/ipclat/summary.h"

#include <stdlib.h>

/* least, mean, median, greatest */
void summarise_two(u64 one, u64 two, double cost, double *found)
{
	struct histogram *h = calloc(1, sizeof(*h));
	struct summary s;

	if (one) {
		histogram_add(h, one);
		histogram_add(h, two);
	}
	s = summary_of(h, NULL, 0, cost);
	found[0] = s.min;
	found[1] = s.fit.mean;
	found[2] = summary_quantile(h, 0.5, cost);
	found[3] = s.max;
	free(h);
}
