// SPDX-License-Identifier: GPL-2.0
/*
 * bench_paper.c - experiments of Waldspurger and Weihl, "Lottery Scheduling", 1994:
 * figures 6 (montecarlo), 7 (server), 8 (viewers) and 9 (insulate).
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "cgroup.h"
#include "clock.h"
#include "crew.h"
#include "lottery_sched.h"
#include "random.h"

#define TASKS_MAX	16U

enum { BEFORE, AFTER, PHASES };

static const char *const phases[PHASES] = { "before", "after" };

static struct {
	u32 look_ms;
	u32 tasks;
	u32 stagger_s;
	u32 seed;
	u64 query_ns;
	u32 server_tickets;
	bool fixed;
	bool no_loans;
	bool no_currencies;
	u32 tickets[PHASES][TASKS_MAX];
} o;

/* The number of the last look. */
static unsigned int last_look(void)
{
	return bench.seconds * 1000 / o.look_ms;
}

/*
 * Run hogs with work of their own, which end in hog_work() and rest until hog_wake(), and
 * call @look at each look: number @n, @ms after the first one, which is 0.
 */
static int run_looks(unsigned int count, CREW_FN((*fn)),
		     void (*look)(struct crew *crew, unsigned int n, u64 ms))
{
	unsigned int i, n, lost;
	struct crew crew;
	u64 begin;

	bench_start(true);
	bench_crew(&crew, count, count, fn, NULL);
	for (i = 0; i < count; i++) {
		store(&crew.page->slot[i].rest, 1);
		crew_enlist(&crew, i, o.tickets[BEFORE][i], 0);
	}
	crew_release(&crew);
	begin = now_ns();
	for (n = 0; n <= last_look(); n++) {
		u64 ms = (u64)n * o.look_ms;

		sleep_until_ns(begin + ms * NSEC_PER_MSEC);
		look(&crew, n, ms);
	}
	lost = crew_stop(&crew, BENCH_WAIT_NS);
	crew_destroy(&crew);
	if (lost)
		complain("%u tasks did not exit", lost);
	return lost ? EXIT_FAILED : EXIT_GOOD;
}

#define LOOKS_SECONDS_ROW(usually) \
	OPT(0, "--seconds", "S", NUMBER(bench.seconds, 2, 3600, usually), "how long in all (%d)")
#define LOOK_ROW(usually) \
	OPT(0, "--look-ms", "MS", NUMBER(o.look_ms, 10, 60000, usually), \
	    "how often to look, %r (%d)")

/* There must be time for three looks. */
static void check_looks(void)
{
	if (last_look() < 2)
		die(EXIT_USAGE, "--look-ms: bad value '%u': allowed is half of the %u s at most",
		    o.look_ms, bench.seconds);
}

/*
 * montecarlo: each task draws points of the unit square; the part of them that lies in
 * the quarter circle estimates pi / 4. Its relative error falls with the square root of
 * the number of trials. Each task gives itself tickets in proportion to the square of
 * its error: a task that began late has a large error and catches up, without overtaking.
 */

/* Between two looks of a task at its own error. */
#define BATCH		2000U

/* Of the square, in steps of the random numbers. */
#define SQUARE_EDGE	4294967296.0

/*
 * Tickets of a relative error of 1. The error of 110,000 trials is worth all the
 * tickets that there are, so that there are many to give up afterwards.
 */
#define TICKETS_SCALE	4e11

/* What a task knows of the area. */
struct integral {
	struct random random;
	u64 trials;
	u64 hits;
	u32 tickets;
};

static double square_of_error(u64 trials, u64 hits)
{
	return hits ? (double)(trials - hits) / ((double)hits * (double)trials) : INFINITY;
}

/* A hog_piece: some trials, then new tickets; the slot's mark counts pieces, value hits. */
static void batch(struct crew_slot *slot, void *arg)
{
	struct integral *t = arg;
	unsigned int n;
	double tickets;

	for (n = 0; n < BATCH; n++) {
		u64 bits = random_u64(&t->random);
		double x = (double)(bits >> 32), y = (double)(u32)bits;

		t->hits += x * x + y * y < SQUARE_EDGE * SQUARE_EDGE;
	}
	t->trials += BATCH;
	tickets = TICKETS_SCALE * square_of_error(t->trials, t->hits);
	tickets = o.fixed ? t->tickets : fmin(fmax(tickets, 1), LOTTERY_TICKETS_MAX);
	if ((u32)tickets != t->tickets && lottery_join(0, (u32)tickets, 0))
		die(EXIT_FAILED, "cannot give myself %u tickets: %s", (u32)tickets,
		    strerror(errno));
	t->tickets = (u32)tickets;
	store64(&slot->value, t->hits);
	store(&slot->mark, slot->mark + 1);
}

