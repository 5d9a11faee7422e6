/* SPDX-License-Identifier: GPL-2.0 */
/*
 * crew.h - a set of child processes that sleep until all of them have been
 * made what they shall be, and are then released at once.
 *
 *	crew_create(&crew, n);
 *	crew_fork(&crew, work, arg);	 n times
 *	crew_gather(&crew, timeout);	 all are asleep now
 *	lottery_join(crew.pid[i], ...);	 each
 *	crew_release(&crew);
 *	crew_reap(&crew, timeout);
 *	crew_destroy(&crew);
 *
 * Children die with the launcher.
 */
#ifndef LAB_CREW_H
#define LAB_CREW_H

#include <sys/types.h>

#include "types.h"

/* What a child and its launcher share; each child has a cache line. */
struct crew_slot {
	u32 rest;		/* the launcher asks the hog to sleep */
	u32 resting;		/* the hog is about to */
	u32 mark;		/* free for the experiment */
	u32 guard;		/* free for the experiment */
	u64 look_ns;		/* the hog's work_watch: the last look */
	u64 work_ns;		/* and its work until then */
	u64 finish_ns;		/* CLOCK_MONOTONIC */
	u64 rounds;		/* progress of any kind */
	u64 yield_ns;		/* run time after which the hog yields, 0: never */
	u64 value;		/* free for the experiment */
} __aligned(64);

struct crew_page {
	u32 arrived;		/* how many children wait for the release */
	u32 go;
	u32 stop;		/* all children exit */
	struct crew_slot slot[];
};

struct crew {
	struct crew_page *page;
	size_t size;
	int fd;			/* of the page, inherited through exec */
	unsigned int room;
	unsigned int count;	/* forked so far */
	u64 release_ns;
	pid_t *pid;		/* 0 once reaped */
};

/* In a child: returns its exit code. */
#define CREW_FN(name)	int name(struct crew *crew, unsigned int i, const void *arg)

/* In a child of @parent: be killed when that dies, or now if it has died. */
void die_with_parent(pid_t parent);

/* fork() whose child dies with the caller; exits with EXIT_FAILED when it fails. */
pid_t fork_child(void);

/* Exits with EXIT_FAILED when there is no memory. */
void crew_create(struct crew *crew, unsigned int room);

/* Map the page of another process's crew after exec; false when @fd is not one. */
bool crew_attach(struct crew *crew, int fd, unsigned int room);

/*
 * Start the next child, which waits for the release and then runs @fn. Returns
 * its index; exits with EXIT_FAILED when it cannot be started.
 */
unsigned int crew_fork(struct crew *crew, CREW_FN((*fn)), const void *arg);

/* Start a child in the place of child @i that was reaped; it does not wait. */
void crew_refork(struct crew *crew, unsigned int i, CREW_FN((*fn)), const void *arg);

/* Wait until all are asleep; exits with EXIT_FAILED when they are not. */
void crew_gather(struct crew *crew, u64 timeout_ns);

/* Wait until child @i sleeps; false when it does not after @timeout_ns. */
bool crew_asleep(struct crew *crew, unsigned int i, u64 timeout_ns);
/* Make child @i a lottery task; exits with EXIT_FAILED when that fails. */
void crew_enlist(struct crew *crew, unsigned int i, u32 tickets, u64 quantum_ns);

/* Wake all at once. */
void crew_release(struct crew *crew);

/*
 * Wait for one child, without being woken by the exits of others. Its wait
 * status, or -1 when it has not exited by @deadline_ns (CLOCK_MONOTONIC).
 */
int crew_wait(struct crew *crew, unsigned int i, u64 deadline_ns);

/* Wait for all; how many did not exit with 0 in time. */
unsigned int crew_reap(struct crew *crew, u64 timeout_ns);

/*
 * Wake all that rest, wait until all exit, and return how many did not exit
 * with 0 in time.
 */
unsigned int crew_stop(struct crew *crew, u64 timeout_ns);

/*
 * Kill and reap one child, or all that are left, and free everything. Exits with
 * EXIT_FAILED when a killed child does not end.
 */
void crew_kill(struct crew *crew, unsigned int i);
void crew_destroy(struct crew *crew);

/* The same for any child of the caller. */
int wait_child(pid_t pid, u64 deadline_ns);

/* Waiting on a word of memory shared between processes. */

/*
 * Sleep while *@word is @value; returns also early. @deadline_ns is of
 * CLOCK_MONOTONIC, 0 for none.
 */
void futex_wait(u32 *word, u32 value, u64 deadline_ns);

/* Wake all that wait on @word. */
void futex_wake(u32 *word);

/* Store and wake. */
void futex_set(u32 *word, u32 value);

/* Wait until *@word is @value; false when it is not by @deadline_ns. */
bool futex_await(u32 *word, u32 value, u64 deadline_ns);

static inline u32 load(const u32 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store(u32 *word, u32 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

static inline u64 load64(const u64 *word)
{
	return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

static inline void store64(u64 *word, u64 value)
{
	__atomic_store_n(word, value, __ATOMIC_RELEASE);
}

/* Children that want the CPU without end, and sleep while their slot's rest is 1. */

#define HOGS_MAX	64U

/* A piece of a hog's work; @slot is the hog's, whose free fields are for this. */
typedef void hog_piece(struct crew_slot *slot, void *arg);

/*
 * Work piece by piece without end, for the end of a CREW_FN. Keeps rounds (pieces that
 * are done), look_ns and work_ns of its slot up to date; rests while its slot's rest
 * is 1; yields whenever it has run for its slot's yield_ns, if that is not 0; returns
 * 0 when the page's stop is 1.
 */
int hog_work(struct crew *crew, unsigned int i, hog_piece *piece, void *arg);

/* A CREW_FN whose work is good for nothing, in pieces of a microsecond or so. */
CREW_FN(hog);

/*
 * Ask hog @i to sleep and wait until it does; false when it has not after
 * @timeout_ns. hog_wake() lets it go on.
 */
bool hog_rest(struct crew *crew, unsigned int i, u64 timeout_ns);
void hog_wake(struct crew *crew, unsigned int i);

/*
 * The CPU time of the hog with this pid and slot, @cpu_ns, and without the time
 * in which the machine stood still. Exact to a step while the hog is not running.
 */
u64 hog_work_ns(const struct crew_slot *slot, u64 cpu_ns);

/*
 * Start @hogs of them for the time of a measurement: as SCHED_OTHER or, if @tickets is
 * not 0, each as a lottery task with @tickets tickets; then the caller becomes SCHED_FIFO,
 * or it could not end them. Exits where the kernel refuses one of these.
 */
void hogs_start(struct crew *crew, u32 hogs, u32 tickets);
void hogs_stop(struct crew *crew);

#endif
