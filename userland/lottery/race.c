// SPDX-License-Identifier: GPL-2.0
/* race.c - tasks with tickets and work, released at once; who finishes when. */
#include <math.h>
#include <stdlib.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "lottery_proc.h"
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

/* Until only one is left, which needs no lottery. */
static u64 contended_ns(const struct racer *racers, unsigned int count)
{
	return count > 1 ? racers[count - 2].finish_ns : 0;
}

double race_run(struct racer *racers, unsigned int count, u32 cpu, u64 quantum_ns)
{
	struct lottery_state state;
	struct crew crew;
	u64 work_ns = 0, lotteries;
	unsigned int i, late;

	lottery_read(&state);
	crew_create(&crew, count);
	for (i = 0; i < count; i++) {
		crew_fork(&crew, run_racer, &racers[i]);
		work_ns += racers[i].work_ns;
	}
	crew_gather(&crew, GATHER_NS);
	for (i = 0; i < count; i++)
		crew_enlist(&crew, i, racers[i].tickets, quantum_ns);
	lotteries = lottery_count(cpu);
	crew_release(&crew);
	late = crew_reap(&crew, 2 * work_ns + SPARE_NS);
	lotteries = lottery_count(cpu) - lotteries;
	for (i = 0; i < count; i++)
		racers[i].finish_ns = crew.page->slot[i].finish_ns - crew.release_ns;
	crew_destroy(&crew);
	if (late)
		die(EXIT_FAILED, "%u of %u tasks did not finish", late, count);
	qsort(racers, count, sizeof(*racers), by_finish);
	return lottery_effective_quantum(lottery_quantum(&state, quantum_ns),
					 contended_ns(racers, count), lotteries);
}

double race_certainty(const struct racer *a, const struct racer *b, double quantum_ns)
{
	double p = (double)a->tickets / ((double)a->tickets + b->tickets);
	double m = ceil((double)a->work_ns / quantum_ns);
	double n = ceil((double)b->work_ns / quantum_ns);
	double draws = m + n - 1;

	return (draws * p - (m - 0.5)) / sqrt(draws * p * (1 - p));
}

unsigned int race_upsets(const struct racer *racers, unsigned int count,
			 double quantum_ns, double sigmas, unsigned int *certain)
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
