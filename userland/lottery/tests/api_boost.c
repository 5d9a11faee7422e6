// SPDX-License-Identifier: GPL-2.0
/*
 * api_boost.c - lottery-api: a lottery task that holds a priority inheritance
 * mutex runs at the priority of a real-time waiter, and is a lottery task again
 * when it lets go.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>

#include "api.h"
#include "args.h"
#include "clock.h"
#include "procfs.h"
#include "work.h"

#define WAITER_PRIORITY	20

/* What /proc/PID/stat shows for that priority. */
#define BOOSTED		(-1 - WAITER_PRIORITY)

#define TICKETS		321
#define NEW_TICKETS	654

enum role {
	OWNER,
	WAITER,
	ROLES,
};

/* The marks of both. */
enum mark {
	MARK_BEGIN = 1,		/* owner: has the mutex; waiter: about to ask */
	MARK_DONE = 2,		/* owner: has let go; waiter: has got it */
};

struct boost {
	struct crew crew;
	struct crew memory;	/* the mutex is behind its slots' start */
	pthread_mutex_t *mutex;
	u64 others;		/* tickets in the pools before */
};

/* Holds the mutex, runnable all the time, until its guard is 1. */
static CREW_FN(own)
{
	const struct boost *b = arg;
	struct crew_slot *slot = &crew->page->slot[i];

	if (pthread_mutex_lock(b->mutex))
		return EXIT_FAILED;
	futex_set(&slot->mark, MARK_BEGIN);
	while (!load(&slot->guard))
		spin_a_little();
	if (pthread_mutex_unlock(b->mutex))
		return EXIT_FAILED;
	futex_set(&slot->mark, MARK_DONE);
	while (!load(&crew->page->stop))
		spin_a_little();
	return 0;
}

/* Asks for the mutex when its guard is 1. */
static CREW_FN(want)
{
	const struct boost *b = arg;
	struct crew_slot *slot = &crew->page->slot[i];

	futex_await(&slot->guard, 1, 0);
	futex_set(&slot->mark, MARK_BEGIN);
	if (pthread_mutex_lock(b->mutex))
		return EXIT_FAILED;
	pthread_mutex_unlock(b->mutex);
	futex_set(&slot->mark, MARK_DONE);
	return 0;
}

static bool make_mutex(struct boost *b)
{
	pthread_mutexattr_t attr;

	crew_create(&b->memory, sizeof(*b->mutex) / sizeof(struct crew_slot) + 1);
	b->mutex = (pthread_mutex_t *)b->memory.page->slot;
	return !pthread_mutexattr_init(&attr) &&
	       !pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) &&
	       !pthread_mutex_init(b->mutex, &attr);
}

static bool await_mark(struct boost *b, enum role who, enum mark mark)
{
	return futex_await(&b->crew.page->slot[who].mark, mark, now_ns() + API_WAIT_NS);
}

static u64 tickets_added(const struct boost *b)
{
	return tickets_in_pools() - b->others;
}

/* The owner holds the mutex and is in the pool. */
static bool begin(struct ktap_case *t, struct boost *b)
{
	struct sched_param param = { .sched_priority = WAITER_PRIORITY };

	if (!make_mutex(b)) {
		skip_test(t, "no priority inheritance mutex");
		crew_destroy(&b->memory);
		return false;
	}
	crew_create(&b->crew, ROLES);
	crew_fork(&b->crew, own, b);
	crew_fork(&b->crew, want, b);
	crew_gather(&b->crew, API_WAIT_NS);
	b->others = 0;
	b->others = tickets_added(b);
	crew_enlist(&b->crew, OWNER, TICKETS, 0);
	expect(t, !sched_setscheduler(b->crew.pid[WAITER], SCHED_FIFO, &param),
	       "the waiter cannot become SCHED_FIFO: %s", strerror(errno));
	crew_release(&b->crew);
	expect(t, await_mark(b, OWNER, MARK_BEGIN), "the owner did not get the mutex");
	expect(t, tickets_added(b) == TICKETS, "%llu tickets in the pools, wanted %u",
	       tickets_added(b), TICKETS);
	return true;
}

static void end(struct ktap_case *t, struct boost *b)
{
	expect(t, !crew_stop(&b->crew, API_WAIT_NS), "owner or waiter did not exit well");
	crew_destroy(&b->crew);
	crew_destroy(&b->memory);
	await_pools(b->others);
}

static bool is_boosted(void *arg)
{
	struct task_stat stat;

	return !read_task_stat(*(pid_t *)arg, &stat) && stat.priority == BOOSTED;
}

/* Let the waiter wait; the owner must leave the pool with its tickets kept. */
static void boost(struct ktap_case *t, struct boost *b)
{
	pid_t owner = b->crew.pid[OWNER];

	futex_set(&b->crew.page->slot[WAITER].guard, 1);
	expect(t, await_mark(b, WAITER, MARK_BEGIN), "the waiter did not start");
	expect(t, wait_until(is_boosted, &owner, API_WAIT_NS), "the owner is not boosted");
	expect(t, !tickets_added(b), "%llu tickets in the pools while boosted, wanted 0",
	       tickets_added(b));
	expect_lottery(t, owner, TICKETS, 0);
}

/* Let the owner let go; it must be in the pool again, with @tickets. */
static void deboost(struct ktap_case *t, struct boost *b, u32 tickets)
{
	pid_t owner = b->crew.pid[OWNER];
	struct task_stat stat = { };

	store(&b->crew.page->slot[OWNER].guard, 1);
	expect(t, await_mark(b, WAITER, MARK_DONE), "the waiter did not get the mutex");
	expect(t, await_mark(b, OWNER, MARK_DONE), "the owner did not go on");
	expect(t, !read_task_stat(owner, &stat) && stat.priority >= 0,
	       "the owner has still the priority %ld", stat.priority);
	expect(t, tickets_added(b) == tickets, "%llu tickets in the pools, wanted %u",
	       tickets_added(b), tickets);
	expect_lottery(t, owner, tickets, 0);
}

void api_boost(struct ktap_case *t)
{
	struct boost b;

	if (!begin(t, &b))
		return;
	boost(t, &b);
	deboost(t, &b, TICKETS);
	end(t, &b);
}

void api_boost_and_change(struct ktap_case *t)
{
	struct boost b;

	if (!begin(t, &b))
		return;
	boost(t, &b);
	crew_enlist(&b.crew, OWNER, NEW_TICKETS, 0);
	expect_lottery(t, b.crew.pid[OWNER], NEW_TICKETS, 0);
	expect(t, is_boosted(&b.crew.pid[OWNER]), "the change has ended the boost");
	expect(t, !tickets_added(&b), "%llu tickets in the pools while boosted, wanted 0",
	       tickets_added(&b));
	deboost(t, &b, NEW_TICKETS);
	end(t, &b);
}
