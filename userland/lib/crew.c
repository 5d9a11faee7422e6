// SPDX-License-Identifier: GPL-2.0
/* crew.c - children that sleep until all of them are released at once. */
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "lottery_sched.h"
#include "procfs.h"

/* A killed task that is still there after this was lost by the scheduler. */
#define KILL_NS		(60 * NSEC_PER_SEC)

static size_t page_size_of(unsigned int room)
{
	return sizeof(struct crew_page) + room * sizeof(struct crew_slot);
}

static bool map_page(struct crew *crew)
{
	void *page = mmap(NULL, crew->size, PROT_READ | PROT_WRITE, MAP_SHARED,
			  crew->fd, 0);

	crew->page = page == MAP_FAILED ? NULL : page;
	return crew->page;
}

void crew_create(struct crew *crew, unsigned int room)
{
	*crew = (struct crew){ .room = room, .size = page_size_of(room) };
	crew->pid = calloc(room, sizeof(*crew->pid));
	crew->fd = memfd_create("crew", 0);
	if (!crew->pid || crew->fd < 0 ||
	    ftruncate(crew->fd, (off_t)crew->size) || !map_page(crew))
		die(EXIT_FAILED, "no memory for %u tasks: %s", room, strerror(errno));
}

bool crew_attach(struct crew *crew, int fd, unsigned int room)
{
	*crew = (struct crew){ .room = room, .size = page_size_of(room), .fd = fd };
	return map_page(crew);
}

void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(EXIT_FAILED);
}

pid_t fork_child(void)
{
	pid_t launcher = getpid(), pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die(EXIT_FAILED, "cannot start a process: %s", strerror(errno));
	if (!pid)
		die_with_parent(launcher);
	return pid;
}

static void await_release(struct crew_page *page)
{
	__atomic_add_fetch(&page->arrived, 1, __ATOMIC_ACQ_REL);
	futex_wake(&page->arrived);
	futex_await(&page->go, 1, 0);
}

static void launch(struct crew *crew, unsigned int i, CREW_FN((*fn)), const void *arg,
		   bool wait)
{
	pid_t pid = fork_child();

	if (!pid) {
		if (wait)
			await_release(crew->page);
		_exit(fn(crew, i, arg));
	}
	crew->pid[i] = pid;
}

unsigned int crew_fork(struct crew *crew, CREW_FN((*fn)), const void *arg)
{
	launch(crew, crew->count, fn, arg, true);
	return crew->count++;
}

void crew_refork(struct crew *crew, unsigned int i, CREW_FN((*fn)), const void *arg)
{
	launch(crew, i, fn, arg, false);
}

static bool is_asleep(void *arg)
{
	return task_asleep(*(pid_t *)arg);
}

bool crew_asleep(struct crew *crew, unsigned int i, u64 timeout_ns)
{
	return wait_until(is_asleep, &crew->pid[i], timeout_ns);
}

void crew_gather(struct crew *crew, u64 timeout_ns)
{
	u64 deadline = now_ns() + timeout_ns;
	unsigned int i;

	if (!futex_await(&crew->page->arrived, crew->count, deadline))
		die(EXIT_FAILED, "only %u of %u tasks came to the start",
		    load(&crew->page->arrived), crew->count);
	for (i = 0; i < crew->count; i++)
		if (!crew_asleep(crew, i, timeout_ns))
			die(EXIT_FAILED, "task %u (pid %d) does not sleep",
			    i + 1, crew->pid[i]);
}

void crew_enlist(struct crew *crew, unsigned int i, u32 tickets, u64 quantum_ns)
{
	if (lottery_join(crew->pid[i], tickets, quantum_ns))
		die(EXIT_FAILED, "cannot give task %u (pid %d) %u tickets: %s",
		    i + 1, crew->pid[i], tickets, strerror(errno));
}

void crew_release(struct crew *crew)
{
	crew->release_ns = now_ns();
	futex_set(&crew->page->go, 1);
}

static void await_exit(pid_t pid, u64 deadline_ns)
{
	struct pollfd poll_fd = { .events = POLLIN };
	u64 now;

	poll_fd.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (poll_fd.fd < 0)
		return;
	while ((now = now_ns()) < deadline_ns) {
		u64 left_ms = (deadline_ns - now) / NSEC_PER_MSEC + 1;

		if (poll(&poll_fd, 1, left_ms > INT_MAX ? INT_MAX : (int)left_ms) > 0)
			break;
	}
	close(poll_fd.fd);
}

int wait_child(pid_t pid, u64 deadline_ns)
{
	int status;

	await_exit(pid, deadline_ns);
	if (waitpid(pid, &status, WNOHANG) != pid)
		return -1;
	return status;
}

int crew_wait(struct crew *crew, unsigned int i, u64 deadline_ns)
{
	int status = wait_child(crew->pid[i], deadline_ns);

	if (status != -1)
		crew->pid[i] = 0;
	return status;
}

