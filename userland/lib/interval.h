/* SPDX-License-Identifier: GPL-2.0 */
/* interval.h - how far the mean of repeats can be trusted. */
#ifndef LAB_INTERVAL_H
#define LAB_INTERVAL_H

#include "types.h"

/* What a repeat found; with no samples it does not count. */
struct repeat {
	u64 samples;
	double mean;
};

/* 95 %: the true mean is in it in 95 of 100 measurements. NaN when it cannot be told. */
struct interval {
	double low, high;
};

/*
 * Samples that follow each other are alike, so that they say less than their number;
 * repeats are nearly independent. The interval is Student's of their means, on a
 * logarithmic scale: their distribution is skewed to the right. It always holds the
 * mean of all samples. A single repeat says nothing about the spread.
 */
struct interval interval_of_repeats(const struct repeat *repeats, unsigned int count);

#endif /* LAB_INTERVAL_H */
