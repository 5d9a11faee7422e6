/* SPDX-License-Identifier: GPL-2.0 */
/* smp_waterfill.h - what tickets are worth on several CPUs. */
#ifndef LOTTERY_SMP_WATERFILL_H
#define LOTTERY_SMP_WATERFILL_H

#include <stddef.h>

/*
 * The share of each of @n tasks that may run everywhere, 1 is a whole CPU: who would
 * get more than one CPU gets one, the others share what is left the same way.
 */
void waterfill(const double *tickets, size_t n, unsigned int cpus, double *share);

#endif /* LOTTERY_SMP_WATERFILL_H */
