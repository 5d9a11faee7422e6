// SPDX-License-Identifier: GPL-2.0
/* bench_cost.c - what the class costs (scale, pipe), and what it leaves to others (floor). */
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "files.h"
#include "histogram.h"
#include "ktap.h"
#include "lottery_sched.h"
#include "procfs.h"

/*
 * scale: the kernel's own time for enqueue, dequeue and draw, from a full queue to the
 * last exit. One task of ten is long (100 units) and holds many tickets, nine are short
 * (1 unit) and hold few. The long ones win nearly every lottery while they last, so the
 * queue stays close to full for most of the run.
 */

#define LONG_EVERY	10U
#define LONG_UNITS	100U
#define SPARE_NS	(300 * NSEC_PER_SEC)

static struct {
	u64 unit_ns;
	u32 tickets[2];		/* of the long ones, of the short ones */
	unsigned int kinds;
} scale = { .tickets = { 100000, 1 } };

static u32 units_of(unsigned int i)
{
	return i % LONG_EVERY ? 1 : LONG_UNITS;
}

static CREW_FN(run_units)
{
	(void)crew;
	(void)arg;
	work_for_ns(units_of(i) * scale.unit_ns);
	return 0;
}

static bool is_empty(void *arg)
{
	const struct lottery_state *before = arg;
	struct lottery_state state;

	lottery_read(&state);
	return lottery_tasks(&state) <= lottery_tasks(before);
}

/*
 * Run all tasks; @state is what the kernel says after the last exit. Returns
 * the ns from the release to there.
 */
static u64 run_tasks(u32 tasks, struct lottery_state *state)
{
	struct lottery_state before;
	u64 elapsed_ns, work_ns = 0;
	unsigned int i, late;
	struct crew crew;

	lottery_read(&before);
	bench_crew(&crew, tasks, tasks, run_units, NULL);
	for (i = 0; i < tasks; i++) {
		crew_enlist(&crew, i, scale.tickets[units_of(i) == 1], 0);
		work_ns += units_of(i) * scale.unit_ns;
	}
	lottery_switch("stats", false);	/* switching on is what clears them */
	lottery_switch("stats", true);
	crew_release(&crew);
	late = crew_reap(&crew, 2 * work_ns + SPARE_NS);
	elapsed_ns = now_ns() - crew.release_ns;
	/* a parent is told of an exit a little before the last dequeue */
	wait_until(is_empty, &before, SPARE_NS);
	lottery_read(state);
	lottery_switch("stats", before.stats);
	crew_destroy(&crew);
	if (late)
		die(EXIT_FAILED, "%u of %u tasks did not finish", late, tasks);
	return elapsed_ns;
}

static void print_costs(u32 tasks, const struct lottery_cpu *cpu, u64 elapsed_ns)
{
	static const char *const names[LOTTERY_OPS] = {
		[LOTTERY_ENQUEUE] = "enqueue",
		[LOTTERY_DEQUEUE] = "dequeue",
		[LOTTERY_DRAW] = "draw",
	};
	unsigned int op;

	printf("%u tasks, pool %s, %.3f s\n", tasks, cpu->pool, (double)elapsed_ns / NSEC_PER_SEC);
	for (op = 0; op < LOTTERY_OPS; op++)
		bench_row(STR(NULL, "operation", -10, names[op]),
			  NUM(NULL, "count", 10, cpu->op[op].count),
			  NUM(NULL, "total ns", 14, cpu->op[op].ns),
			  REAL(NULL, "mean ns", 10, 1, cpu->op[op].count ?
			       (double)cpu->op[op].ns / (double)cpu->op[op].count : 0));
}

static int run_scale(void)
{
	const struct lottery_cpu *cpu;
	struct lottery_state state;
	u64 elapsed_ns;
	u32 tasks;

	if (!bench.operands[0])
		die(EXIT_USAGE, "the number of tasks is missing, try --help");
	tasks = tasks_argument("N", bench.operands[0]);
	bench_start(true);
	elapsed_ns = run_tasks(tasks, &state);
	cpu = lottery_find(&state, bench.cpu);
	if (!cpu)
		die(EXIT_FAILED, "%s has no line for CPU %u", LOTTERY_PROC, bench.cpu);
	if (bench.output == OUTPUT_JSON)
		bench_row(STR("pool", NULL, 0, cpu->pool),
			  NUM("tasks", NULL, 0, tasks),
			  NUM("enqueue_count", NULL, 0, cpu->op[LOTTERY_ENQUEUE].count),
			  NUM("enqueue_ns", NULL, 0, cpu->op[LOTTERY_ENQUEUE].ns),
			  NUM("dequeue_count", NULL, 0, cpu->op[LOTTERY_DEQUEUE].count),
			  NUM("dequeue_ns", NULL, 0, cpu->op[LOTTERY_DEQUEUE].ns),
			  NUM("draw_count", NULL, 0, cpu->op[LOTTERY_DRAW].count),
			  NUM("draw_ns", NULL, 0, cpu->op[LOTTERY_DRAW].ns),
			  NUM("elapsed_ns", NULL, 0, elapsed_ns));
	else
		print_costs(tasks, cpu, elapsed_ns);
	return EXIT_GOOD;
}

