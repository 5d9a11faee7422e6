// SPDX-License-Identifier: GPL-2.0
/* container_net.c - the networks of two containers, and the veth pair between them. */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "container_net.h"
#include "crew.h"

#define PATIENCE_NS	(60 * NSEC_PER_SEC)
#define NETWORK		"10.213.47"	/* of the veth pair alone */
#define PORT		5599

void start_network(struct container *one)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	one->holder = fork_child();
	if (!one->holder) {
		close(ready[0]);
		if (unshare(CLONE_NEWNET))
			_exit(EXIT_FAILED);
		if (write(ready[1], "x", 1) != 1)
			_exit(EXIT_FAILED);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die(EXIT_FAILED, "cannot make a network namespace");
	close(ready[0]);
	one->network = one->holder;
}

void stop_network(struct container *one)
{
	if (!one->holder)
		return;
	kill(one->holder, SIGKILL);
	wait_child(one->holder, now_ns() + PATIENCE_NS);
	one->holder = 0;
}

static bool give_address(pid_t network, unsigned int side)
{
	char address[32], device[16];
	pid_t pid = fork();
	char path[64];
	int status, fd;

	if (pid < 0)
		return false;
	if (pid) {
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				return false;
		return !status;
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/net", network);
	snprintf(address, sizeof(address), NETWORK ".%u/30", side + 1);
	snprintf(device, sizeof(device), "ipclat%u", side);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	_exit(fd < 0 || setns(fd, CLONE_NEWNET) || call("ip", "link", "set", "lo", "up", NULL) ||
	      call("ip", "address", "add", address, "dev", device, NULL) ||
	      call("ip", "link", "set", device, "up", NULL));
}

void join_networks(const struct containers *c)
{
	pid_t sender = c->side[SENDER].network, receiver = c->side[RECEIVER].network;
	char at[SIDES][16];

	snprintf(at[SENDER], sizeof(at[SENDER]), "%d", sender);
	snprintf(at[RECEIVER], sizeof(at[RECEIVER]), "%d", receiver);
	if (call("ip", "link", "add", "ipclat0", "netns", at[SENDER], "type", "veth", "peer",
		 "name", "ipclat1", "netns", at[RECEIVER], NULL) ||
	    !give_address(sender, SENDER) || !give_address(receiver, RECEIVER))
		die(EXIT_FAILED, "cannot join the containers' networks");
	snprintf(c->page->endpoint, sizeof(c->page->endpoint), "tcp://" NETWORK ".%d:%d",
		 RECEIVER + 1, PORT);
}
