// SPDX-License-Identifier: GPL-2.0
/* bench_share.c - do tasks get the CPU in proportion to their tickets? */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"
#include "clock.h"
#include "crew.h"
#include "ktap.h"
#include "lottery_sched.h"
#include "window.h"

#define TASKS_MAX	(PLAYERS_MAX / 2)	/* each may have a child */

/*
 * A test lasts longer until there is LOTTERY_VARIANCE_MIN, and fails when there is not
 * after this.
 */
#define EXTRA_NS	(40 * NSEC_PER_SEC)

/* With the low-variance draw no share may be off by more quanta than this. */
#define EVEN_MAX	8.0

/*
 * How far a share that compensation tickets make good may be off [%], after so many
 * quanta: a test lasts longer until there were as many, as above.
 */
#define YIELD_PCT	10.0
#define YIELD_QUANTA	2500.0
#define MIDTICK_PCT	3.0
#define MIDTICK_QUANTA	30000.0

/* Lotteries for each hundred quanta, where time is virtual. */
#define DRAWS_MIN	85.0
#define DRAWS_MAX	105.0

/* Pieces of the window of the case sleepwake, alternately awake and asleep. */
#define SLEEPWAKE_PHASES	10U

/* Ticks between two looks of the case turns: at another time of the tick each time. */
#define TURNS_LOOK_TICKS	2.7

static struct {
	unsigned int kind;	/* which of the kinds */
	const char *ratio;	/* as given, "10:1" */
	unsigned int count;
	u32 tickets[TASKS_MAX];
	u64 quantum_ask_ns;	/* what the tasks ask for, 0 = default */
	u64 quantum_ns;		/* what they get */
	u64 tick_ns;
	bool low_variance;
	struct ktap ktap;
	u64 deadline_ns;	/* for having enough lotteries, where that is judged */
} s;

static const char *const kinds[] = {
	"steady", "turns", "fork", "exec", "sleepwake", "yield", "midtick", "change",
	"order", NULL,
};

/*
 * A note in the KTAP stream, or a complaint on stderr; returns false, but true for a
 * share or an order that chance decides where bounds are off.
 */
static bool __printf(2, 3) wrong(bool chance, const char *format, ...)
{
	bool excused = chance && !bounds_on();
	const char *mark = excused ? "bound missed: " : "";
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (bench.output == OUTPUT_KTAP)
		ktap_note(&s.ktap, "%s%s %s: %s", mark, kinds[s.kind], s.ratio, text);
	else
		complain("%s%s %s: %s", mark, kinds[s.kind], s.ratio, text);
	return excused;
}

#define fault(...)	wrong(false, __VA_ARGS__)
#define missed(...)	wrong(true, __VA_ARGS__)

/* Let all contend; again, in a test, while that is not enough for a bound. */
static void pass(struct window *w, u64 ns)
{
	do {
		window_pass(w, ns);
	} while (now_ns() < s.deadline_ns && !window_suffices(w));
}

static void print_share(const char *phase, const struct window *w, unsigned int i)
{
	const struct player *p = &w->player[i];

	if (bench.output == OUTPUT_KTAP)
		ktap_note(&s.ktap,
			  "%s %s task %u tickets %u of %llu: wins %.1f of %.1f, expected %.1f, error %.2f sigma, stalled %llu ms",
			  s.ratio, phase, i + 1, p->tickets, w->tickets, p->wins, w->wins,
			  p->expected, p->sigma_error, stalled_ns(p) / NSEC_PER_MSEC);
	else
		bench_row(STR("case", "ratio", -12, s.ratio),
			  STR("kind", "case", -10, kinds[s.kind]),
			  STR("draw", NULL, 0, s.low_variance ? "low-variance" : "independent"),
			  STR("phase", "phase", -8, phase),
			  NUM("task", "task", 4, i + 1),
			  NUM("tickets", "tickets", 8, p->tickets),
			  NUM("total", NULL, 0, w->tickets),
			  REAL("lotteries", NULL, 0, 0, w->wins),
			  REAL("wins", "wins", 10, 1, p->wins),
			  REAL("expected", "expected", 10, 1, p->expected),
			  REAL(NULL, "got %", 7, 3, w->wins ? 100 * p->wins / w->wins : 0),
			  REAL(NULL, "want %", 7, 3, 100.0 * p->tickets / (double)w->tickets),
			  REAL("sigma_error", "sigma", 7, 2, p->sigma_error),
			  NUM("stalled_ns", NULL, 0, stalled_ns(p)));
}

