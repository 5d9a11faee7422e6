/* SPDX-License-Identifier: GPL-2.0 */
/* summary.h - what is said of all samples of a mechanism. */
#ifndef IPCLAT_SUMMARY_H
#define IPCLAT_SUMMARY_H

#include "histogram.h"
#include "interval.h"

/*
 * Cycles, each less what reading the clock costs. Where that is more than a sample the
 * difference is negative, and stays so. All of it is NaN when there are no samples.
 */
struct summary {
	struct histogram_fit fit;
	struct interval interval;	/* of the mean */
	double min, max;
};

struct summary summary_of(const struct histogram *h, const struct repeat *repeats,
			  unsigned int count, double cost);

/* The @q quantile, less @cost; NaN when there are no samples. */
double summary_quantile(const struct histogram *h, double q, double cost);

#endif /* IPCLAT_SUMMARY_H */