static const struct opt scale_rows[] = {
	OPT(0, "--unit-us", "US", SCALED(scale.unit_ns, 1, 1000000, 1000, NSEC_PER_USEC),
	    "one unit of work (%d); long 100 units, short 1"),
	OPT(0, "--tickets", "LONG:SHORT",
	    RATIO(scale.tickets, LOTTERY_TICKETS_MAX, scale.kinds),
	    "tickets of the two kinds (100000:1)"),
	CPU_ROW,
	JSON_ROW("one JSON object"),
	{ }
};

const struct bench_case bench_scale = {
	{
		.name = "scale",
		.usage = "Usage: lottery-bench scale [options] N\n\n"
"Run N tasks on one CPU, one long with many tickets to nine short with few, and\n"
"report what the kernel spent on enqueue, dequeue and draw.\n\n",
		.rows = scale_rows,
		.operands = 1,
	}, run_scale,
};

/*
 * pipe: the round trip of one byte through two pipes between two tasks on one CPU: each
 * step is a wakeup, a dequeue and a pick of the class.
 */

/* Rounds before the first repeat, which warm the caches and are not measured. */
#define WARM_UP_ROUNDS	1000U

#define REPEATS_MAX	100000U

/* No machine needs a millisecond for a round. */
#define ROUND_LIMIT_NS	NSEC_PER_MSEC

static const char *const policies[] = { "lottery", "other", NULL };

static struct {
	unsigned int policy;	/* the index in policies */
	u32 rounds;
	u32 repeats;
	int there[2];		/* the two pipes */
	int back[2];
} pipes;

static bool give(int fd)
{
	char byte = 0;

	return write(fd, &byte, 1) == 1;
}

static bool take(int fd)
{
	char byte;

	return read(fd, &byte, 1) == 1;
}

static bool play(u32 rounds)
{
	while (rounds--)
		if (!give(pipes.there[1]) || !take(pipes.back[0]))
			return false;
	return true;
}

/* The one that asks: slot i of the page holds the ns of repeat i. */
static int ask(struct crew *crew)
{
	u32 repeat;

	close(pipes.back[1]);	/* so that a dead peer is the end of the file */
	if (!play(WARM_UP_ROUNDS))
		return EXIT_FAILED;
	for (repeat = 0; repeat < pipes.repeats; repeat++) {
		u64 begin = now_ns();

		if (!play(pipes.rounds))
			return EXIT_FAILED;
		store64(&crew->page->slot[repeat].value, now_ns() - begin);
	}
	close(pipes.there[1]);
	return 0;
}

static int answer(void)
{
	close(pipes.there[1]);
	while (take(pipes.there[0]))
		if (!give(pipes.back[1]))
			return EXIT_FAILED;
	return 0;
}

static CREW_FN(ask_or_answer)
{
	(void)arg;
	return i ? answer() : ask(crew);
}

/* The ns of a round of every repeat. */
static double *measure_rounds(void)
{
	u64 limit_ns = (u64)pipes.rounds * pipes.repeats * ROUND_LIMIT_NS + BENCH_WAIT_NS;
	double *ns = xcalloc(pipes.repeats, sizeof(*ns));
	struct crew crew;
	u32 i;

	if (pipe(pipes.there) || pipe(pipes.back))
		die(EXIT_FAILED, "no pipe: %s", strerror(errno));
	bench_crew(&crew, pipes.repeats > 2 ? pipes.repeats : 2, 2, ask_or_answer, NULL);
	close(pipes.there[1]);
	close(pipes.back[1]);
	for (i = 0; i < 2 && pipes.policy == 0; i++)
		crew_enlist(&crew, i, 0, 0);
	crew_release(&crew);
	if (crew_reap(&crew, limit_ns))
		die(EXIT_FAILED, "the two tasks did not finish their rounds");
	for (i = 0; i < pipes.repeats; i++)
		ns[i] = (double)crew.page->slot[i].value / pipes.rounds;
	crew_destroy(&crew);
	return ns;
}