static bool in_bound(const struct player *p)
{
	if (s.low_variance)
		return fabs(p->wins - p->expected) <= EVEN_MAX;
	return p->variance < LOTTERY_VARIANCE_MIN || fabs(p->sigma_error) < LOTTERY_SIGMAS;
}

/* Print a line for each that can win; false when one is outside its bound. */
static bool report(const char *phase, struct window *w)
{
	bool good = true;
	unsigned int i;

	window_reckon(w);
	for (i = 0; i < w->awake; i++) {
		print_share(phase, w, i);
		good &= in_bound(&w->player[i]) ||
			(bench.output == OUTPUT_KTAP &&
			 missed("%s: the share of task %u", phase, i + 1));
	}
	if (bench.output == OUTPUT_KTAP && !window_suffices(w))
		good &= missed("%s: %llu lotteries are too few for a bound", phase, w->lotteries);
	return good;
}

/*
 * Print the same; false when the first one's share of CPU time is off by more than
 * @most_pct. For tasks whose turns differ in length, which are no trials.
 */
static bool report_time(struct window *w, double most_pct)
{
	double off_pct;
	unsigned int i;

	window_reckon(w);
	for (i = 0; i < w->awake; i++)
		print_share("all", w, i);
	off_pct = 100 * (w->player[0].wins / w->player[0].expected - 1);
	return fabs(off_pct) <= most_pct ||
	       missed("the first task's share is off by %.1f %%, allowed are %.0f", off_pct,
		      most_pct);
}

static void enlist(struct window *w, unsigned int i, u32 tickets)
{
	crew_enlist(&w->crew, i, tickets, s.quantum_ask_ns);
	w->player[i] = (struct player){
		.pid = w->crew.pid[i],
		.slot = &w->crew.page->slot[i],
		.tickets = tickets,
	};
}

/* Start the hogs of the ratio, asleep until all are in the class. */
static void start_hogs(struct window *w, CREW_FN((*fn)))
{
	unsigned int i;

	*w = (struct window){
		.quantum_ns = s.quantum_ns,
		.count = s.count,
		.awake = s.count,
	};
	bench_crew(&w->crew, 2 * s.count, s.count, fn, NULL);
	for (i = 0; i < s.count; i++)
		enlist(w, i, s.tickets[i]);
	crew_release(&w->crew);
}

static bool end_hogs(struct window *w)
{
	unsigned int lost = crew_stop(&w->crew, BENCH_WAIT_NS);

	crew_destroy(&w->crew);
	return !lost || fault("%u hogs did not exit", lost);
}

/* Every player is in the class with the tickets that it should have. */
static bool check_tickets(const struct window *w)
{
	struct lottery_attr attr;
	unsigned int i;

	for (i = 0; i < w->count; i++) {
		const struct player *p = &w->player[i];

		if (attr_get(p->pid, &attr))
			return fault("task %u: %s", i + 1, strerror(errno));
		if (attr.sched_policy != SCHED_LOTTERY || attr.sched_tickets != p->tickets)
			return fault("task %u has policy %u with %u tickets, not %u", i + 1,
				     attr.sched_policy, attr.sched_tickets, p->tickets);
	}
	return true;
}

static bool pass_and_report(struct window *w, const char *phase, u64 ns)
{
	bool good;

	pass(w, ns);
	good = check_tickets(w);
	return report(phase, w) && good;
}

static bool run_steady(struct window *w)
{
	return pass_and_report(w, "all", bench.seconds * NSEC_PER_SEC);
}

/*
 * Turns end and begin: one lottery a quantum, whichever task wins. The launcher looks
 * often, but a holder that it preempts comes back for the rest of its turn.
 */
