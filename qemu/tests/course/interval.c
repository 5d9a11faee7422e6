// SPDX-License-Identifier: GPL-2.0
/* interval.c - of the means of batches, which are nearly independent, on a scale of logarithms. */
#include <math.h>

#include "course.h"

struct course_interval course_interval(const double *sample, size_t count)
{
	enum { BATCHES = 20 };
	const double student = 2.093;	/* 95 %, 19 degrees of freedom */
	double log_mean[BATCHES], sum = 0, square = 0, mean = 0, error, shift;
	size_t batch, i, size = count / BATCHES;

	for (batch = 0; batch < BATCHES; batch++) {
		double total = 0;

		for (i = 0; i < size; i++)
			total += sample[batch * size + i];
		mean += total / size / BATCHES;
		log_mean[batch] = log(total / size);
		sum += log_mean[batch];
	}
	for (batch = 0; batch < BATCHES; batch++)
		square += pow(log_mean[batch] - sum / BATCHES, 2);
	error = student * sqrt(square / (BATCHES - 1) / BATCHES);
	/* the mean of logarithms is not the logarithm of the mean */
	shift = log(mean) - sum / BATCHES;
	return (struct course_interval){
		.low = exp(sum / BATCHES + shift - error),
		.high = exp(sum / BATCHES + shift + error),
	};
}
