// SPDX-License-Identifier: GPL-2.0
/* stage.c - tasks that do what they are told, and what they get. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "affinity.h"
#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "opts.h"
#include "stage.h"

struct theatre theatre;

void theatre_parse(int argc, char **argv, const char *usage, u32 window_ms)
{
	const struct opt rows[] = {
		OPT(0, "--window-ms", "MS",
		    SCALED(theatre.window_ns, 1, 100000, window_ms, NSEC_PER_MSEC),
		    "time in which shares are counted (%d)"),
		OPT(0, "--cpu", "CPU", CALL_TO(cpu_option, theatre.cpu),
		    "where its tasks run (the first that is allowed)"),
		KTAP_OPT,
		{ }
	};
	const struct opts opts = { .usage = usage, .rows = rows, .tail = TEST_TAIL };

	theatre.cpu = first_cpu();
	opts_parse(&opts, argc, argv);
}

void theatre_open(void)
{
	u64 others;

	others = affinity_of(0) & ~(1ULL << theatre.cpu);
	theatre.other_cpu = others ? (u32)__builtin_ctzll(others) : theatre.cpu;
	pin_to_cpu(theatre.cpu);
	become_launcher(LAUNCHER_PRIORITY);
}

/* What an actor is asked to lend, in its slot. */
static struct loan_ask ask_of(const struct crew_slot *slot)
{
	return (struct loan_ask){
		.pid = (s32)load64(&slot->value),
		.tickets = load(&slot->rest),
		.flags = load(&slot->resting),
		.timeout_ns = load64(&slot->yield_ns),
	};
}

/* As long as its parent lives, which is no other than the one that it had at first. */
static void spin_in_a_child(void)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		_exit(EXIT_FAILED);
	if (pid)
		return;
	die_with_parent(parent);
	for (;;)
		spin_a_little();
}

/* How it goes on after it has done it. */
static enum act obey(const struct stage *s, const struct crew_slot *slot, enum act act)
{
	u64 arg = load64(&slot->value);
	struct loan_ask ask;

	switch (act) {
	case ACT_LOCK:
	case ACT_LOCK_AND_SLEEP:
		if (pthread_mutex_lock(s->mutex[arg]))
			_exit(EXIT_FAILED);
		return act == ACT_LOCK ? ACT_SPIN : ACT_SLEEP;
	case ACT_UNLOCK:
		if (pthread_mutex_unlock(s->mutex[arg]))
			_exit(EXIT_FAILED);
		return ACT_SPIN;
	case ACT_LEND:
		ask = ask_of(slot);
		if (loan_make(&ask))
			_exit(EXIT_FAILED);
		return ACT_SLEEP;
	case ACT_REVOKE:
		if (loan_end((pid_t)arg))
			_exit(EXIT_FAILED);
		return ACT_SLEEP;
	case ACT_CURRENCY:
		if (currency_make((u32)arg))
			_exit(EXIT_FAILED);
		return ACT_SPIN;
	case ACT_INFLATE:
		if (lottery_join(0, (u32)arg, 0))
			_exit(EXIT_FAILED);
		return ACT_SPIN;
	case ACT_UNPRIVILEGED:
		if (setresuid(NOBODY, NOBODY, NOBODY) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(EXIT_FAILED);
		return ACT_SPIN;
	case ACT_FORK:
		spin_in_a_child();
		return ACT_SPIN;
	case ACT_EXIT:
		_exit(0);
	default:
		return act;
	}
}

/* The mark counts what it was told, the guard what; rounds count what is done. */
static CREW_FN(actor)
{
	struct crew_slot *slot = &crew->page->slot[i];
	enum act act = ACT_SLEEP;
	u32 told = 0;

	for (;;) {
		if (load(&slot->mark) != told) {
			told = load(&slot->mark);
			act = obey(arg, slot, load(&slot->guard));
			store64(&slot->rounds, told);
		} else if (act == ACT_SPIN) {
			spin_a_little();
		} else {
			futex_wait(&slot->mark, told, 0);
		}
	}
	return 0;
}

static void make_mutexes(struct stage *s)
{
	size_t slots = sizeof(pthread_mutex_t) / sizeof(struct crew_slot) + 1;
	pthread_mutexattr_t attr;
	unsigned int i;

	crew_create(&s->memory, (unsigned int)(MUTEXES * slots));
	if (pthread_mutexattr_init(&attr) ||
	    pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) ||
	    pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT))
		die(EXIT_FAILED, "no priority inheritance mutexes");
	for (i = 0; i < MUTEXES; i++) {
		s->mutex[i] = (pthread_mutex_t *)&s->memory.page->slot[i * slots];
		if (pthread_mutex_init(s->mutex[i], &attr))
			die(EXIT_FAILED, "no priority inheritance mutexes");
	}
}

void stage_open(struct stage *s, const u32 *tickets, unsigned int count)
{
	unsigned int i;

	make_mutexes(s);
	s->others = tickets_in_pools();
	crew_create(&s->crew, count);
	for (i = 0; i < count; i++)
		crew_fork(&s->crew, actor, s);
	crew_gather(&s->crew, STAGE_WAIT_NS);
	for (i = 0; i < count; i++)
		if (tickets[i])
			crew_enlist(&s->crew, i, tickets[i], 0);
	crew_release(&s->crew);
}