unsigned int crew_reap(struct crew *crew, u64 timeout_ns)
{
	u64 deadline = now_ns() + timeout_ns;
	unsigned int i, bad = 0;

	for (i = 0; i < crew->count; i++)
		if (crew->pid[i] && crew_wait(crew, i, deadline))
			bad++;
	return bad;
}

unsigned int crew_stop(struct crew *crew, u64 timeout_ns)
{
	unsigned int i;

	store(&crew->page->stop, 1);
	for (i = 0; i < crew->count; i++)
		futex_set(&crew->page->slot[i].rest, 0);
	return crew_reap(crew, timeout_ns);
}

void crew_kill(struct crew *crew, unsigned int i)
{
	pid_t pid = crew->pid[i];

	if (!pid)
		return;
	kill(pid, SIGKILL);
	if (crew_wait(crew, i, now_ns() + KILL_NS) == -1)
		die(EXIT_FAILED, "task %u (pid %d) was killed and does not end", i + 1, pid);
}

void crew_destroy(struct crew *crew)
{
	unsigned int i;

	/* all at once: one after the other they would run on meanwhile */
	for (i = 0; i < crew->count; i++)
		if (crew->pid[i])
			kill(crew->pid[i], SIGKILL);
	for (i = 0; i < crew->count; i++)
		crew_kill(crew, i);
	munmap(crew->page, crew->size);
	close(crew->fd);
	free(crew->pid);
}

/* Waiting on a word of memory shared between processes. */

void futex_wait(u32 *word, u32 value, u64 deadline_ns)
{
	struct timespec deadline = timespec_of(deadline_ns);

	/* The bitset form is the one with an absolute time. */
	syscall(SYS_futex, word, FUTEX_WAIT_BITSET, value,
		deadline_ns ? &deadline : NULL, NULL, FUTEX_BITSET_MATCH_ANY);
}

void futex_wake(u32 *word)
{
	syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void futex_set(u32 *word, u32 value)
{
	store(word, value);
	futex_wake(word);
}

bool futex_await(u32 *word, u32 value, u64 deadline_ns)
{
	u32 seen;

	while ((seen = load(word)) != value) {
		if (deadline_ns && now_ns() >= deadline_ns)
			return false;
		futex_wait(word, seen, deadline_ns);
	}
	return true;
}

/* Children that want the CPU without end, and sleep while their slot's rest is 1. */

#define START_NS	(60 * NSEC_PER_SEC)

static void rest(struct crew_slot *slot)
{
	futex_set(&slot->resting, 1);
	futex_await(&slot->rest, 0, 0);
	store(&slot->resting, 0);
}

int hog_work(struct crew *crew, unsigned int i, hog_piece *piece, void *arg)
{
	struct crew_slot *slot = &crew->page->slot[i];
	struct work_watch watch;
	u64 yielded = 0;

	work_begin(&watch);
	while (!load(&crew->page->stop)) {
		if (load(&slot->rest)) {
			rest(slot);
			continue;
		}
		piece(slot, arg);
		work_look(&watch);
		/* in this order: seen between the two, it is a step short */
		store64(&slot->look_ns, watch.look_ns);
		store64(&slot->work_ns, watch.work_ns);
		store64(&slot->rounds, slot->rounds + 1);
		if (load64(&slot->yield_ns) &&
		    watch.look_ns - yielded >= load64(&slot->yield_ns)) {
			sched_yield();
			yielded = watch.look_ns;
		}
	}
	return 0;
}

static void spin(struct crew_slot *slot, void *arg)
{
	(void)slot;
	(void)arg;
	spin_a_little();
}

CREW_FN(hog)
{
	(void)arg;
	return hog_work(crew, i, spin, NULL);
}

bool hog_rest(struct crew *crew, unsigned int i, u64 timeout_ns)
{
	struct crew_slot *slot = &crew->page->slot[i];
	u64 deadline = now_ns() + timeout_ns;

	store(&slot->rest, 1);
	return futex_await(&slot->resting, 1, deadline) &&
	       crew_asleep(crew, i, timeout_ns);
}

void hog_wake(struct crew *crew, unsigned int i)
{
	futex_set(&crew->page->slot[i].rest, 0);
}

u64 hog_work_ns(const struct crew_slot *slot, u64 cpu_ns)
{
	u64 work = load64(&slot->work_ns), look = load64(&slot->look_ns);

	return work + work_of_step(cpu_ns > look ? cpu_ns - look : 0);
}

void hogs_start(struct crew *crew, u32 hogs, u32 tickets)
{
	u32 i;

	*crew = (struct crew){ 0 };
	if (!hogs)
		return;
	if (tickets) {
		lottery_require();
		become_launcher(LAUNCHER_PRIORITY);
	}
	crew_create(crew, hogs);
	for (i = 0; i < hogs; i++)
		crew_fork(crew, hog, NULL);
	crew_gather(crew, START_NS);
	for (i = 0; tickets && i < hogs; i++)
		crew_enlist(crew, i, tickets, 0);
	crew_release(crew);
}

void hogs_stop(struct crew *crew)
{
	if (crew->page)
		crew_destroy(crew);
}
