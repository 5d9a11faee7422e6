/* SPDX-License-Identifier: GPL-2.0 */
/*
 * histogram.h - all samples of a duration, to less than 0.4 %: 128 buckets of
 * the same width in every power of two, the exact sum, and what is said of them.
 */
#ifndef LAB_HISTOGRAM_H
#define LAB_HISTOGRAM_H

#include "types.h"

#define HISTOGRAM_BITS		7
#define HISTOGRAM_BUCKETS	((64 - HISTOGRAM_BITS + 1) << HISTOGRAM_BITS)

/* Plain memory without pointers: it may be shared between processes. All 0 is empty. */
struct histogram {
	u64 count;
	u64 sum;
	u64 min;
	u64 max;
	u64 bucket[HISTOGRAM_BUCKETS];
};

void histogram_add(struct histogram *h, u64 value);

/* The least value of a bucket; the next bucket's is where it ends. */
u64 histogram_floor(unsigned int bucket);

void histogram_merge(struct histogram *h, const struct histogram *other);

double histogram_mean(const struct histogram *h);

/*
 * The @q quantile (0..1): the least sample that a part @q of all is not greater than.
 * 0 when there are no samples.
 */
double histogram_quantile(const struct histogram *h, double q);

/* What the samples say of a normal and of a log-normal distribution. */
struct histogram_fit {
	double mean, sd;		/* of the normal one */
	double log_mean, log_sd;	/* of the logarithms; what is less than 0.5 counts as 0.5 */
	double model_mean;		/* the log-normal one's mean */
	double distance_normal;		/* Kolmogorov's, between samples and fit */
	double distance_lognormal;
};

/* Each sample less @offset. */
void histogram_fit(const struct histogram *h, double offset, struct histogram_fit *fit);

/* Order statistics of a small sample. */

/* Sort @count samples, smallest first. */
void sort_samples(double *samples, size_t count);

/*
 * The @q quantile (0..1) of @count sorted samples, linear between neighbours;
 * 0 when there are none.
 */
double quantile(const double *sorted, size_t count, double q);

double mean_of(const double *samples, size_t count);

#endif