static int run_pipe(void)
{
	const char *policy = policies[pipes.policy];
	double *ns, mean;
	u32 i;

	bench_start(pipes.policy == 0);
	ns = measure_rounds();
	for (i = 0; i < pipes.repeats && bench.output == OUTPUT_JSON; i++)
		bench_row(STR("policy", NULL, 0, policy),
			  NUM("rounds", NULL, 0, pipes.rounds),
			  NUM("repeat", NULL, 0, i + 1),
			  REAL("ns_per_round", NULL, 0, 0, ns[i]));
	if (bench.output == OUTPUT_JSON)
		return EXIT_GOOD;
	mean = mean_of(ns, pipes.repeats);
	sort_samples(ns, pipes.repeats);
	bench_row(STR(NULL, "policy", -8, policy),
		  NUM(NULL, "rounds", 8, pipes.rounds),
		  NUM(NULL, "repeats", 8, pipes.repeats),
		  REAL(NULL, "mean ns", 10, 1, mean),
		  REAL(NULL, "min ns", 10, 1, ns[0]),
		  REAL(NULL, "median ns", 10, 1, quantile(ns, pipes.repeats, 0.5)),
		  REAL(NULL, "max ns", 10, 1, ns[pipes.repeats - 1]));
	return EXIT_GOOD;
}

static const struct opt pipe_rows[] = {
	OPT(0, "--policy", "NAME", CHOICE(pipes.policy, policies, 0), "of both tasks: %r (%d)"),
	OPT(0, "--rounds", "N", NUMBER(pipes.rounds, 1, 100000000, 10000), "in one repeat (%d)"),
	OPT(0, "--repeats", "R", NUMBER(pipes.repeats, 1, REPEATS_MAX, 5),
	    "how often it is measured (%d)"),
	CPU_ROW,
	JSON_ROW("one JSON object for each repeat"),
	{ }
};

const struct bench_case bench_pipe = {
	{
		.name = "pipe",
		.usage = "Usage: lottery-bench pipe [options]\n\n"
"Send a byte to and fro between two tasks on one CPU and report ns for a round.\n\n",
		.rows = pipe_rows,
	}, run_pipe,
};

/*
 * floor: what a fair task keeps under a lottery hog on the same CPU, a tick of 18; or under a
 * SCHED_FIFO hog, what the deadline server gives to fair tasks, 50 ms of every second.
 */

#define FLOOR_PCT_MIN	4.0
#define FLOOR_PCT_MAX	6.0
/* A second fair task sleeps so long; it may wait for the class's next turn. */
#define NAP_NS		(7 * NSEC_PER_MSEC)
#define WAIT_MAX_MS	50.0
#define WAIT_QUANTILE	0.99
/* The server's: a turn, with what a tick is late, in each period. */
#define PERIOD_NS	NSEC_PER_SEC
#define LATE_MAX_NS	(60 * NSEC_PER_MSEC)
/* When it wakes up: from so long before the end of a turn on, in so many steps. */
#define MEET_STEPS	10
#define MEET_BEFORE_NS	NSEC_PER_MSEC
#define MEET_STEP_NS	(200 * NSEC_PER_USEC)
/* So long before the end it is in a turn. */
#define MEET_WITHIN_NS	(20 * NSEC_PER_MSEC)

static struct {
	bool meet;
	double fair_pct;
	double hog_pct;
	u64 late_ns;		/* the latest that the caller woke up */
	struct histogram *waits;	/* of the second fair task, shared [ns] */
	double wait_ms;
} fair;

static u64 sleep_late_ns(u64 until)
{
	sleep_until_ns(until);
	return now_ns() - until;
}

/* They do not look at their CPU time: to read that brings the account of a server up to date. */
static CREW_FN(spinner)
{
	struct histogram *waits = (struct histogram *)arg;
	u64 due;

	while (!load(&crew->page->stop)) {
		if (i < 2) {
			spin_a_little();
			continue;
		}
		due = now_ns() + NAP_NS;
		histogram_add(waits, sleep_late_ns(due));
	}
	return 0;
}

/*
 * The caller is of SCHED_FIFO, but waits for the turns of the server.
 * How late was it when it woke up around the end of one?
 */
static u64 meet(void)
{
	u64 due = now_ns(), stop = due + 3 * MEET_STEPS * PERIOD_NS, late, latest = 0;
	unsigned int i;

	for (i = 0; i < MEET_STEPS; i++) {
		/* In a turn, to see where it ends; then around the end of the next one. */
		late = sleep_late_ns(due);
		while (late < MEET_WITHIN_NS / 2 && now_ns() < stop)
			late = sleep_late_ns(now_ns() + NSEC_PER_MSEC);
		due = now_ns() + PERIOD_NS;
		late = sleep_late_ns(due - MEET_BEFORE_NS + i * MEET_STEP_NS);
		if (late > latest)
			latest = late;
		due += PERIOD_NS - MEET_WITHIN_NS;
	}
	return latest;
}

