// SPDX-License-Identifier: GPL-2.0
/* share_cases.c - lottery-share: what the tasks do while shares are counted. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "hog.h"
#include "json.h"
#include "lottery_proc.h"
#include "lottery_sched.h"
#include "race.h"
#include "share.h"

/* Pieces of the window of the case sleepwake, alternately awake and asleep. */
#define SLEEPWAKE_PHASES	10U

/* Ticks between two looks of the case turns: at another time of the tick each time. */
#define TURNS_LOOK_TICKS	2.7

static void fill_player(const struct crew *crew, struct player *p, unsigned int i,
			u32 tickets)
{
	*p = (struct player){
		.pid = crew->pid[i],
		.slot = &crew->page->slot[i],
		.tickets = tickets,
	};
}

/* Start the hogs of the ratio, asleep until all are in the class. */
static void start_hogs(struct share *s, struct crew *crew, struct window *w,
		       CREW_FN((*fn)))
{
	unsigned int i;

	memset(w, 0, sizeof(*w));
	w->count = s->count;
	w->awake = s->count;
	crew_create(crew, 2 * s->count);
	for (i = 0; i < s->count; i++)
		crew_fork(crew, fn, s);
	crew_gather(crew, SHARE_WAIT_NS);
	for (i = 0; i < s->count; i++) {
		crew_enlist(crew, i, s->tickets[i], s->quantum_ask_ns);
		fill_player(crew, &w->player[i], i, s->tickets[i]);
	}
	crew_release(crew);
}

static bool end_hogs(struct share *s, struct crew *crew)
{
	unsigned int lost = crew_stop(crew, SHARE_WAIT_NS);

	crew_destroy(crew);
	return !lost || share_fault(s, "%u hogs did not exit", lost);
}

/* Every player is in the class with the tickets that it should have. */
static bool check_tickets(struct share *s, const struct window *w)
{
	struct lottery_attr attr;
	unsigned int i;

	for (i = 0; i < w->count; i++) {
		const struct player *p = &w->player[i];

		if (attr_get(p->pid, &attr))
			return share_fault(s, "task %u: %s", i + 1, strerror(errno));
		if (attr.sched_policy != SCHED_LOTTERY || attr.sched_tickets != p->tickets)
			return share_fault(s, "task %u has policy %u with %u tickets, not %u",
					   i + 1, attr.sched_policy, attr.sched_tickets,
					   p->tickets);
	}
	return true;
}

static bool case_steady(struct share *s)
{
	struct crew crew;
	struct window w;
	bool good;

	start_hogs(s, &crew, &w, hog);
	window_pass(s, &w, s->seconds * NSEC_PER_SEC);
	good = check_tickets(s, &w);
	good &= share_report(s, "all", &w);
	return end_hogs(s, &crew) && good;
}

/*
 * Turns end and begin: one lottery a quantum, whoever wins. The launcher looks again
 * and again, but a holder that it preempts comes back for the rest of its turn.
 */
static bool case_turns(struct share *s)
{
	u64 begin, end, lotteries, look_ns;
	struct lottery_state state;
	struct crew crew;
	struct window w;
	bool good;

	lottery_read(&state);
	look_ns = (u64)(TURNS_LOOK_TICKS * (double)state.tick_ns);
	start_hogs(s, &crew, &w, hog);
	lotteries = lottery_count(s->cpu);
	begin = now_ns();
	end = begin + s->seconds * NSEC_PER_SEC;
	while (now_ns() < end)
		sleep_until_ns(now_ns() + look_ns);
	lotteries = lottery_count(s->cpu) - lotteries;
	good = share_report_draws(s, lotteries, now_ns() - begin);
	good &= check_tickets(s, &w);
	return end_hogs(s, &crew) && good;
}

/* Wait until the hogs in the slots 0..@count - 1 have said where they are. */
static bool await_marks(struct share *s, struct crew *crew, unsigned int count)
{
	u64 deadline = now_ns() + SHARE_WAIT_NS;
	unsigned int i;

	for (i = 0; i < count; i++)
		if (!futex_await(&crew->page->slot[i].mark, 1, deadline))
			return share_fault(s, "task %u did not begin", i + 1);
	return true;
}

