// SPDX-License-Identifier: GPL-2.0
/* lottery_sched.c - the SCHED_LOTTERY ABI through the raw system calls. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "lottery_sched.h"

/* The kernel's sched_prio_to_weight, from nice -20 to 19. */
static const u32 nice_tickets[40] = {
	88761, 71755, 56483, 46273, 36291,
	29154, 23254, 18705, 14949, 11916,
	 9548,  7620,  6100,  4904,  3906,
	 3121,  2501,  1991,  1586,  1277,
	 1024,   820,   655,   526,   423,
	  335,   272,   215,   172,   137,
	  110,    87,    70,    56,    45,
	   36,    29,    23,    18,    15,
};

int attr_set(pid_t pid, const struct lottery_attr *attr)
{
	struct lottery_attr copy = *attr;	/* E2BIG writes to the size */

	return (int)syscall(SYS_sched_setattr, pid, &copy, 0);
}

int attr_get(pid_t pid, struct lottery_attr *attr)
{
	memset(attr, 0, sizeof(*attr));
	return (int)syscall(SYS_sched_getattr, pid, attr, sizeof(*attr), 0);
}

struct lottery_attr lottery_attr_of(u32 tickets, u64 quantum_ns, int nice)
{
	return (struct lottery_attr){
		.size = sizeof(struct lottery_attr),
		.sched_policy = SCHED_LOTTERY,
		.sched_nice = nice,
		.sched_runtime = quantum_ns,
		.sched_tickets = tickets,
	};
}

int lottery_join(pid_t pid, u32 tickets, u64 quantum_ns)
{
	struct lottery_attr attr;
	int nice;

	errno = 0;
	nice = getpriority(PRIO_PROCESS, (id_t)pid);
	if (nice == -1 && errno)
		return -1;
	attr = lottery_attr_of(tickets, quantum_ns, nice);
	return attr_set(pid, &attr);
}

u32 tickets_of_nice(int nice)
{
	if (nice < -20)
		nice = -20;
	if (nice > 19)
		nice = 19;
	return nice_tickets[nice + 20];
}

u32 tickets_of_task(pid_t pid)
{
	struct lottery_attr attr;

	if (attr_get(pid, &attr))
		return 0;
	if (attr.sched_policy == SCHED_LOTTERY && attr.sched_tickets)
		return attr.sched_tickets;
	return tickets_of_nice(attr.sched_nice);
}

const char *policy_name(unsigned int policy)
{
	switch (policy) {
	case SCHED_OTHER:
		return "SCHED_OTHER";
	case SCHED_FIFO:
		return "SCHED_FIFO";
	case SCHED_RR:
		return "SCHED_RR";
	case SCHED_BATCH:
		return "SCHED_BATCH";
	case SCHED_IDLE:
		return "SCHED_IDLE";
	case SCHED_DEADLINE:
		return "SCHED_DEADLINE";
	case SCHED_EXT:
		return "SCHED_EXT";
	case SCHED_LOTTERY:
		return "SCHED_LOTTERY";
	default:
		return NULL;
	}
}

int lottery_probe(void)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		return errno;
	if (!child)
		_exit(lottery_join(0, 0, 0) ? errno : 0);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return errno;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
}

void lottery_require(void)
{
	int error = lottery_probe();

	if (error == EINVAL)
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	if (error == EPERM)
		die(EXIT_FAILED, LOTTERY_DENIED);
	if (error)
		die(EXIT_FAILED, "cannot try SCHED_LOTTERY: %s", strerror(error));
}

void become_launcher(int priority)
{
	struct sched_param param = { .sched_priority = priority };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		die(EXIT_FAILED, "cannot become SCHED_FIFO: %s", strerror(errno));
}