static void measure_floor(void)
{
	struct sched_param lowest = { .sched_priority = 1 };
	struct crew crew;
	double elapsed;
	u64 ran[3] = { 0 };

	fair.waits = xshared(sizeof(*fair.waits));
	/* A task that naps would end the turns of the server. */
	bench_crew(&crew, 3, fair.meet ? 2 : 3, spinner, fair.waits);
	if (!fair.meet)
		crew_enlist(&crew, 0, 0, 0);
	else if (sched_setscheduler(crew.pid[0], SCHED_FIFO, &lowest))
		die(EXIT_FAILED, "no SCHED_FIFO hog: %s", strerror(errno));
	crew_release(&crew);
	/*
	 * Between two turns of the server: a window of whole periods has as many turns, however
	 * late they are. It may have one in any case, for the time before.
	 */
	sleep_until_ns(now_ns() + PERIOD_NS / 2 + (fair.meet ? 0 : PERIOD_NS));
	elapsed = (double)bench_watch(&crew, ran);
	if (fair.meet)
		fair.late_ns = meet();
	crew_destroy(&crew);
	fair.hog_pct = 100.0 * (double)ran[0] / elapsed;
	fair.fair_pct = 100.0 * (double)(ran[1] + ran[2]) / elapsed;
	if (fair.waits->count)
		fair.wait_ms = histogram_quantile(fair.waits, WAIT_QUANTILE) / NSEC_PER_MSEC;
}

static void keeps_its_floor(struct ktap_case *t)
{
	double pct = fair.fair_pct;

	ktap_note(t->ktap, "fair %.2f %%, hog %.2f %% of %u s; allowed %.0f..%.0f %%", pct,
		  fair.hog_pct, bench.seconds, FLOOR_PCT_MIN, FLOOR_PCT_MAX);
	expect_bound(t, pct >= FLOOR_PCT_MIN && pct <= FLOOR_PCT_MAX, "it has %.2f %%", pct);
}

static void waits_for_its_turn(struct ktap_case *t)
{
	ktap_note(t->ktap, "it waits for %.1f ms, 99 %% of %llu times", fair.wait_ms,
		  fair.waits->count);
	expect_bound(t, fair.wait_ms <= WAIT_MAX_MS, "for more than %.0f ms", WAIT_MAX_MS);
}

static void ends_its_turn(struct ktap_case *t)
{
	ktap_note(t->ktap, "woken %llu us late at most", fair.late_ns / NSEC_PER_USEC);
	expect_bound(t, fair.late_ns <= LATE_MAX_NS, "too late by %llu us",
		     (fair.late_ns - LATE_MAX_NS) / NSEC_PER_USEC);
}

static int judge_floor(void)
{
	static const struct ktap_test floor = {
		"fair tasks keep their floor under a hog", keeps_its_floor
	}, wait = {
		"another one wakes up meanwhile and soon has a turn", waits_for_its_turn
	}, end = {
		"the server's turn ends when a SCHED_FIFO task wakes up", ends_its_turn
	};
	struct ktap k;

	ktap_start(&k, 2);
	ktap_run(&k, &floor);
	ktap_run(&k, fair.meet ? &end : &wait);
	return ktap_finish(&k);
}

static int run_floor(void)
{
	bench_start(true);
	measure_floor();
	if (bench.output == OUTPUT_KTAP)
		return judge_floor();
	bench_row(NUM(NULL, "seconds", -8, bench.seconds),
		  REAL("fair_pct", "fair %", 10, 2, fair.fair_pct),
		  REAL(fair.meet ? "fifo_pct" : "lottery_pct", "hog %", 10, 2, fair.hog_pct),
		  REAL(fair.meet ? NULL : "wait_ms", fair.meet ? NULL : "wait ms", 8, 1,
		       fair.wait_ms),
		  NUM("seconds", NULL, 0, bench.seconds),
		  REAL(fair.meet ? "late_us" : NULL, NULL, 0, 0,
		       (double)fair.late_ns / NSEC_PER_USEC));
	if (fair.meet && bench.output == OUTPUT_TABLE)
		printf("woken %llu us late at most\n", fair.late_ns / NSEC_PER_USEC);
	return EXIT_GOOD;
}

static const struct opt floor_rows[] = {
	SECONDS_ROW(3600, 20, "how long (%d)"),
	CPU_ROW,
	OPT(0, "--meet", NULL, FLAG(fair.meet),
	    "the same under a SCHED_FIFO hog, where the deadline\n"
	    "server runs fair tasks; and what if a task of a higher\n"
	    "priority wakes up when that ends: does it run then?\n"
	    "(20 s more)"),
	JSON_ROW("one JSON object"),
	KTAP_ROW("check that it is 4 % to 6 %, as a test"),
	{ }
};

const struct bench_case bench_floor = {
	{
		.name = "floor",
		.usage = "Usage: lottery-bench floor [options]\n\n"
"Run a lottery hog and a SCHED_OTHER hog on one CPU and report what part of the\n"
"CPU the latter gets.\n\n",
		.rows = floor_rows,
	}, run_floor,
};
