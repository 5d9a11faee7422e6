/* SPDX-License-Identifier: GPL-2.0 */
/*
 * window.h - CPU time in quanta (wins) against tickets.
 *
 * Every lottery of a window is a Bernoulli trial for each task, with p =
 * tickets / total. Wins are CPU time in quanta, n is the sum of the wins of
 * all: what fair tasks got meanwhile (the fair server's 5 %) is in neither. A
 * quantum that something cut short counts as the part that it was, which can
 * only lower the variance below the n p (1 - p) of the bound.
 *
 * A machine under the guest that is short of time breaks that: it stands still,
 * or its ticks come late, and one lottery counts as many. Time in which it stood
 * still is no task's win, see work_watch. If there was much of it, or the kernel
 * has held fewer lotteries than there were quanta, these were of any length: n is
 * then half of what it would be, which allows for twice the variance. A kernel that
 * draws too rarely looks the same, so that the case turns, for virtual time, counts
 * lotteries against quanta.
 *
 * Windows end at times that do not depend on the winner: otherwise they would favour
 * a task.
 */
#ifndef LOTTERY_WINDOW_H
#define LOTTERY_WINDOW_H

#include "crew.h"

#define PLAYERS_MAX	128U

struct player {
	pid_t pid;
	const struct crew_slot *slot;	/* a hog's */
	u32 tickets;
	u64 cpu_ns;		/* in all windows so far */
	u64 ran_ns;		/* the same without stalls */
	double wins;
	double expected;
	double variance;
	double sigma_error;
};

struct window {
	struct crew crew;
	u64 quantum_ns;		/* of all of them */
	double quanta;		/* that it has to have at least, for any variance */
	unsigned int count;
	unsigned int awake;	/* of them the first ones, which can win */
	struct player player[PLAYERS_MAX];
	u64 lotteries;		/* of the CPU in all windows so far */
	u64 tickets;		/* the sums over those that can win */
	u64 ran_ns;
	double wins;
};

/* Let all contend for @ns, and add it to what they have. */
void window_pass(struct window *w, u64 ns);

/* Reckon what those that can win have won, and what they should have. */
void window_reckon(struct window *w);

/* The same; whether a bound means what it says for each of them. */
bool window_suffices(struct window *w);

u64 stalled_ns(const struct player *p);

#endif /* LOTTERY_WINDOW_H */
