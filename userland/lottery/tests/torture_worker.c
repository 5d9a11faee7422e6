// SPDX-License-Identifier: GPL-2.0
/* torture_worker.c - lottery-torture: a hog that does what it is told to. */
#include <errno.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "torture.h"

#define CHILD_WORK_NS	(2 * NSEC_PER_MSEC)
#define LOCK_WORK_NS	(100 * NSEC_PER_USEC)
#define SLEEPS		20U
#define SLEEP_NS	(200 * NSEC_PER_USEC)

pthread_mutex_t *worker_mutex(struct crew *crew)
{
	static_assert(sizeof(pthread_mutex_t) <= sizeof(struct crew_slot),
		      "the mutex takes a slot");
	return (pthread_mutex_t *)&crew->page->slot[crew->room - 1];
}

bool worker_mutex_init(struct crew *crew)
{
	pthread_mutexattr_t attr;

	return !pthread_mutexattr_init(&attr) &&
	       !pthread_mutexattr_setpshared(&attr, PTHREAD_PROCESS_SHARED) &&
	       !pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT) &&
	       !pthread_mutex_init(worker_mutex(crew), &attr);
}

static bool have_child(void)
{
	pid_t self = getpid(), pid = fork();
	int status;

	if (!pid) {
		die_with_parent(self);
		work_for_ns(CHILD_WORK_NS);
		_exit(0);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

/* Returns only when it fails. */
static bool exec_again(struct crew *crew, unsigned int i)
{
	char fd[16], room[16], slot[16];

	snprintf(fd, sizeof(fd), "%d", crew->fd);
	snprintf(room, sizeof(room), "%u", crew->room);
	snprintf(slot, sizeof(slot), "%u", i);
	execl("/proc/self/exe", "lottery-torture", TORTURE_RESUME, fd, room, slot, NULL);
	return false;
}

static bool sleep_often(void)
{
	unsigned int i;

	for (i = 0; i < SLEEPS; i++) {
		sleep_until_ns(now_ns() + SLEEP_NS);
		spin_a_little();
	}
	return true;
}

static bool lock_and_work(struct crew *crew)
{
	pthread_mutex_t *mutex = worker_mutex(crew);

	if (pthread_mutex_lock(mutex))
		return false;
	work_for_ns(LOCK_WORK_NS);
	return !pthread_mutex_unlock(mutex);
}

/* One out of the loans that there can be; not all are allowed, and not all end. */
static bool lend_and_sleep(struct crew *crew, unsigned int i)
{
	u64 die = crew->page->slot[i].rounds;
	unsigned int other = (unsigned int)(die % (crew->room - 1));
	struct loan_ask ask = {
		.pid = (s32)load(&crew->page->slot[other].resting),
		.tickets = die % 3 ? 0 : 100,
		.flags = die % 2 ? LOAN_KEEP : 0,
		.timeout_ns = die % 5 ? 0 : NSEC_PER_MSEC,
	};

	if (loan_make(&ask) && errno == ENOSPC && loan_end(0))
		return false;
	return sleep_often();
}

/* Backed by another number each time, also where a child has it from its parent. */
static bool share_with_child(struct crew *crew, unsigned int i)
{
	return !currency_make(1 + (u32)(crew->page->slot[i].rounds % 1000)) && have_child();
}

static bool obey(struct crew *crew, unsigned int i, enum order order)
{
	switch (order) {
	case ORDER_FORK:
		return have_child();
	case ORDER_EXEC:
		return exec_again(crew, i);
	case ORDER_SLEEP:
		return sleep_often();
	case ORDER_LOCK:
		return lock_and_work(crew);
	case ORDER_LEND:
		return lend_and_sleep(crew, i);
	case ORDER_CURRENCY:
		return share_with_child(crew, i);
	default:
		return false;
	}
}

static void finish_order(struct crew_slot *slot, bool good)
{
	store64(&slot->value, slot->value + 1);
	if (!good)
		store(&slot->guard, slot->guard + 1);
	store(&slot->mark, ORDER_NONE);
}

CREW_FN(worker)
{
	struct crew_slot *slot = &crew->page->slot[i];

	(void)arg;
	while (!load(&crew->page->stop)) {
		enum order order = load(&slot->mark);

		spin_a_little();
		store64(&slot->rounds, slot->rounds + 1);
		if (order == ORDER_EXIT)
			return 0;
		if (order != ORDER_NONE)
			finish_order(slot, obey(crew, i, order));
	}
	return 0;
}

int worker_resume(char **argv)
{
	unsigned int room, i;
	struct crew crew;
	int fd;

	fd = (int)args_number(TORTURE_RESUME, argv[2], 0, 1 << 20);
	room = (unsigned int)args_number(TORTURE_RESUME, argv[3], 2, TORTURE_TASKS_MAX + 1);
	i = (unsigned int)args_number(TORTURE_RESUME, argv[4], 0, room - 2);
	if (!crew_attach(&crew, fd, room))
		die(EXIT_USAGE, "%s: no shared page: it is for lottery-torture itself",
		    TORTURE_RESUME);
	finish_order(&crew.page->slot[i], true);
	return worker(&crew, i, NULL);
}