/* Fork one child, which takes the slot behind those of the launcher's children. */
static CREW_FN(hog_with_child)
{
	const struct share *s = arg;
	pid_t self = getpid(), child = fork();
	int status;

	if (child < 0)
		return EXIT_FAILED;
	if (!child) {
		die_with_parent(self);
		i += s->count;
		store64(&crew->page->slot[i].value, (u64)getpid());
	}
	futex_set(&crew->page->slot[i].mark, 1);
	hog(crew, i, arg);
	if (!child)
		_exit(0);
	return waitpid(child, &status, 0) == child && !status ? 0 : EXIT_FAILED;
}

/* Children inherit the tickets: every task and every child has its own share. */
static bool case_fork(struct share *s)
{
	struct crew crew;
	struct window w;
	unsigned int i;
	bool good;

	start_hogs(s, &crew, &w, hog_with_child);
	w.count = 2 * s->count;
	w.awake = w.count;
	good = await_marks(s, &crew, w.count);
	for (i = s->count; i < w.count; i++) {
		struct player *p = &w.player[i];

		p->tickets = s->tickets[i - s->count];
		p->slot = &crew.page->slot[i];
		p->pid = (pid_t)load64(&p->slot->value);
	}
	if (good)
		window_pass(s, &w, s->seconds * NSEC_PER_SEC);
	good = good && check_tickets(s, &w);
	good = good && share_report(s, "all", &w);
	return end_hogs(s, &crew) && good;
}

/* Become a new image of this program, see share_resume(). */
static CREW_FN(hog_through_exec)
{
	char fd[16], room[16], slot[16];

	(void)arg;
	snprintf(fd, sizeof(fd), "%d", crew->fd);
	snprintf(room, sizeof(room), "%u", crew->room);
	snprintf(slot, sizeof(slot), "%u", i);
	execl("/proc/self/exe", "lottery-share", SHARE_RESUME, fd, room, slot, NULL);
	return EXIT_FAILED;
}

int share_resume(char **argv)
{
	unsigned int room, slot;
	struct crew crew;
	int fd;

	fd = (int)args_number(SHARE_RESUME, argv[2], 0, 1 << 20);
	room = (unsigned int)args_number(SHARE_RESUME, argv[3], 1, 2 * SHARE_TASKS_MAX);
	slot = (unsigned int)args_number(SHARE_RESUME, argv[4], 0, room - 1);
	if (!crew_attach(&crew, fd, room))
		die(EXIT_USAGE, "%s: no shared page: it is for lottery-share itself",
		    SHARE_RESUME);
	futex_set(&crew.page->slot[slot].mark, 1);
	return hog(&crew, slot, NULL);
}

static bool case_exec(struct share *s)
{
	struct crew crew;
	struct window w;
	bool good;

	start_hogs(s, &crew, &w, hog_through_exec);
	good = await_marks(s, &crew, w.count);
	if (good)
		window_pass(s, &w, s->seconds * NSEC_PER_SEC);
	good = good && check_tickets(s, &w);
	good = good && share_report(s, "all", &w);
	return end_hogs(s, &crew) && good;
}

/*
 * The last task sleeps half of the time. While it is awake all contend, while
 * it sleeps the others do, and its tickets must not count.
 */
static bool case_sleepwake(struct share *s)
{
	u64 phase_ns = s->seconds * NSEC_PER_SEC / SLEEPWAKE_PHASES;
	unsigned int phase, sleeper = s->count - 1;
	struct window awake, asleep;
	struct crew crew;
	bool good = true;

	start_hogs(s, &crew, &awake, hog);
	asleep = awake;
	asleep.awake = sleeper;
	for (phase = 0; good && phase < SLEEPWAKE_PHASES; phase++) {
		if (phase % 2 == 0) {
			hog_wake(&crew, sleeper);
			window_pass(s, &awake, phase_ns);
		} else if (hog_rest(&crew, sleeper, SHARE_WAIT_NS)) {
			window_pass(s, &asleep, phase_ns);
		} else {
			good = share_fault(s, "the last task does not sleep");
		}
	}
	good = good && check_tickets(s, &awake);
	good = good && share_report(s, "awake", &awake);
	good = good && share_report(s, "asleep", &asleep);
	if (asleep.player[sleeper].ran_ns)
		good = share_fault(s, "the last task ran %llu ns while it slept",
				   asleep.player[sleeper].ran_ns);
	return end_hogs(s, &crew) && good;
}

