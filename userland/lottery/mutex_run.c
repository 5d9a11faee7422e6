// SPDX-License-Identifier: GPL-2.0
/* mutex_run.c - lottery-mutex: the tasks, and what each notes while it has the mutex. */
#include <string.h>

#include "clock.h"
#include "crew.h"
#include "lottery_sched.h"
#include "memory.h"
#include "mutex.h"
#include "work.h"

/* To start and to end: far above what a slow machine needs. */
#define WAIT_NS		(60 * NSEC_PER_SEC)

const char *const mutex_kinds[] = { "user", "pthread", NULL };
const char *const mutex_policies[] = { "lottery", "other", NULL };

struct job {
	const struct contest *contest;
	struct arena *arena;
};

static void make_plain(pthread_mutex_t *mutex)
{
	pthread_mutexattr_t attr;
	int error = pthread_mutexattr_init(&attr);

	error = error ? error : pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED);
	error = error ? error : pthread_mutex_init(mutex, &attr);
	if (error)
		die(EXIT_FAILED, "no mutex: %s", strerror(error));
}

/* True when it was won in a draw. */
static bool acquire(const struct job *job, u32 task, u32 tickets)
{
	int error;

	if (job->contest->kind == MUTEX_USER)
		return lottery_mutex_lock(job->arena->lottery, task, tickets);
	error = pthread_mutex_lock(&job->arena->plain);
	if (error)
		die(EXIT_FAILED, "cannot lock: %s", strerror(error));
	return false;
}

static void release(const struct job *job)
{
	if (job->contest->kind == MUTEX_USER)
		lottery_mutex_unlock(job->arena->lottery);
	else
		pthread_mutex_unlock(&job->arena->plain);
}

static u32 tickets_of(const struct contest *c, u32 task)
{
	return c->tickets[group_of(c, task)];
}

static void expect_win(struct tally *t, double p)
{
	t->expected += p;
	t->variance += p * (1 - p);
}

/* @winner has won a draw: what were the chances of all that took part? */
static void note_draw(const struct job *job, u32 winner)
{
	const struct contest *c = job->contest;
	const struct lottery_mutex *m = job->arena->lottery;
	u64 total = tickets_of(c, winner), of_group[MUTEX_GROUPS_MAX] = { 0 };
	u32 i, first = lottery_mutex_first_loser(m);

	of_group[group_of(c, winner)] = total;
	for (i = first; i != LOTTERY_MUTEX_NOBODY; i = lottery_mutex_next_loser(m, i)) {
		of_group[group_of(c, i)] += tickets_of(c, i);
		total += tickets_of(c, i);
	}
	expect_win(&job->arena->task[winner], tickets_of(c, winner) / (double)total);
	for (i = first; i != LOTTERY_MUTEX_NOBODY; i = lottery_mutex_next_loser(m, i))
		expect_win(&job->arena->task[i], tickets_of(c, i) / (double)total);
	for (i = 0; i < c->groups; i++)
		expect_win(&job->arena->group[i], (double)of_group[i] / (double)total);
}

static void note_one(struct tally *t, u64 wait_ns, bool won)
{
	t->acquired++;
	t->won += won;
	t->wait_ns += wait_ns;
	if (wait_ns > t->longest_ns)
		t->longest_ns = wait_ns;
}

static void note(const struct job *job, u32 task, u64 wait_ns, bool won)
{
	if (won)
		note_draw(job, task);
	note_one(&job->arena->task[task], wait_ns, won);
	note_one(&job->arena->group[group_of(job->contest, task)], wait_ns, won);
}

/* Once round; false when it is time to end. */
static bool take_part(const struct job *job, struct crew *crew, u32 task, u32 tickets)
{
	u64 begin = now_ns(), held;
	bool won = acquire(job, task, tickets), on = !load(&crew->page->stop);

	if (on) {
		note(job, task, now_ns() - begin, won);
		/* whoever else has the mutex meanwhile is not counted, or this one is not */
		held = load64(&job->arena->held);
		work_for_ns(job->contest->hold_ns);
		store64(&job->arena->held, held + 1);
	}
	release(job);
	if (on)
		work_for_ns(job->contest->compute_ns);
	return on;
}

static CREW_FN(contend)
{
	const struct job *job = arg;
	u32 tickets = tickets_of(job->contest, i);

	/* as any program would that knows nothing of the experiment */
	if (job->contest->policy == MUTEX_POLICY_LOTTERY)
		tickets = tickets_of_task(0);
	while (take_part(job, crew, i, tickets))
		continue;
	return 0;
}

void contest_run(const struct contest *c, struct arena *arena)
{
	struct job job = { .contest = c, .arena = arena };
	unsigned int i, lost;
	struct crew crew;

	make_plain(&arena->plain);
	arena->lottery = xshared(lottery_mutex_size(c->tasks));
	lottery_mutex_init(arena->lottery, c->tasks, now_ns());
	crew_create(&crew, c->tasks);
	for (i = 0; i < c->tasks; i++)
		crew_fork(&crew, contend, &job);
	crew_gather(&crew, WAIT_NS);
	for (i = 0; c->policy == MUTEX_POLICY_LOTTERY && i < c->tasks; i++)
		crew_enlist(&crew, i, tickets_of(c, i), 0);
	crew_release(&crew);
	sleep_until_ns(crew.release_ns + c->seconds * NSEC_PER_SEC);
	lost = crew_stop(&crew, WAIT_NS);
	crew_destroy(&crew);
	if (lost)
		die(EXIT_FAILED, "%u of %u tasks did not end", lost, c->tasks);
}
