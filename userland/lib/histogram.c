// SPDX-License-Identifier: GPL-2.0
/* histogram.c - all samples of a duration, to less than 0.4 %. */
#include <math.h>
#include <stdlib.h>

#include "histogram.h"

#define TRILLION	1000000000000.0

static unsigned int bucket_of(u64 value)
{
	unsigned int shift;

	if (value < 1ULL << HISTOGRAM_BITS)
		return (unsigned int)value;
	shift = 63 - (unsigned int)__builtin_clzll(value) - HISTOGRAM_BITS;
	return (shift << HISTOGRAM_BITS) + (unsigned int)(value >> shift);
}

void histogram_add(struct histogram *h, u64 value)
{
	if (!h->count || value < h->min)
		h->min = value;
	if (value > h->max)
		h->max = value;
	h->count++;
	h->sum += value;
	h->bucket[bucket_of(value)]++;
}

u64 histogram_floor(unsigned int bucket)
{
	unsigned int shift = bucket >> HISTOGRAM_BITS;

	if (shift <= 1)
		return bucket;
	shift--;
	return (u64)(bucket - (shift << HISTOGRAM_BITS)) << shift;
}

/* The last floor would be 2^64. */
static double middle(unsigned int bucket)
{
	double floor = (double)histogram_floor(bucket);

	if (bucket < 2U << HISTOGRAM_BITS)
		return floor;
	return floor + ldexp(1, (int)(bucket >> HISTOGRAM_BITS) - 1) / 2;
}

void histogram_merge(struct histogram *h, const struct histogram *other)
{
	unsigned int i;

	if (!other->count)
		return;
	if (!h->count || other->min < h->min)
		h->min = other->min;
	if (other->max > h->max)
		h->max = other->max;
	h->count += other->count;
	h->sum += other->sum;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		h->bucket[i] += other->bucket[i];
}

double histogram_mean(const struct histogram *h)
{
	return h->count ? (double)h->sum / (double)h->count : 0;
}

double histogram_quantile(const struct histogram *h, double q)
{
	u64 before = 0, rank;
	unsigned int i;
	double value;

	if (!h->count)
		return 0;
	/* 0.07 * 100 is a little more than 7 */
	rank = (u64)ceil(q * (double)h->count - (double)h->count / TRILLION);
	for (i = 0; i < HISTOGRAM_BUCKETS - 1; i++) {
		before += h->bucket[i];
		if (before && before >= rank)
			break;
	}
	value = middle(i);
	if (value > (double)h->max)
		return (double)h->max;
	return value < (double)h->min ? (double)h->min : value;
}

static double logarithm(double value)
{
	return log(fmax(value, 0.5));
}

static double square(double x)
{
	return x * x;
}

static double normal_cdf(double x, double mean, double sd)
{
	if (sd <= 0)
		return x >= mean;
	return 0.5 * erfc((mean - x) / sd / M_SQRT2);
}

/* At the ends of buckets, where the count is exact. */
static void measure_distances(const struct histogram *h, double offset,
			      struct histogram_fit *fit)
{
	u64 before = 0;
	unsigned int i;

	for (i = 0; i < HISTOGRAM_BUCKETS - 1 && before < h->count; i++) {
		double end = (double)histogram_floor(i + 1) - 0.5 - offset;
		double share, normal, lognormal;

		before += h->bucket[i];
		share = (double)before / (double)h->count;
		normal = fabs(share - normal_cdf(end, fit->mean, fit->sd));
		lognormal = fabs(share - normal_cdf(logarithm(end), fit->log_mean, fit->log_sd));
		fit->distance_normal = fmax(fit->distance_normal, normal);
		fit->distance_lognormal = fmax(fit->distance_lognormal, lognormal);
	}
}

void histogram_fit(const struct histogram *h, double offset, struct histogram_fit *fit)
{
	double n = (double)h->count, variance = 0, log_variance = 0;
	unsigned int i;

	*fit = (struct histogram_fit){ .mean = histogram_mean(h) - offset };
	if (!h->count)
		return;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++)
		if (h->bucket[i])
			fit->log_mean += logarithm(middle(i) - offset) * (double)h->bucket[i] / n;
	for (i = 0; i < HISTOGRAM_BUCKETS; i++) {
		double part = (double)h->bucket[i] / n, value = middle(i) - offset;

		if (!h->bucket[i])
			continue;
		variance += part * square(value - fit->mean);
		log_variance += part * square(logarithm(value) - fit->log_mean);
	}
	fit->sd = sqrt(variance);
	fit->log_sd = sqrt(log_variance);
	fit->model_mean = exp(fit->log_mean + log_variance / 2);
	measure_distances(h, offset, fit);
}

/* Order statistics of a small sample. */

static int compare_samples(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

void sort_samples(double *samples, size_t count)
{
	qsort(samples, count, sizeof(*samples), compare_samples);
}

double quantile(const double *sorted, size_t count, double q)
{
	double place, part;
	size_t below;

	if (!count)
		return 0;
	place = q * (double)(count - 1);
	below = (size_t)place;
	if (below + 1 >= count)
		return sorted[count - 1];
	part = place - (double)below;
	return sorted[below] * (1 - part) + sorted[below + 1] * part;
}

double mean_of(const double *samples, size_t count)
{
	double sum = 0;
	size_t i;

	for (i = 0; i < count; i++)
		sum += samples[i];
	return count ? sum / (double)count : 0;
}
