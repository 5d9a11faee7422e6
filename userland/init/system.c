// SPDX-License-Identifier: GPL-2.0
/* The machine around the plan: boot words, loopback, power */
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <unistd.h>

#include "init.h"
#include "procfs.h"

/*
 * Through /dev/kmsg a line is one record: it can neither tear a kernel message
 * nor be torn, and its order among the kernel's own is exact, so that a splat
 * between "lab: begin NAME" and "lab: end NAME" belongs to NAME.
 */
void system_log_open(void)
{
	int kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (kmsg < 0)
		return;
	dup2(kmsg, STDERR_FILENO);
	close(kmsg);
}

/* Is @word one of the blank-separated words of the kernel command line? */
bool cmdline_has(const char *word)
{
	static const char blanks[] = { ' ', '\n', '\0' };
	bool found = false;
	char text[4096];
	char *save;

	if (read_text("/proc/cmdline", text, sizeof(text)) < 0)
		return false;
	for (char *w = strtok_r(text, blanks, &save); w && !found;
	     w = strtok_r(NULL, blanks, &save))
		found = !strcmp(w, word);
	return found;
}

static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	/* A kernel without networking has no loopback to bring up. */
	if (fd < 0)
		return;
	if (!ioctl(fd, SIOCGIFFLAGS, &ifr)) {
		ifr.ifr_flags |= IFF_UP | IFF_RUNNING;
		if (ioctl(fd, SIOCSIFFLAGS, &ifr))
			log_line("cannot bring loopback up");
	}
	close(fd);
}

/*
 * A test of the scheduler may starve every ordinary task for as long as it
 * likes: the one that ends it by its deadline must not be among them. What it
 * starts is ordinary again.
 */
static void be_urgent(void)
{
	struct sched_param param = {
		.sched_priority = sched_get_priority_max(SCHED_FIFO),
	};

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		log_line("PID 1 stays an ordinary task");
}

void system_prepare(void)
{
	/* A word of the kernel command line; see ktap.h. */
	const char *bounds = getenv("LAB_BOUNDS");

	clearenv();
	if (bounds)
		setenv("LAB_BOUNDS", bounds, 1);
	setenv("PATH",
	       PROGRAM_DIR ":/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", 1);
	setenv("HOME", "/root", 1);
	setenv("LANG", "C.UTF-8", 1);
	setenv("TERM", "linux", 1);
	sethostname("lab", 3);
	loopback_up();
	be_urgent();
}

void __noreturn system_power_off(void)
{
	sync();
	reboot(RB_POWER_OFF);
	/* A kernel that cannot power off can still reset, which ends QEMU too. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}
