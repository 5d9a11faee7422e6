/* SPDX-License-Identifier: GPL-2.0 */
/* race.h - tasks with tickets and work, released at once; who finishes when. */
#ifndef LOTTERY_RACE_H
#define LOTTERY_RACE_H

#include "types.h"

struct racer {
	unsigned int id;	/* from 1, the place in the file */
	u32 tickets;
	u64 work_ns;		/* of CPU time */
	u64 finish_ns;		/* after the release */
};

/*
 * Run @count compute-bound tasks on @cpu, to which the caller is bound, all
 * asleep until all are lottery tasks that ask for @quantum_ns (0: the default),
 * and wait until the last has finished. Afterwards @racers is in order of
 * completion. Returns the quantum to reckon with, see
 * lottery_effective_quantum(). Exits with EXIT_FAILED when a task does not
 * finish.
 */
double race_run(struct racer *racers, unsigned int count, u32 cpu, u64 quantum_ns);

/*
 * How certain it is, in standard deviations, that @a finishes before @b.
 * Of the lotteries that one of the two wins, each is a's with the probability
 * p = a / (a + b), whatever the others hold. With works of m and n quanta, a is
 * first exactly when it wins at least m of the first m + n - 1 of those.
 */
double race_certainty(const struct racer *a, const struct racer *b, double quantum_ns);

/*
 * Pairs that finished against a certainty of more than @sigmas; @certain tells
 * how many pairs are that certain.
 */
unsigned int race_upsets(const struct racer *racers, unsigned int count,
			 double quantum_ns, double sigmas, unsigned int *certain);

#endif /* LOTTERY_RACE_H */