static bool run_turns(struct window *w)
{
	u64 begin, end, lotteries, look_ns;
	double quanta, draws_pct;
	bool good = true;

	look_ns = (u64)(TURNS_LOOK_TICKS * (double)s.tick_ns);
	lotteries = lottery_count(bench.cpu);
	begin = now_ns();
	end = begin + bench.seconds * NSEC_PER_SEC;
	while (now_ns() < end)
		sleep_until_ns(now_ns() + look_ns);
	lotteries = lottery_count(bench.cpu) - lotteries;
	quanta = (double)(now_ns() - begin) / (double)s.quantum_ns;
	draws_pct = 100 * (double)lotteries / quanta;
	if (bench.output == OUTPUT_KTAP)
		ktap_note(&s.ktap, "%s: %llu lotteries in %.1f quanta, %.1f %%", s.ratio,
			  lotteries, quanta, draws_pct);
	else
		bench_row(STR("case", "ratio", -12, s.ratio),
			  STR("kind", "case", -10, kinds[s.kind]),
			  NUM("lotteries", "lotteries", 10, lotteries),
			  REAL("quanta", "quanta", 10, 1, quanta));
	if (draws_pct < DRAWS_MIN || draws_pct > DRAWS_MAX)
		good = missed("%.1f lotteries for each 100 quanta, wanted %.0f to %.0f", draws_pct,
			      DRAWS_MIN, DRAWS_MAX);
	return check_tickets(w) && good;
}

/* Wait until all of the window have said where they are. */
static bool await_marks(struct window *w)
{
	u64 deadline = now_ns() + BENCH_WAIT_NS;
	unsigned int i;

	for (i = 0; i < w->count; i++)
		if (!futex_await(&w->crew.page->slot[i].mark, 1, deadline))
			return fault("task %u did not begin", i + 1);
	return true;
}

/* Fork one child, which takes the slot behind those of the launcher's children. */
static CREW_FN(hog_with_child)
{
	pid_t self = getpid(), child = fork();
	int status;

	if (child < 0)
		return EXIT_FAILED;
	if (!child) {
		die_with_parent(self);
		i += s.count;
		store64(&crew->page->slot[i].value, (u64)getpid());
	}
	futex_set(&crew->page->slot[i].mark, 1);
	hog(crew, i, arg);
	if (!child)
		_exit(0);
	return waitpid(child, &status, 0) == child && !status ? 0 : EXIT_FAILED;
}

/* Children inherit the tickets: every task and every child has its own share. */
static bool run_fork(struct window *w)
{
	unsigned int i;

	w->count = 2 * s.count;
	w->awake = w->count;
	if (!await_marks(w))
		return false;
	for (i = s.count; i < w->count; i++) {
		struct crew_slot *slot = &w->crew.page->slot[i];

		w->player[i] = (struct player){
			.pid = (pid_t)load64(&slot->value),
			.slot = slot,
			.tickets = s.tickets[i - s.count],
		};
	}
	return run_steady(w);
}

/* Become a new image of this program, see share_resume(). */
static CREW_FN(hog_through_exec)
{
	char place[48];

	(void)arg;
	snprintf(place, sizeof(place), "%d:%u:%u", crew->fd, crew->room, i + 1);
	execl("/proc/self/exe", "lottery-bench", SHARE_RESUME, place, NULL);
	return EXIT_FAILED;
}

int share_resume(const char *place)
{
	u32 part[3];		/* descriptor, room, slot from 1 */
	struct crew crew;

	if (args_ratio(place, 1 << 20, part, 3) != 3 || part[2] > part[1] ||
	    !crew_attach(&crew, (int)part[0], part[1]))
		die(EXIT_USAGE, "%s: no shared page: it is for lottery-bench itself",
		    SHARE_RESUME);
	futex_set(&crew.page->slot[part[2] - 1].mark, 1);
	return hog(&crew, part[2] - 1, NULL);
}

static bool run_exec(struct window *w)
{
	return await_marks(w) && run_steady(w);
}

/*
 * The last task sleeps half of the time. While it is awake all contend, while
 * it sleeps the others do, and its tickets must not count.
 */
static bool run_sleepwake(struct window *awake)
{
	u64 phase_ns = bench.seconds * NSEC_PER_SEC / SLEEPWAKE_PHASES;
	unsigned int phase, sleeper = s.count - 1;
	struct window asleep = *awake;
	bool good = true;

	asleep.awake = sleeper;
	for (phase = 0; good && phase < SLEEPWAKE_PHASES; phase++) {
		if (phase % 2 == 0) {
			hog_wake(&awake->crew, sleeper);
			pass(awake, phase_ns);
		} else if (hog_rest(&awake->crew, sleeper, BENCH_WAIT_NS)) {
			pass(&asleep, phase_ns);
		} else {
			good = fault("the last task does not sleep");
		}
	}
	good = good && check_tickets(awake) && report("awake", awake) && report("asleep", &asleep);
	if (asleep.player[sleeper].ran_ns)
		good = fault("the last task ran %llu ns while it slept",
			     asleep.player[sleeper].ran_ns);
	return good;
}

