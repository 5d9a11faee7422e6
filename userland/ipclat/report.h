/* SPDX-License-Identifier: GPL-2.0 */
/* report.h - what was measured, as a table, as JSON or CSV, and in files. */
#ifndef IPCLAT_REPORT_H
#define IPCLAT_REPORT_H

#include "ipclat.h"

/* Before anything is measured: exits with EXIT_USAGE for a file that cannot be written. */
void open_outputs(struct options *o);

/* A repeat that has just been measured, to --repeats-csv. */
void note_repeat(struct options *o, const struct chosen *c, u32 repeat,
		 const struct histogram *one);

/* All of it; exits with EXIT_FAILED when it cannot be written. */
void report(struct options *o, bool complete);

/* What is taken off the samples of a mechanism, cycles. */
double clock_cost(const struct options *o, const struct chosen *c);

#endif /* IPCLAT_REPORT_H */
