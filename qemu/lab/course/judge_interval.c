// SPDX-License-Identifier: GPL-2.0
/* judge_interval.c - how often an interval holds the true mean of samples that are alike. */
#include <math.h>

#include "course.h"
#include "judge.h"

#define COUNT		4000
#define REPEATS		1000
#define ALIKE		0.9	/* of the logarithms of neighbours: their correlation */
#define SPREAD		0.8	/* their standard deviation */
#define LEAST		93.0
#define MOST		97.5

static double normal(uint64_t *state)
{
	const double two_pi = 6.283185307179586;
	double u = ((judge_random(state) >> 11) + 0.5) / 9007199254740992.0;
	double v = ((judge_random(state) >> 11) + 0.5) / 9007199254740992.0;

	return sqrt(-2 * log(u)) * cos(two_pi * v);
}

int main(void)
{
	const double truth = exp(SPREAD * SPREAD / 2);
	static double sample[COUNT];
	unsigned int repeat, held = 0;
	uint64_t state = 1;
	double percent;
	size_t i;

	for (repeat = 0; repeat < REPEATS; repeat++) {
		double x = normal(&state);
		struct course_interval found;

		for (i = 0; i < COUNT; i++) {
			x = ALIKE * x + sqrt(1 - ALIKE * ALIKE) * normal(&state);
			sample[i] = exp(SPREAD * x);
		}
		found = course_interval(sample, COUNT);
		if (!(found.low <= found.high))
			judge_wrong("from %g to %g is no interval", found.low, found.high);
		held += found.low <= truth && truth <= found.high;
	}
	percent = 100.0 * held / REPEATS;
	if (percent < LEAST || percent > MOST)
		judge_wrong("of %u intervals %.1f %% hold the true mean; %.0f to %.1f %% should",
			    REPEATS, percent, LEAST, MOST);
	return judge_right();
}