/* Who uses a fifth of each turn has its share all the same, by more turns. */
static bool case_yield(struct share *s)
{
	struct crew crew;
	struct window w;
	bool good;

	start_hogs(s, &crew, &w, hog);
	store64(&crew.page->slot[s->count - 1].yield_ns, s->quantum_ns / 5);
	s->quanta = SHARE_YIELD_QUANTA;
	window_pass(s, &w, s->seconds * NSEC_PER_SEC);
	good = check_tickets(s, &w);
	good &= share_report_time(s, &w);
	return end_hogs(s, &crew) && good;
}

/* The tickets are turned round at half time. */
static bool case_change(struct share *s)
{
	u64 half_ns = s->seconds * NSEC_PER_SEC / 2;
	struct crew crew;
	struct window w;
	unsigned int i;
	bool good;

	start_hogs(s, &crew, &w, hog);
	window_pass(s, &w, half_ns);
	good = check_tickets(s, &w);
	good &= share_report(s, "before", &w);
	w.lotteries = 0;
	for (i = 0; i < s->count; i++) {
		u32 tickets = s->tickets[s->count - 1 - i];

		crew_enlist(&crew, i, tickets, s->quantum_ask_ns);
		fill_player(&crew, &w.player[i], i, tickets);
	}
	window_pass(s, &w, half_ns);
	good &= check_tickets(s, &w);
	good &= share_report(s, "after", &w);
	return end_hogs(s, &crew) && good;
}

static void report_racer(const struct share *s, unsigned int order,
			 const struct racer *r)
{
	if (s->output == OUTPUT_KTAP) {
		ktap_note(&s->ktap, "order %u task %u tickets %u finish_ns %llu",
			  order, r->id, r->tickets, r->finish_ns);
		return;
	}
	if (s->output == OUTPUT_TABLE) {
		printf("%-12s %-10s order %u: task %u, %u tickets, %.3f ms\n", s->ratio,
		       s->kind, order, r->id, r->tickets,
		       (double)r->finish_ns / NSEC_PER_MSEC);
		return;
	}
	json_open();
	json_text("case", s->ratio);
	json_text("kind", s->kind);
	json_number("order", order);
	json_number("task", r->id);
	json_number("tickets", r->tickets);
	json_number("finish_ns", r->finish_ns);
	json_close();
}

/* Equal work: whose tickets leave no doubt finishes first. */
static bool case_order(struct share *s)
{
	struct racer racers[SHARE_TASKS_MAX];
	unsigned int i, upsets, certain;
	double quantum_ns;

	for (i = 0; i < s->count; i++)
		racers[i] = (struct racer){
			.id = i + 1,
			.tickets = s->tickets[i],
			.work_ns = s->seconds * NSEC_PER_SEC / s->count,
		};
	quantum_ns = race_run(racers, s->count, s->cpu, s->quantum_ask_ns);
	for (i = 0; i < s->count; i++)
		report_racer(s, i + 1, &racers[i]);
	upsets = race_upsets(racers, s->count, quantum_ns, LOTTERY_SIGMAS, &certain);
	if (upsets)
		return share_missed(s, "%u of %u certain pairs finished in the wrong order",
				    upsets, certain);
	if (!certain && s->output == OUTPUT_KTAP)
		return share_missed(s, "the order of no pair is certain");
	return true;
}

const struct share_case share_cases[] = {
	{ "steady", case_steady },
	{ "turns", case_turns },
	{ "fork", case_fork },
	{ "exec", case_exec },
	{ "sleepwake", case_sleepwake },
	{ "yield", case_yield },
	{ "change", case_change },
	{ "order", case_order },
	{ }
};
