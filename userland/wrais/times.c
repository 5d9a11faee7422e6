// SPDX-License-Identifier: GPL-2.0
/* times.c - what is said of the times of a database's transactions. */
#include "histogram.h"
#include "json.h"
#include "probe.h"
#include "times.h"

void report_times(double *ms, size_t count)
{
	double mean = mean_of(ms, count);
	size_t i, stalls = 0;

	for (i = 0; i < count; i++)
		stalls += ms[i] > STALL_MS;
	sort_samples(ms, count);
	json_real("mean_ms", mean);
	json_real("p01_ms", quantile(ms, count, 0.01));
	json_real("p50_ms", quantile(ms, count, 0.5));
	json_real("p90_ms", quantile(ms, count, 0.9));
	json_real("p99_ms", quantile(ms, count, 0.99));
	json_real("p999_ms", quantile(ms, count, 0.999));
	json_real("max_ms", quantile(ms, count, 1));
	json_number("stalls_over_300ms", stalls);
}