static bool pools_hold(void *arg)
{
	return tickets_in_pools() == *(u64 *)arg;
}

void expect_tickets(struct ktap_case *t, const struct stage *s, u64 tickets)
{
	u64 wanted = s->others + tickets;

	expect(t, wait_until(pools_hold, &wanted, STAGE_WAIT_NS),
	       "%llu tickets in the pools, wanted %llu", tickets_in_pools() - s->others,
	       tickets);
}

void stage_close(struct ktap_case *t, struct stage *s)
{
	crew_destroy(&s->crew);
	expect_tickets(t, s, 0);
	crew_destroy(&s->memory);
}

void tell(struct stage *s, unsigned int i, enum act act, u64 arg)
{
	struct crew_slot *slot = &s->crew.page->slot[i];

	store64(&slot->value, arg);
	store(&slot->guard, act);
	futex_set(&slot->mark, load(&slot->mark) + 1);
}

static bool is_done(void *arg)
{
	const struct crew_slot *slot = arg;

	return load64(&slot->rounds) == load(&slot->mark);
}

void await_asleep(struct ktap_case *t, struct stage *s, unsigned int i)
{
	expect(t, crew_asleep(&s->crew, i, STAGE_WAIT_NS),
	       "actor %u does not sleep", i);
}

void await_done(struct ktap_case *t, struct stage *s, unsigned int i)
{
	expect(t, wait_until(is_done, &s->crew.page->slot[i], STAGE_WAIT_NS),
	       "actor %u does not do what it was told", i);
}

void act(struct ktap_case *t, struct stage *s, unsigned int i, enum act act, u64 arg)
{
	tell(s, i, act, arg);
	await_done(t, s, i);
	if (act == ACT_SLEEP || act == ACT_LOCK_AND_SLEEP || act == ACT_LEND ||
	    act == ACT_REVOKE)
		await_asleep(t, s, i);
}

void act_lend(struct ktap_case *t, struct stage *s, unsigned int i, unsigned int to,
	      u32 tickets, u32 flags, u64 timeout_ns)
{
	struct crew_slot *slot = &s->crew.page->slot[i];

	store(&slot->rest, tickets);
	store(&slot->resting, flags);
	store64(&slot->yield_ns, timeout_ns);
	act(t, s, i, ACT_LEND, (u64)s->crew.pid[to]);
}

void expect_error(struct ktap_case *t, const char *what, long got, int error)
{
	if (!error)
		expect(t, got >= 0, "%s: %s", what, strerror(errno));
	else
		expect(t, got < 0 && errno == error, "%s: %s, wanted %s", what,
		       got < 0 ? strerror(errno) : "taken", strerror(error));
}

void pass(struct stage *s, u64 ns)
{
	u64 before[ACTORS_MAX];
	unsigned int i;

	for (i = 0; i < s->crew.count; i++)
		before[i] = process_cpu_ns(s->crew.pid[i]);
	sleep_until_ns(now_ns() + ns);
	for (i = 0; i < s->crew.count; i++)
		s->ran_ns[i] = process_cpu_ns(s->crew.pid[i]) - before[i];
}

/* @due is a part of @ran_ns, of which actor @i had what it had in the last window. */
static void expect_due(struct ktap_case *t, struct stage *s, unsigned int i, double due,
		       u64 ran_ns)
{
	double got = (double)s->ran_ns[i] / (double)ran_ns, lotteries, bound;
	struct lottery_state state;

	lottery_read(&state);
	lotteries = (double)ran_ns / (double)state.tick_ns;
	bound = LOTTERY_SIGMAS * sqrt(due * (1 - due) / lotteries) + theatre.slack;
	ktap_note(t->ktap, "actor %u: %.1f %% of the time, due %.1f, bound %.1f", i,
		  100 * got, 100 * due, 100 * bound);
	expect_bound(t, fabs(got - due) <= bound, "actor %u has %.1f %%, wanted %.1f %%", i,
		     100 * got, 100 * due);
}

/* One window, or as many as it takes until one of them ran: how long all of them did. */
static u64 pass_window(struct stage *s)
{
	u64 ran_ns = 0, deadline = now_ns() + STAGE_WAIT_NS;
	unsigned int k;

	do {
		pass(s, theatre.window_ns);
		for (k = 0; k < s->crew.count; k++)
			ran_ns += s->ran_ns[k];
	} while (!ran_ns && now_ns() < deadline);
	return ran_ns;
}

void expect_share(struct ktap_case *t, struct stage *s, unsigned int i, u32 tickets,
		  u32 total)
{
	u64 ran_ns = pass_window(s);

	if (expect(t, ran_ns, "nobody ran"))
		expect_due(t, s, i, (double)tickets / total, ran_ns);
}

void expect_part_of_cpu(struct ktap_case *t, struct stage *s, unsigned int i, u32 tickets,
			u32 total)
{
	pass(s, theatre.window_ns);
	expect_due(t, s, i, (double)tickets / total, theatre.window_ns);
}
