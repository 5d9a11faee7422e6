// SPDX-License-Identifier: GPL-2.0
/* torture_netpoll.c - livelock-torture: messages of the kernel leave by a port that is flooded. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "procfs.h"
#include "torture.h"
#include "tracefs.h"

#define TARGET		"/sys/kernel/config/netconsole/torture"
#define KMSG		"/dev/kmsg"
#define LIMIT		"queues/tx-0/byte_queue_limits/limit_max"

/* With its time it is longer than netconsole's 1000 bytes, and so leaves in two frames. */
#define MESSAGE_SIZE	1000
#define MESSAGES	4
#define CHANGES		3
/* A message leaves later where another CPU prints, and may find the first frame sent. */
#define ROUNDS_MAX	16
/* By then the port has sent what is not netpoll's. */
#define SENT_NS		(20 * NSEC_PER_SEC)
/*
 * After a poll or two for a message what was sent is cleaned. Where it is not, netpoll goes
 * on for a tick, and what it has left then keeps it from polling for a while.
 */
#define POLLS_MAX	3

#define INSTANCE	"livelock-torture"
#define EVENT		"events/napi/napi_poll/"
#define STATS_MAX	1024

/* Polls of netpoll are those that may not receive. */
void torture_netpoll_begin(void)
{
	tracefs_require();
	if (mkdir(TRACEFS "/instances/" INSTANCE, 0755) && errno != EEXIST)
		die(EXIT_FAILED, TRACEFS "/instances/" INSTANCE ": %s", strerror(errno));
	tracefs_write(INSTANCE, "buffer_size_kb", "16");
	tracefs_write(INSTANCE, EVENT "filter", "budget == 0");
	tracefs_write(INSTANCE, EVENT "enable", "1");
}

static u64 stat_of(const char *stats, const char *name)
{
	const char *line = strstr(stats, name);

	return line ? strtoull(line + strlen(name), NULL, 10) : 0;
}

static u64 netpoll_polls(const struct torture *t)
{
	char file[64], stats[STATS_MAX];
	unsigned int cpu;
	u64 polls = 0;

	for (cpu = 0; cpu < t->cpus; cpu++) {
		snprintf(file, sizeof(file), "per_cpu/cpu%u/stats", cpu);
		tracefs_read(INSTANCE, file, stats, sizeof(stats));
		polls += stat_of(stats, "entries:") + stat_of(stats, "overrun:");
	}
	return polls;
}

u64 torture_netpoll_end(const struct torture *t, u64 *most)
{
	u64 polls = netpoll_polls(t);

	rmdir(TRACEFS "/instances/" INSTANCE);
	*most = POLLS_MAX * t->messages;
	return polls;
}

/* They go out by the target in the caller's context, on any CPU. */
static void send_messages(void)
{
	char text[MESSAGE_SIZE];
	unsigned int i;

	memset(text, '.', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	for (i = 0; i < MESSAGES; i++) {
		int used = snprintf(text, sizeof(text), "<3>livelock-torture: %u ", i);

		text[used] = '.';
		if (write_text(KMSG, text))
			_exit(EXIT_FAILED);
	}
	_exit(EXIT_GOOD);
}

static int change_while_messages_leave(struct torture *t, struct nic *nic)
{
	pid_t parent = getpid(), pid = fork();
	int error = 0, status;
	unsigned int i;

	if (pid < 0)
		return -errno;
	if (!pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(EXIT_FAILED);
		send_messages();
	}
	for (i = 0; i < CHANGES && !error; i++)
		error = change_mode(t, nic);
	if (waitpid(pid, &status, 0) != pid)
		return -errno;
	t->messages += MESSAGES;
	return error ? error : status ? -EIO : 0;
}

static int configure(const struct torture *t, const struct nic *nic)
{
	u32 ip = torture_address((unsigned int)(nic - t->receiver));
	char local[16], remote[16];
	const char *const set[][2] = {
		{ TARGET "/dev_name", nic->name }, { TARGET "/local_ip", local },
		{ TARGET "/remote_ip", remote }, { TARGET "/enabled", "1" },
	};
	unsigned int i;
	int error = 0;

	snprintf(local, sizeof(local), "10.%u.0.%u", ip >> 16 & 255, ip & 255);
	snprintf(remote, sizeof(remote), "10.%u.0.1", ip >> 16 & 255);
	for (i = 0; i < ARRAY_SIZE(set) && !error; i++)
		error = write_text(set[i][0], set[i][1]);
	return error;
}

struct sent {
	const struct nic *nic;
	u64 packets;
};

static bool sends(void *arg)
{
	const struct sent *sent = arg;

	return nic_counter(sent->nic, "tx_packets") > sent->packets;
}

/* Frames of others leave again. */
static int wait_for_transmit(const struct nic *nic)
{
	struct sent sent = { nic, nic_counter(nic, "tx_packets") };

	return wait_until(sends, &sent, SENT_NS) ? 0 : -ETIMEDOUT;
}

/* Until netpoll has polled once: each time after that does no more than one round. */
static int change_until_polled(struct torture *t, struct nic *nic)
{
	unsigned int round;
	int error = 0;

	for (round = 0; round < ROUNDS_MAX && !error; round++) {
		error = change_while_messages_leave(t, nic);
		if (netpoll_polls(t))
			break;
	}
	return error;
}

/*
 * The queue takes one frame at a time, so that the second one of a message finds it stopped,
 * and netpoll polls until what was sent is cleaned.
 */
int change_netpoll(struct torture *t, struct nic *nic)
{
	int error, others;

	if (mkdir(TARGET, 0755))
		return -errno;
	error = nic_set(nic, LIMIT, "0");
	if (!error)
		error = configure(t, nic);
	if (!error) {
		error = change_until_polled(t, nic);
		others = write_text(TARGET "/enabled", "0");
		error = error ? error : others;
	}
	others = nic_set(nic, LIMIT, "max");
	if (rmdir(TARGET))
		return -errno;
	error = error ? error : others;
	return error ? error : wait_for_transmit(nic);
}