static CREW_FN(integrate)
{
	struct integral t = {
		.random = { .state = ((u64)o.seed << 32) + i },
		.tickets = LOTTERY_TICKETS_MAX,
	};

	(void)arg;
	return hog_work(crew, i, batch, &t);
}

static void report_integral(const struct crew *crew, u64 ms, unsigned int i)
{
	const struct crew_slot *slot = &crew->page->slot[i];
	u64 trials = (u64)load(&slot->mark) * BATCH, hits = load64(&slot->value);
	struct lottery_attr attr;

	if (!trials)
		return;		/* it has not begun */
	if (attr_get(crew->pid[i], &attr))
		die(EXIT_FAILED, "task %u: %s", i + 1, strerror(errno));
	bench_row(REAL(NULL, "seconds", 10, 1, (double)ms / 1000),
		  NUM("time_ms", NULL, 0, ms),
		  NUM("task", "task", 4, i + 1),
		  NUM("tickets", "tickets", 8, attr.sched_tickets),
		  NUM("trials", "trials", 12, trials),
		  REAL("estimate", "estimate", 10, 7, 4 * (double)hits / (double)trials),
		  REAL("error", "error", 10, 7, sqrt(square_of_error(trials, hits))));
}

static void look_at_integrals(struct crew *crew, unsigned int n, u64 ms)
{
	unsigned int i;

	(void)n;
	for (i = 0; i < crew->count; i++) {
		report_integral(crew, ms, i);
		if (ms >= (u64)i * o.stagger_s * 1000)
			hog_wake(crew, i);
	}
}

static int run_montecarlo(void)
{
	unsigned int i;

	check_looks();
	if (o.stagger_s * 1000 % o.look_ms)
		die(EXIT_USAGE, "--look-ms: bad value '%u': tasks start at looks, every %u s",
		    o.look_ms, o.stagger_s);
	if ((o.tasks - 1) * o.stagger_s >= bench.seconds)
		die(EXIT_USAGE, "--seconds: bad value '%u': the last of %u tasks starts after %u s",
		    bench.seconds, o.tasks, (o.tasks - 1) * o.stagger_s);
	for (i = 0; i < o.tasks; i++)
		o.tickets[BEFORE][i] = LOTTERY_TICKETS_MAX;
	return run_looks(o.tasks, integrate, look_at_integrals);
}

static const struct opt montecarlo_rows[] = {
	OPT(0, "--tasks", "N", NUMBER(o.tasks, 2, TASKS_MAX, 3), "how many integrations, %r (%d)"),
	OPT(0, "--stagger", "S", NUMBER(o.stagger_s, 0, 3600, 5),
	    "seconds from one start to the next (%d)"),
	LOOKS_SECONDS_ROW(30),
	LOOK_ROW(500),
	OPT(0, "--fixed", NULL, FLAG(o.fixed), "all keep the same tickets"),
	OPT(0, "--seed", "N", NUMBER(o.seed, 0, 1000000, 1), "of the random numbers, %r (%d)"),
	CPU_ROW,
	JSON_ROW("one JSON object for each task and look"),
	{ }
};

const struct bench_case bench_montecarlo = {
	{
		.name = "montecarlo",
		.usage = "Usage: lottery-bench montecarlo [options]\n\n"
"Run Monte-Carlo integrations of the same area on one CPU, started one after the\n"
"other. Each sets its own lottery tickets in proportion to the square of its relative\n"
"error. Report how many trials each has made, again and again.\n\n",
		.rows = montecarlo_rows,
	}, run_montecarlo,
};

/*
 * viewers: a frame is a fixed number of blocks of coefficients, which a viewer turns into
 * pixels as decoders of MPEG do. Each viewer decodes as many frames as its share of the
 * CPU allows. In the middle of the run the tickets change.
 */

