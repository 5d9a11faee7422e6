/* SPDX-License-Identifier: GPL-2.0 */
/* torture.h - lottery-torture: everything that may happen to a task, at random. */
#ifndef LOTTERY_TORTURE_H
#define LOTTERY_TORTURE_H

#include <pthread.h>

#include "crew.h"
#include "ktap.h"
#include "random.h"
#include "types.h"

#define TORTURE_TASKS_MAX	256U
#define TORTURE_GROUPS		2U

/* To come to the start, to get ahead, to exit: far above what is needed. */
#define TORTURE_WAIT_NS		(120 * NSEC_PER_SEC)

/*
 * What the boss tells a worker to do next, in the mark of its slot; the worker
 * sets it to ORDER_NONE when that is done. Of the slot are also used: value,
 * the orders done, guard, those that went wrong, and resting, the worker's pid.
 */
enum order {
	ORDER_NONE,
	ORDER_FORK,		/* have a child that works a little */
	ORDER_EXEC,		/* become a new image of this program */
	ORDER_SLEEP,		/* many short sleeps */
	ORDER_LOCK,		/* take the priority inheritance mutex of all */
	ORDER_LEND,		/* lend to another worker, and sleep */
	ORDER_CURRENCY,		/* its process is one, with children */
	ORDER_EXIT,		/* the boss starts another one */
	ORDERS,
};

/* What the boss does. */
enum action {
	ACTION_SETATTR,
	ACTION_TICKETS,		/* the same policy, other tickets */
	ACTION_LEGACY,
	ACTION_NICE,
	ACTION_AFFINITY,
	ACTION_STOP,
	ACTION_CONT,
	ACTION_ORDER,
	ACTION_READ,
	ACTION_COOKIE,
	ACTIONS,
};

struct torture {
	u32 seconds;
	u32 tasks;
	u32 pause_us;			/* between two actions at most: the workers run */
	u64 operations;			/* to be done in that time; 0: as many as there are */
	u64 seed;
	bool hotplug;
	u64 mask;			/* all CPUs */
	char around[48];		/* the group that those of TORTURE_GROUPS are in */
	char group[TORTURE_GROUPS + 1][64];	/* the last one is the root */
	unsigned int groups;		/* 0: no cgroup2 */
	struct random random;
	struct crew crew;		/* its last slot is the mutex */
	u64 done[ACTIONS];		/* those that changed or read something */
	u64 wrong[ACTIONS];		/* failed with an errno that must not be */
	u64 restarts;
	u64 deaths;			/* workers that ended unasked or badly */
	int last_errno;
};

/* torture_worker.c */
CREW_FN(worker);
pthread_mutex_t *worker_mutex(struct crew *crew);
bool worker_mutex_init(struct crew *crew);

/*
 * What ORDER_EXEC execs: this program with TORTURE_RESUME, the descriptor of
 * the shared page, its number of slots and the slot of the worker.
 */
#define TORTURE_RESUME	"--resume-worker"
int worker_resume(char **argv);

/* torture_boss.c: act until @end_ns, or until all operations are done */
void boss_run(struct torture *x, u64 end_ns);
/* How many were done. */
u64 boss_operations(const struct torture *x);
/* Of SCHED_OTHER, which leaves the kernel's own threads their part, or lottery. */
void boss_calm(struct torture *x, bool lottery);
/* Start worker @i, for the first time or in the place of one that has ended. */
void boss_start(struct torture *x, unsigned int i);
/* Look after worker @i: restart it after ORDER_EXIT, count a death. */
void boss_look_after(struct torture *x, unsigned int i);
/* A child that lets no worker be real-time for long, until stopped. */
CREW_FN(calmer);

extern const char *const action_names[ACTIONS];

/* torture_group.c: a child that moves workers between cgroups until stopped */
CREW_FN(mover);
void groups_make(struct torture *x);
/* All workers back to the root, before the groups are removed. */
void groups_leave(const struct torture *x);
void groups_remove(const struct torture *x);

/* torture_plug.c: a child that takes CPUs offline and online until stopped */
CREW_FN(plugger);
/* The CPUs that can go offline. */
u64 plug_mask(u64 cpus);
void plug_online(u64 cpus);

#endif /* LOTTERY_TORTURE_H */
