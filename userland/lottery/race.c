// SPDX-License-Identifier: GPL-2.0
/* race.c - tasks with tickets and work, released at once; who finishes when. */
#include <math.h>
#include <stdlib.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "race.h"
#include "work.h"

/* To come to the start; a slow emulated machine needs its time. */
#define GATHER_NS	(120 * NSEC_PER_SEC)

/* Beyond the work itself, which gets 95 % of the CPU at least. */
#define SPARE_NS	(120 * NSEC_PER_SEC)

static CREW_FN(run_racer)
{
	const struct racer *racer = arg;
	struct crew_slot *slot = &crew->page->slot[i];

	work_for_ns(racer->work_ns);
	store64(&slot->finish_ns, now_ns());
	return 0;
}

static int by_finish(const void *left, const void *right)
{
	const struct racer *a = left, *b = right;

	if (a->finish_ns != b->finish_ns)
		return a->finish_ns < b->finish_ns ? -1 : 1;
	return (a->id > b->id) - (a->id < b->id);
}

void race_run(struct racer *racers, unsigned int count)
{
	struct crew crew;
	u64 work_ns = 0;
	unsigned int i, late;

	crew_create(&crew, count);
	for (i = 0; i < count; i++) {
		crew_fork(&crew, run_racer, &racers[i]);
		work_ns += racers[i].work_ns;
	}
	crew_gather(&crew, GATHER_NS);
	for (i = 0; i < count; i++)
		crew_enlist(&crew, i, racers[i].tickets, 0);
	crew_release(&crew);
	late = crew_reap(&crew, 2 * work_ns + SPARE_NS);
	for (i = 0; i < count; i++)
		racers[i].finish_ns = crew.page->slot[i].finish_ns - crew.release_ns;
	crew_destroy(&crew);
	if (late)
		die(EXIT_FAILED, "%u of %u tasks did not finish", late, count);
	qsort(racers, count, sizeof(*racers), by_finish);
}

double race_certainty(const struct racer *a, const struct racer *b, u64 quantum_ns)
{
	double p = (double)a->tickets / ((double)a->tickets + b->tickets);
	double m = ceil((double)a->work_ns / (double)quantum_ns);
	double n = ceil((double)b->work_ns / (double)quantum_ns);
	double draws = m + n - 1;

	return (draws * p - (m - 0.5)) / sqrt(draws * p * (1 - p));
}

unsigned int race_upsets(const struct racer *racers, unsigned int count,
			 u64 quantum_ns, double sigmas, unsigned int *certain)
{
	unsigned int first, later, upsets = 0;

	*certain = 0;
	for (first = 0; first < count; first++) {
		for (later = first + 1; later < count; later++) {
			double c = race_certainty(&racers[first], &racers[later],
						  quantum_ns);

			*certain += fabs(c) > sigmas;
			upsets += c < -sigmas;
		}
	}
	return upsets;
}