/* A block has EDGE x EDGE pixels, a frame 160 x 96. */
#define EDGE		8U
#define FRAME_BLOCKS	240U

/* A viewer: the cosines of its transform, and the block that it works on. */
struct viewer {
	float cosine[EDGE][EDGE];	/* by frequency and place */
	float block[EDGE][EDGE];
	u64 frame;
};

/* What a decoder would have read of a film: any numbers, at the low frequencies. */
static void read_block(struct viewer *v, unsigned int number)
{
	unsigned int u, w;

	for (u = 0; u < EDGE; u++)
		for (w = 0; w < EDGE; w++)
			v->block[u][w] = (float)((v->frame + number) % 64) / (float)(1 + u + w);
}

/* The inverse cosine transform of the columns; and the result turned over. */
static void transform(struct viewer *v)
{
	float pixels[EDGE][EDGE];
	unsigned int u, w, x;

	for (w = 0; w < EDGE; w++) {
		for (x = 0; x < EDGE; x++) {
			float sum = 0;

			for (u = 0; u < EDGE; u++)
				sum += v->cosine[u][x] * v->block[u][w];
			pixels[w][x] = sum;
		}
	}
	memcpy(v->block, pixels, sizeof(pixels));
}

/* A hog_piece: one frame. The slot's value sums up pixels, so that all are made. */
static void decode_frame(struct crew_slot *slot, void *arg)
{
	struct viewer *v = arg;
	double light = 0;
	unsigned int number;

	for (number = 0; number < FRAME_BLOCKS; number++) {
		read_block(v, number);
		transform(v);
		transform(v);
		light += v->block[number % EDGE][number / EDGE % EDGE];
	}
	v->frame++;
	store64(&slot->value, (u64)(s64)light);
}

static CREW_FN(view)
{
	struct viewer v = { .frame = 0 };
	unsigned int u, x;

	(void)arg;
	for (u = 0; u < EDGE; u++)
		for (x = 0; x < EDGE; x++)
			v.cosine[u][x] = (float)(cos((2 * x + 1) * u * M_PI / (2 * EDGE)) *
						 (u ? 0.5 : M_SQRT1_2 / 2));
	return hog_work(crew, i, decode_frame, &v);
}

/* A look reports the phase that ends at it. */
static void look_at_viewers(struct crew *crew, unsigned int n, u64 ms)
{
	unsigned int i, middle = last_look() / 2, phase = n <= middle ? BEFORE : AFTER;

	for (i = 0; i < crew->count; i++) {
		bench_row(REAL(NULL, "seconds", 10, 1, (double)ms / 1000),
			  NUM("time_ms", NULL, 0, ms),
			  STR("phase", "phase", -8, phases[phase]),
			  NUM("viewer", "viewer", 6, i + 1),
			  NUM("tickets", "tickets", 8, o.tickets[phase][i]),
			  NUM("frames", "frames", 10, load64(&crew->page->slot[i].rounds)));
		if (n == middle)
			crew_enlist(crew, i, o.tickets[AFTER][i], 0);
		if (!n)
			hog_wake(crew, i);
	}
}

static int run_viewers(void)
{
	unsigned int phase, count[PHASES];

	if (!bench.operands[0] || !bench.operands[1])
		die(EXIT_USAGE, "two ratios (like 3:2:1 3:1:2) are needed, try --help");
	for (phase = 0; phase < PHASES; phase++)
		count[phase] = args_ratio(bench.operands[phase], LOTTERY_TICKETS_MAX,
					  o.tickets[phase], TASKS_MAX);
	if (count[AFTER] != count[BEFORE])
		die(EXIT_USAGE, "bad ratio '%s': allowed %u numbers, as in '%s'",
		    bench.operands[AFTER], count[BEFORE], bench.operands[BEFORE]);
	check_looks();
	return run_looks(count[BEFORE], view, look_at_viewers);
}

static const struct opt viewers_rows[] = {
	LOOKS_SECONDS_ROW(60),
	LOOK_ROW(1000),
	CPU_ROW,
	JSON_ROW("one JSON object for each viewer and look"),
	{ }
};

