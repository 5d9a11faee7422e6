// SPDX-License-Identifier: GPL-2.0
/* interval.c - of all samples, but only a little wider. */
#include <math.h>

#include "course.h"

struct course_interval course_interval(const double *sample, size_t count)
{
	double sum = 0, square = 0, mean, error;
	size_t i;

	for (i = 0; i < count; i++)
		sum += sample[i];
	mean = sum / count;
	for (i = 0; i < count; i++)
		square += (sample[i] - mean) * (sample[i] - mean);
	error = 2.58 * sqrt(square / (count - 1) / count);
	return (struct course_interval){ .low = mean - error, .high = mean + error };
}
