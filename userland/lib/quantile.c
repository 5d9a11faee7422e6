// SPDX-License-Identifier: GPL-2.0
/* quantile.c - order statistics of a small sample. */
#include <stdlib.h>

#include "quantile.h"

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