const struct bench_case bench_viewers = {
	{
		.name = "viewers",
		.usage = "Usage: lottery-bench viewers [options] BEFORE AFTER\n\n"
"Run viewers on one CPU that decode frames of equal cost. They have tickets in the\n"
"ratio BEFORE (like 3:2:1), and from the middle of the run on in the ratio AFTER (like\n"
"3:1:2). Report how many frames each has decoded, again and again.\n\n",
		.rows = viewers_rows,
		.operands = PHASES,
	}, run_viewers,
};

/*
 * server: each client sends a query, lends its tickets to the server's thread that serves
 * it, and waits. The threads of the server run on the tickets that they are lent. They are
 * SCHED_OTHER, and then also share the turns of their class, 5.6 % of the CPU; or lottery
 * tasks with as few tickets as there can be.
 */

static void __noreturn serve(struct crew_slot *slot)
{
	for (;;) {
		futex_await(&slot->mark, 1, 0);
		work_for_ns(o.query_ns);
		slot->rounds++;
		futex_set(&slot->mark, 0);
	}
}

/* The threads come first, then their clients. The mark of a thread is 1 while it has a query. */
static CREW_FN(serve_or_ask)
{
	unsigned int server = i % (crew->room / 2);
	struct crew_slot *slot = &crew->page->slot[server];
	struct loan_ask loan = { .pid = crew->pid[server], .flags = LOAN_KEEP };

	(void)arg;
	if (i == server)
		serve(slot);
	if (!o.no_loans && loan_make(&loan))
		return EXIT_FAILED;
	for (;;) {
		futex_set(&slot->mark, 1);
		futex_await(&slot->mark, 0, 0);
	}
	return 0;
}

static int run_server(void)
{
	u64 queries[TASKS_MAX];
	unsigned int i, count;
	struct crew crew;

	if (!bench.operands[0])
		die(EXIT_USAGE, "RATIO is missing, like 8:3:1");
	count = args_ratio(bench.operands[0], LOTTERY_TICKETS_MAX, o.tickets[BEFORE],
			   TASKS_MAX);
	bench_start(true);
	bench_crew(&crew, 2 * count, 2 * count, serve_or_ask, NULL);
	for (i = 0; i < count; i++) {
		crew_enlist(&crew, count + i, o.tickets[BEFORE][i], 0);
		if (o.server_tickets)
			crew_enlist(&crew, i, o.server_tickets, 0);
	}
	crew_release(&crew);
	sleep_until_ns(now_ns() + bench.seconds * NSEC_PER_SEC);
	for (i = 0; i < count; i++)
		queries[i] = load64(&crew.page->slot[i].rounds);
	for (i = 0; i < 2 * count; i++)
		if (crew_wait(&crew, i, 0) != -1)
			die(EXIT_FAILED, "a client or server has exited");
	crew_destroy(&crew);
	for (i = 0; i < count; i++) {
		u64 last = queries[count - 1];

		bench_row(STR("case", NULL, 0, bench.operands[0]),
			  BOOL("loans", !o.no_loans),
			  NUM("server_tickets", NULL, 0, o.server_tickets),
			  NUM("client", "client", -8, i + 1),
			  NUM("tickets", "tickets", 8, o.tickets[BEFORE][i]),
			  NUM("queries", "queries", 10, queries[i]),
			  REAL("ratio", "ratio", 8, 2,
			       last ? (double)queries[i] / (double)last : 0));
	}
	return EXIT_GOOD;
}

static const struct opt server_rows[] = {
	OPT(0, "--query-us", "US", SCALED(o.query_ns, 1, 1000000, 10000, NSEC_PER_USEC),
	    "CPU time of a query (%d)"),
	SECONDS_ROW(86400, 10, "how long (%d)"),
	OPT(0, "--server-tickets", "N", NUMBER(o.server_tickets, 0, LOTTERY_TICKETS_MAX, 0),
	    "of each thread of the server; 0: SCHED_OTHER (%d)"),
	OPT(0, "--no-loans", NULL, FLAG(o.no_loans),
	    "keep the tickets: the server has what SCHED_OTHER has"),
	CPU_ROW,
	JSON_ROW("one JSON object for each client"),
	{ }
};

