/* SPDX-License-Identifier: GPL-2.0 */
/*
 * share.h - lottery-share: CPU time in quanta (wins) against tickets.
 *
 * Every lottery of a window is a Bernoulli trial for each task, with p =
 * tickets / total. Wins are CPU time in quanta, n is the sum of the wins of
 * all: what fair tasks got meanwhile (the fair server's 5 %) is in neither. A
 * quantum that something cut short counts as the part that it was, which can
 * only lower the variance below the n p (1 - p) of the bound.
 *
 * A machine under the guest that is short of time breaks that: it stands still,
 * or its ticks come late, and one lottery counts as many. Time in which it stood
 * still is nobody's win, see work_watch. If there was much of it, or the kernel
 * has held fewer lotteries than there were quanta, these were of any length: n is
 * then half of what it would be, which allows for twice the variance. A kernel that
 * draws too rarely looks the same, so that the case turns, for virtual time, counts
 * lotteries against quanta.
 *
 * The launcher is SCHED_FIFO on the hogs' CPU: while it looks, none of them
 * runs, so all CPU clocks stand still and a window has sharp ends. Windows end
 * at times that do not depend on who has won, else they would favour someone.
 */
#ifndef LOTTERY_SHARE_H
#define LOTTERY_SHARE_H

#include "args.h"
#include "crew.h"
#include "ktap.h"
#include "types.h"

#define SHARE_TASKS_MAX		64U

/*
 * A test lasts longer until there is LOTTERY_VARIANCE_MIN, and fails when there is not
 * after this.
 */
#define SHARE_EXTRA_NS		(40 * NSEC_PER_SEC)

/* With the low-variance draw no share may be off by more quanta than this. */
#define SHARE_EVEN_MAX		8.0

/*
 * How far a share that compensation tickets make good may be off [%], after so many
 * quanta: a test lasts longer until there were as many, as above.
 */
#define SHARE_YIELD_PCT		10.0
#define SHARE_YIELD_QUANTA	2500.0

/* Lotteries for each hundred quanta, where time is virtual. */
#define SHARE_DRAWS_MIN		85.0
#define SHARE_DRAWS_MAX		105.0

/* To start, to fall asleep, to exit: far above what a slow machine needs. */
#define SHARE_WAIT_NS		(60 * NSEC_PER_SEC)

struct share {
	const char *kind;	/* the name of the case */
	const char *ratio;	/* as given, "10:1" */
	unsigned int count;
	u32 tickets[SHARE_TASKS_MAX];
	u32 seconds;
	u32 cpu;
	u64 quantum_ask_ns;	/* what the tasks ask for, 0 = default */
	u64 quantum_ns;		/* what they get */
	bool low_variance;
	double quanta;		/* that a window has to have at least, beside a variance */
	enum output output;
	struct ktap ktap;
	u64 deadline_ns;	/* for having enough lotteries, where that is judged */
};

/* One contender of a window. */
struct player {
	pid_t pid;
	const struct crew_slot *slot;
	u32 tickets;
	u64 open_cpu_ns;	/* its CPU time when the window opened */
	u64 open_work_ns;	/* and that without stalls */
	u64 ran_ns;		/* in all windows so far, without stalls */
	u64 stalled_ns;
};

/* A case returns false when a check has failed. */
struct share_case {
	const char *name;
	bool (*run)(struct share *s);
};

extern const struct share_case share_cases[];	/* ends with a NULL name */

/*
 * What the case exec execs: this program with SHARE_RESUME, the descriptor of
 * the shared page, its number of slots and the slot of the hog.
 */
#define SHARE_RESUME	"--resume-hog"
int share_resume(char **argv);

/* Who contends, and how often it was drawn. */
struct window {
	unsigned int count;
	unsigned int awake;	/* of them the first ones, who can win */
	struct player player[2 * SHARE_TASKS_MAX];
	u64 open_lotteries;	/* of the CPU when the window opened */
	u64 lotteries;		/* in all windows so far */
};

/*
 * Let all contend for @ns and add it to what they have; again, in a test, while that
 * is not enough for a bound.
 */
void window_pass(const struct share *s, struct window *w, u64 ns);

/* Print a line for each that can win; false when one is outside its bound. */
bool share_report(struct share *s, const char *phase, const struct window *w);

/*
 * Print the same; false when the first one's share of CPU time is off by more than
 * SHARE_YIELD_PCT. For tasks whose turns differ in length, which are no trials.
 */
bool share_report_time(struct share *s, const struct window *w);

/* Print the lotteries of @elapsed_ns; false when they are not one a quantum. */
bool share_report_draws(struct share *s, u64 lotteries, u64 elapsed_ns);

/* A note in the KTAP stream, or a complaint on stderr; returns false. */
bool share_fault(struct share *s, const char *format, ...) __printf(2, 3);
/* The same for a share or an order that chance decides: true where bounds are off. */
bool share_missed(struct share *s, const char *format, ...) __printf(2, 3);

#endif /* LOTTERY_SHARE_H */
