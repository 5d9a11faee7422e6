// SPDX-License-Identifier: GPL-2.0
/* interval.c - how far the mean of repeats can be trusted. */
#include <math.h>

#include "interval.h"

#define Z_95	1.959963984540054
#define T_95_1	12.706204736
#define T_95_2	4.302652730

/* Cornish and Fisher's expansion; from 3 degrees of freedom on less than 0.4 % off. */
static double student_95(unsigned int freedom)
{
	double n = freedom, z = Z_95, z3 = z * z * z, z5 = z3 * z * z, z7 = z5 * z * z;
	double z9 = z7 * z * z;

	if (freedom == 1)
		return T_95_1;
	if (freedom == 2)
		return T_95_2;
	return z + (z3 + z) / (4 * n) + (5 * z5 + 16 * z3 + 3 * z) / (96 * n * n) +
	       (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / (384 * n * n * n) +
	       (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / (92160 * n * n * n * n);
}

struct interval interval_of_repeats(const struct repeat *repeats, unsigned int count)
{
	double samples = 0, sum = 0, squares = 0, mean, error;
	unsigned int i, n = 0;

	for (i = 0; i < count; i++) {
		samples += (double)repeats[i].samples;
		sum += (double)repeats[i].samples * repeats[i].mean;
		n += !!repeats[i].samples;
	}
	mean = sum / samples;
	if (n < 2 || mean <= 0)
		return (struct interval){ NAN, NAN };
	/* a ratio: a repeat that ended early has fewer samples */
	for (i = 0; i < count; i++) {
		double part = (double)repeats[i].samples * (repeats[i].mean - mean);

		squares += part * part;
	}
	error = n * sqrt(squares / n / (n - 1)) / samples;
	error *= student_95(n - 1) / mean;
	return (struct interval){ mean * exp(-error), mean * exp(error) };
}