/* For @quanta at least; the first one's CPU time is judged. */
static bool pass_and_report_time(struct window *w, double quanta, double most_pct)
{
	bool good;

	w->quanta = quanta;
	pass(w, bench.seconds * NSEC_PER_SEC);
	good = check_tickets(w);
	return report_time(w, most_pct) && good;
}

/* A task that uses a fifth of each turn still gets its share, by more turns. */
static bool run_yield(struct window *w)
{
	store64(&w->crew.page->slot[s.count - 1].yield_ns, s.quantum_ns / 5);
	return pass_and_report_time(w, YIELD_QUANTA, YIELD_PCT);
}

/*
 * Yield just after the middle of a tick, but not of the next one: that is in a longer turn.
 * A tick came when the coarse clock, which it sets, changes between two looks.
 */
static void spin_past_middle(struct crew_slot *slot, void *arg)
{
	static u64 seen, looked, ticked;
	struct timespec coarse;
	u64 now, since;

	(void)arg;
	spin_a_little();
	clock_gettime(CLOCK_MONOTONIC_COARSE, &coarse);
	now = now_ns();
	if (ns_of(&coarse) != seen && now - looked < s.tick_ns / 16)
		ticked = now;
	seen = ns_of(&coarse);
	looked = now;
	since = (now - ticked) % s.tick_ns;
	if (now - slot->value < s.tick_ns * 5 / 4 || since < s.tick_ns / 2 ||
	    since > s.tick_ns * 5 / 8)
		return;
	slot->value = now;
	sched_yield();
}

static CREW_FN(hog_until_middle)
{
	if (i < s.count - 1)
		return hog(crew, i, arg);
	return hog_work(crew, i, spin_past_middle, NULL);
}

/* A turn that begins in the midst of a tick is no longer than others. */
static bool run_midtick(struct window *w)
{
	return pass_and_report_time(w, MIDTICK_QUANTA, MIDTICK_PCT);
}

/* The tickets are turned round at half time. */
static bool run_change(struct window *w)
{
	u64 half_ns = bench.seconds * NSEC_PER_SEC / 2;
	bool good = pass_and_report(w, "before", half_ns);
	unsigned int i;

	w->lotteries = 0;
	for (i = 0; i < s.count; i++)
		enlist(w, i, s.tickets[s.count - 1 - i]);
	return pass_and_report(w, "after", half_ns) && good;
}

/* Equal work: whose tickets leave no doubt finishes first. */
static bool run_order(struct window *w)
{
	struct racer racers[TASKS_MAX];
	unsigned int i, upsets, certain;
	double quantum_ns;

	for (i = 0; i < s.count; i++)
		racers[i] = (struct racer){
			.id = i + 1,
			.tickets = s.tickets[i],
			.work_ns = bench.seconds * NSEC_PER_SEC / s.count,
		};
	(void)w;
	quantum_ns = race_run(racers, s.count, s.quantum_ask_ns);
	for (i = 0; i < s.count; i++) {
		const struct racer *r = &racers[i];

		if (bench.output == OUTPUT_KTAP)
			ktap_note(&s.ktap, "order %u task %u tickets %u finish_ns %llu", i + 1,
				  r->id, r->tickets, r->finish_ns);
		else
			bench_row(STR("case", "ratio", -12, s.ratio),
				  STR("kind", "case", -10, kinds[s.kind]),
				  NUM("order", "order", 5, i + 1),
				  NUM("task", "task", 4, r->id),
				  NUM("tickets", "tickets", 8, r->tickets),
				  NUM("finish_ns", NULL, 0, r->finish_ns),
				  REAL(NULL, "finish ms", 10, 3,
				       (double)r->finish_ns / NSEC_PER_MSEC));
	}
	upsets = race_upsets(racers, s.count, quantum_ns, &certain);
	if (upsets)
		return missed("%u of %u certain pairs finished in the wrong order", upsets,
			      certain);
	if (!certain && bench.output == OUTPUT_KTAP)
		return missed("the order of no pair is certain");
	return true;
}

