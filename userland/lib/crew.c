// SPDX-License-Identifier: GPL-2.0
/* crew.c - children that sleep until all of them are released at once. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
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
#include "procfs.h"
#include "lottery_sched.h"

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
