/* SPDX-License-Identifier: GPL-2.0 */
/* times.h - what is said of the times of a database's transactions. */
#ifndef WRAIS_TIMES_H
#define WRAIS_TIMES_H

#include "types.h"

/* Mean, quantiles and stalls of @count times in ms as members of an open JSON line; sorts them. */
void report_times(double *ms, size_t count);

#endif /* WRAIS_TIMES_H */
