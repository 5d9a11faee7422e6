// SPDX-License-Identifier: GPL-2.0
/* machine.c - the machine around the plan: mounts, environment, power; and the builtins. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "clock.h"
#include "files.h"
#include "init.h"
#include "procfs.h"

#define MS_DATA	(MS_NOSUID | MS_NODEV | MS_NOEXEC)
#define IMAGE	"/image"
#define LAYERS	"lowerdir=" IMAGE "/lower,upperdir=" IMAGE "/rw/upper,workdir=" IMAGE "/rw/work"

static const struct mount_point {
	const char *type;
	const char *path;
	const char *options;
	unsigned long flags;
} mounts[] = {
	{ "proc", "/proc", NULL, MS_DATA },
	{ "sysfs", "/sys", NULL, MS_DATA },
	{ "devtmpfs", "/dev", "mode=0755", MS_NOSUID },
	{ "tmpfs", "/run", "mode=0755", MS_NOSUID | MS_NODEV },
	{ "tmpfs", "/tmp", "mode=1777", MS_NOSUID | MS_NODEV },
	{ "devpts", "/dev/pts", "mode=0620,ptmxmode=0666", MS_NOSUID | MS_NOEXEC },
	{ "tmpfs", "/dev/shm", "mode=1777", MS_NOSUID | MS_NODEV },
	{ "mqueue", "/dev/mqueue", NULL, MS_DATA },
	{ "debugfs", "/sys/kernel/debug", NULL, MS_DATA },
	{ "tracefs", "/sys/kernel/tracing", NULL, MS_DATA },
	{ "configfs", "/sys/kernel/config", NULL, MS_DATA },
	{ "cgroup2", "/sys/fs/cgroup", NULL, MS_DATA },
};

/* The first are mounted before the switch of roots and moved along. */
#define NR_MOVED	5

static int mount_at(const char *source, const char *path, const char *type, unsigned long flags,
		    const char *options)
{
	mkdir(path, 0755);
	return mount(source, path, type, flags, options) ? -errno : 0;
}

static void mount_some(size_t from, size_t to)
{
	for (const struct mount_point *m = &mounts[from]; m < &mounts[to]; m++) {
		int err = mount_at(m->type, m->path, m->type, m->flags, m->options);

		/*
		 * What the kernel was built without is left out silently, and it
		 * mounts devtmpfs itself when it is configured to.
		 */
		if (err && err != -ENODEV && err != -EBUSY && err != -ENOENT)
			complain("cannot mount %s on %s: %s", m->type, m->path, strerror(-err));
	}
}

static bool exists(void *path)
{
	return !access(path, F_OK);
}

/* The image stays read-only; what a test writes lands in memory. */
static int mount_image(void)
{
	int err;

	mkdir(IMAGE, 0755);
	err = mount_at("/dev/vda", IMAGE "/lower", "squashfs", MS_RDONLY, NULL);
	if (!err)
		err = mount_at("tmpfs", IMAGE "/rw", "tmpfs", 0, "mode=0755");
	if (err)
		return err;
	mkdir(IMAGE "/rw/upper", 0755);
	mkdir(IMAGE "/rw/work", 0755);
	return mount_at("overlay", IMAGE "/root", "overlay", 0, LAYERS);
}

/* An initramfs cannot be pivoted away from: move the new root over it. */
static int enter_image(void)
{
	int err = mount_at("/lab", IMAGE "/root/lab", NULL, MS_BIND, NULL);

	for (size_t i = 0; !err && i < NR_MOVED; i++) {
		char to[64];

		snprintf(to, sizeof(to), IMAGE "/root%s", mounts[i].path);
		err = mount_at(mounts[i].path, to, NULL, MS_MOVE, NULL);
	}
	if (!err && (chdir(IMAGE "/root") || mount(".", "/", NULL, MS_MOVE, NULL) ||
		     chroot(".") || chdir("/")))
		err = -errno;
	return err;
}

/* If the kernel's command line says so, wait for the disk and make it the root. */
static bool root_image(void)
{
	char words[4096];
	int err;

	if (read_text("/proc/cmdline", words, sizeof(words)) < 0 || !strstr(words, ROOT_WORD))
		return true;
	if (!wait_until(exists, "/dev/vda", DEVICE_WAIT_S * NSEC_PER_SEC))
		return refuse("root image: no /dev/vda after %llu s", DEVICE_WAIT_S);
	err = mount_image();
	if (err)
		return refuse("root image: mount: %s", strerror(-err));
	err = enter_image();
	if (err)
		return refuse("root image: switch of roots: %s", strerror(-err));
	return true;
}

/*
 * Through /dev/kmsg a line is one record: it can neither tear a kernel message
 * nor be torn, and its order among the kernel's own is exact, so that a splat
 * between "lab: begin NAME" and "lab: end NAME" belongs to NAME.
 */
