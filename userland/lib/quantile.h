/* SPDX-License-Identifier: GPL-2.0 */
/* quantile.h - order statistics of a small sample. */
#ifndef LAB_QUANTILE_H
#define LAB_QUANTILE_H

#include "types.h"

/* Sort @count samples, smallest first. */
void sort_samples(double *samples, size_t count);

/*
 * The @q quantile (0..1) of @count sorted samples, linear between neighbours;
 * 0 when there are none.
 */
double quantile(const double *sorted, size_t count, double q);

double mean_of(const double *samples, size_t count);

#endif /* LAB_QUANTILE_H */