/* In the order of the kinds: what the tasks are, and what is looked at. */
static const struct {
	CREW_FN((*fn));
	bool (*run)(struct window *w);
} runs[] = {
	{ hog, run_steady },
	{ hog, run_turns },
	{ hog_with_child, run_fork },
	{ hog_through_exec, run_exec },
	{ hog, run_sleepwake },
	{ hog, run_yield },
	{ hog_until_middle, run_midtick },
	{ hog, run_change },
	{ NULL, run_order },
};

/* Run one ratio; false when a check has failed. */
static bool run_ratio(const char *ratio)
{
	struct window w;
	char name[256];
	bool good;

	s.ratio = ratio;
	s.count = args_ratio(ratio, LOTTERY_TICKETS_MAX, s.tickets, TASKS_MAX);
	if (bench.output == OUTPUT_KTAP && bounds_on())
		s.deadline_ns = now_ns() + bench.seconds * NSEC_PER_SEC + EXTRA_NS;
	if (runs[s.kind].fn)
		start_hogs(&w, runs[s.kind].fn);
	good = runs[s.kind].run(&w);
	if (runs[s.kind].fn)
		good &= end_hogs(&w);
	if (bench.output != OUTPUT_KTAP)
		return good;
	snprintf(name, sizeof(name), "%s %s", kinds[s.kind], ratio);
	ktap_result(&s.ktap, good, name);
	return good;
}

static int run_share(void)
{
	struct lottery_state state;
	unsigned int planned = 0;
	bool good = true;
	char **ratio;

	if (!bench.operands[0])
		die(EXIT_USAGE, "a ratio (like 10:1) is missing, try --help");
	for (ratio = bench.operands; *ratio; ratio++, planned++)
		args_ratio(*ratio, LOTTERY_TICKETS_MAX, s.tickets, TASKS_MAX);
	bench_start(true);
	lottery_read(&state);
	s.tick_ns = state.tick_ns;
	s.quantum_ns = lottery_quantum(&state, s.quantum_ask_ns);
	if (s.low_variance)
		lottery_switch("low_variance", true);
	if (bench.output == OUTPUT_KTAP)
		ktap_start(&s.ktap, planned);
	for (ratio = bench.operands; *ratio; ratio++)
		good &= run_ratio(*ratio);
	if (s.low_variance)
		lottery_switch("low_variance", false);
	if (bench.output == OUTPUT_KTAP)
		return ktap_finish(&s.ktap);
	return good ? EXIT_GOOD : EXIT_FAILED;
}

static const struct opt share_rows[] = {
	OPT(0, "--case", "NAME", CHOICE(s.kind, kinds, 0),
	    "what the tasks do meanwhile (%d):\n"
	    "  steady     nothing else\n"
	    "  turns      nothing else; lotteries are counted, not wins\n"
	    "  fork       each has a child, which inherits the tickets\n"
	    "  exec       each execs first\n"
	    "  sleepwake  the last one sleeps half of the time\n"
	    "  yield      the last one yields after a fifth of each turn\n"
	    "  midtick    the last one yields after the middle of a tick\n"
	    "  change     the tickets are turned round at half time\n"
	    "  order      they finish equal work: in which order"),
	SECONDS_ROW(3600, 10, "how long for each ratio (%d)"),
	OPT(0, "--quantum", "US",
	    SCALED(s.quantum_ask_ns, LOTTERY_QUANTUM_MIN / NSEC_PER_USEC,
		   LOTTERY_QUANTUM_MAX / NSEC_PER_USEC, 0, NSEC_PER_USEC),
	    "ask for this quantum, %r (one tick)"),
	OPT(0, "--low-variance", NULL, FLAG(s.low_variance),
	    "with the low-variance draw, on all CPUs meanwhile"),
	CPU_ROW,
	JSON_ROW("one JSON object for each task"),
	KTAP_ROW("check the bound (5 sigma) as a test, S seconds or longer"),
	{ }
};

const struct bench_case bench_share = {
	{
		.name = "share",
		.usage = "Usage: lottery-bench share [options] RATIO...\n\n"
"Run hogs with tickets in a ratio (10:1, 3:2:1 ...) on one CPU and compare the\n"
"lotteries that each has won with the binomial distribution.\n\n",
		.rows = share_rows,
		.operands = OPERANDS_ANY,
	}, run_share,
};