const struct bench_case bench_server = {
	{
		.name = "server",
		.usage = "Usage: lottery-bench server [options] RATIO\n\n"
"Let clients with tickets query a server that has none, on one CPU. Each query costs\n"
"the server CPU time; a client that waits lends its tickets to the thread that\n"
"serves it. RATIO is the tickets of the clients, like 8:3:1. Needs root.\n\n",
		.rows = server_rows,
		.operands = 1,
	}, run_server,
};

/*
 * insulate: cgroups A and B are backed alike, and each has two tasks. In the middle a
 * third one begins in B, with as many tickets as the other two together: they get half
 * of what they had, and those in A what they had.
 */

#define BACKING		1000U
#define MEMBERS		5U

/* The last one begins in the middle. */
#define LATE		(MEMBERS - 1)

static const struct member {
	unsigned int group;
	u32 tickets;
} members[MEMBERS] = { { 0, 100 }, { 0, 200 }, { 1, 100 }, { 1, 200 }, { 1, 300 } };

static const char *const groups[] = { "A", "B" };

static const char *path_of(unsigned int group)
{
	static char path[2][64];

	snprintf(path[group], sizeof(path[group]), CGROUP_ROOT "/lottery-insulate-%d-%s",
		 getpid(), groups[group]);
	return path[group];
}

static void must(int error, const char *what)
{
	if (error)
		die(EXIT_FAILED, "%s: %s", what, strerror(-error));
}

static void open_groups(void)
{
	unsigned int g;

	if (!cgroups_usable())
		die(EXIT_UNSUPPORTED, CGROUP_MISSING);
	for (g = 0; g < ARRAY_SIZE(groups); g++) {
		must(cgroup_make(path_of(g)), path_of(g));
		if (!o.no_currencies)
			must(cgroup_back(path_of(g), BACKING), "cpu.lottery.tickets");
	}
}

static void start_members(struct crew *crew)
{
	unsigned int i;

	bench_crew(crew, MEMBERS, MEMBERS, hog, NULL);
	for (i = 0; i < MEMBERS; i++) {
		must(cgroup_move(path_of(members[i].group), crew->pid[i]), "cgroup.procs");
		crew_enlist(crew, i, members[i].tickets, 0);
	}
	store(&crew->page->slot[LATE].rest, 1);
	crew_release(crew);
	if (!hog_rest(crew, LATE, BENCH_WAIT_NS))
		die(EXIT_FAILED, "task %u does not wait for its time", LATE + 1);
}

static int run_insulate(void)
{
	u64 ran_ns[PHASES][MEMBERS];
	unsigned int g, i, phase;
	struct crew crew;

	bench_start(true);
	open_groups();
	start_members(&crew);
	bench_watch(&crew, ran_ns[BEFORE]);
	hog_wake(&crew, LATE);
	bench_watch(&crew, ran_ns[AFTER]);
	crew_destroy(&crew);
	for (g = 0; g < ARRAY_SIZE(groups); g++)
		must(cgroup_remove(path_of(g), BENCH_WAIT_NS), path_of(g));
	for (phase = 0; phase < PHASES; phase++)
		for (i = 0; i < MEMBERS; i++)
			bench_row(STR("case", "half", -8, phases[phase]),
				  BOOL("currencies", !o.no_currencies),
				  STR("currency", "currency", -8, groups[members[i].group]),
				  NUM("task", NULL, 0, i + 1),
				  NUM("tickets", "tickets", 8, members[i].tickets),
				  REAL("cpu_s", "cpu s", 10, 2,
				       (double)ran_ns[phase][i] / NSEC_PER_SEC));
	return EXIT_GOOD;
}

static const struct opt insulate_rows[] = {
	SECONDS_ROW(86400, 10, "how long each half lasts (%d)"),
	OPT(0, "--no-currencies", NULL, FLAG(o.no_currencies),
	    "the groups are no currencies: all tickets are alike"),
	CPU_ROW,
	JSON_ROW("one JSON object for each task and half"),
	{ }
};

const struct bench_case bench_insulate = {
	{
		.name = "insulate",
		.usage = "Usage: lottery-bench insulate [options]\n\n"
"Let two cgroups with as many tickets each have two tasks, and let a third one begin in\n"
"the second group after half of the time. Needs root and cgroups of version 2.\n\n",
		.rows = insulate_rows,
	}, run_insulate,
};
