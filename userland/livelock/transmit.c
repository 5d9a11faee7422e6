// SPDX-License-Identifier: GPL-2.0
/* transmit.c - a process that sends frames out of cards, whatever becomes of these. */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "transmit.h"

#define ETHERTYPE	0x88b5	/* for local experiments, IEEE 802 */
#define FRAME_SIZE	64
#define PAUSE_NS	NSEC_PER_MSEC

/* An interface that is down, or away with its driver, takes none: it may the next time. */
static void transmit(int fd, const struct nic *nic, u64 *sent)
{
	static const u8 frame[FRAME_SIZE];
	struct sockaddr_ll to = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETHERTYPE),
		.sll_ifindex = (int)if_nametoindex(nic->name),
		.sll_halen = 6,
	};

	memset(to.sll_addr, 0xff, 6);
	if (sendto(fd, frame, sizeof(frame), MSG_DONTWAIT, (struct sockaddr *)&to,
		   sizeof(to)) > 0)
		__atomic_add_fetch(sent, 1, __ATOMIC_RELAXED);
}

static void run(int fd, const struct nic *nics, unsigned int count, u64 *sent)
{
	u64 next = now_ns();
	unsigned int i;

	for (;;) {
		for (i = 0; i < count; i++)
			transmit(fd, &nics[i], sent);
		next += PAUSE_NS;
		sleep_until_ns(next);
		if (now_ns() > next + NSEC_PER_SEC)
			next = now_ns();
	}
}

void transmit_start(struct transmit *t, const struct nic *nics, unsigned int count)
{
	int fd = socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	pid_t parent = getpid();

	if (fd < 0)
		die(EXIT_FAILED, "packet socket: %s", strerror(errno));
	t->sent = mmap(NULL, sizeof(*t->sent), PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (t->sent == MAP_FAILED)
		die(EXIT_FAILED, "memory: %s", strerror(errno));
	t->pid = fork();
	if (t->pid < 0)
		die(EXIT_FAILED, "fork: %s", strerror(errno));
	if (!t->pid) {
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
			_exit(EXIT_FAILED);
		prctl(PR_SET_NAME, "sender");
		run(fd, nics, count, t->sent);
	}
	close(fd);
}

u64 transmit_stop(struct transmit *t)
{
	u64 sent;

	kill(t->pid, SIGKILL);
	waitpid(t->pid, NULL, 0);
	sent = __atomic_load_n(t->sent, __ATOMIC_RELAXED);
	munmap(t->sent, sizeof(*t->sent));
	return sent;
}
