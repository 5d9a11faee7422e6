// SPDX-License-Identifier: GPL-2.0
/* smp_waterfill.c - what tickets are worth on several CPUs. */
#include "smp_waterfill.h"
#include "types.h"

/*
 * Each cap lowers what a ticket is worth to the others, never below what made a
 * task with more tickets worth a cap: the order of the tasks does not matter.
 */
void waterfill(const double *tickets, size_t n, unsigned int cpus, double *share)
{
	double left = cpus, sum = 0;
	bool again = true;
	size_t i;

	for (i = 0; i < n; i++) {
		share[i] = 0;
		sum += tickets[i];
	}
	while (again) {
		again = false;
		for (i = 0; i < n; i++) {
			if (share[i] > 0 || left < 1 || tickets[i] * left < sum)
				continue;
			share[i] = 1;
			left -= 1;
			sum -= tickets[i];
			again = true;
		}
	}
	for (i = 0; i < n; i++)
		if (share[i] <= 0)
			share[i] = tickets[i] * left / sum;
}