static void open_log(void)
{
	int kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);

	if (kmsg < 0)
		return;
	dup2(kmsg, STDERR_FILENO);
	close(kmsg);
}

static void set_environment(void)
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
}

/* A kernel without networking has no loopback. */
static void loopback_up(void)
{
	struct ifreq ifr = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return;
	if (ioctl(fd, SIOCSIFFLAGS, &ifr) && errno != ENODEV)
		complain("cannot bring loopback up");
	close(fd);
}

/*
 * A test of the scheduler may starve every ordinary task for as long as it
 * likes: the one that ends it by its deadline must not be among them. What it
 * starts is ordinary again.
 */
static void be_urgent(void)
{
	struct sched_param param = { .sched_priority = sched_get_priority_max(SCHED_FIFO) };

	if (sched_setscheduler(0, SCHED_FIFO | SCHED_RESET_ON_FORK, &param))
		complain("PID 1 stays an ordinary task");
}

/* PID 1 must not exit, as every program does that runs out of memory: the kernel would panic. */
static void power_off(void)
{
	if (getpid() != 1)
		return;
	complain("power off");
	sync();
	reboot(RB_POWER_OFF);
	/* A kernel that cannot power off can still reset, which ends QEMU too. */
	reboot(RB_AUTOBOOT);
	for (;;)
		pause();
}

bool machine_prepare(void)
{
	atexit(power_off);
	mount_some(0, NR_MOVED);
	open_log();
	if (!root_image())
		return false;
	mount_some(NR_MOVED, ARRAY_SIZE(mounts));
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
	set_environment();
	sethostname("lab", 3);
	loopback_up();
	be_urgent();
	return true;
}

/* Entries that need no program: without the root image there is neither a shell nor a cat. */

/* kmemleak keeps quiet about an object that is younger than 5 s. */
#define KMEMLEAK_AGE_NS	(5200 * NSEC_PER_MSEC)
/* Into the first scan, which takes seconds [us]. */
#define SCAN_CUT_US	50000

static s64 builtin_cat(const char *file)
{
	return copy_file(file, STDOUT_FILENO);
}

/* Does nothing, and so ends a scan early. */
static void cut_short(int sig)
{
	(void)sig;
}

/*
 * Bad if kmemleak suspects a leak. It takes two scans: an object whose checksum
 * changed since the last one is given the benefit of the doubt.
 *
 * The first scan notes a checksum of each object that it has found no pointer to.
 * One that is cut short has found hardly any, so it notes those of all objects
 * and reports none (scan_should_stop() in mm/kmemleak.c): less work, and the
 * second scan is as strict.
 */
static s64 builtin_kmemleak(const char *file)
{
	const s64 begin = now_ns();
	s64 suspects;

	signal(SIGALRM, cut_short);
	ualarm(SCAN_CUT_US, 0);
	suspects = write_text(file, "scan\n");
	ualarm(0, 0);
	if (suspects == -ENOENT)
		die(EXIT_SKIPPED, "this kernel has no kmemleak");
	sleep_until_ns(begin + KMEMLEAK_AGE_NS);
	if (!suspects)
		suspects = write_text(file, "scan\n");
	if (!suspects)
		suspects = copy_file(file, STDOUT_FILENO);
	if (suspects > 0)
		die(EXIT_FAILED, "leaks are suspected");
	return suspects;
}

static s64 builtin_insmod(const char *name)
{
	int err = module_load(name, "");

	if (err)
		die(EXIT_FAILED, MODULE_DIR "/%s.ko: %s", name, strerror(-err));
	return 0;
}

static s64 builtin_rmmod(const char *name)
{
	return module_unload(name);
}

static const struct builtin {
	const char *name;
	s64 (*run)(const char *arg);
	const char *arg;	/* NULL: the plan has it */
} builtins[] = {
	{ "@cat", builtin_cat, NULL },
	{ "@insmod", builtin_insmod, NULL },
	{ "@kmemleak", builtin_kmemleak, "/sys/kernel/debug/kmemleak" },
	{ "@rmmod", builtin_rmmod, NULL },
};

static const char usage[] = "@cat FILE, @insmod NAME, @kmemleak, @rmmod NAME";

void __noreturn builtin_run(char **argv)
{
	int nr_args = 0;

	args_init(argv[0]);
	while (argv[nr_args + 1])
		nr_args++;
	for (const struct builtin *b = builtins; b < builtins + ARRAY_SIZE(builtins); b++) {
		const char *arg = b->arg ? b->arg : argv[1];
		s64 err;

		if (strcmp(b->name, argv[0]) || nr_args != !b->arg)
			continue;
		err = b->run(arg);
		if (err < 0)
			die(EXIT_FAILED, "%s: %s", arg, strerror((int)-err));
		exit(EXIT_GOOD);
	}
	die(EXIT_USAGE, "no such builtin with %d arguments (%s)", nr_args, usage);
}
