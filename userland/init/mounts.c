// SPDX-License-Identifier: GPL-2.0
/*
 * The file systems of the guest and the switch to the root image
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "clock.h"
#include "init.h"

struct mount_point {
	const char *type;
	const char *path;
	const char *options;
	unsigned long flags;
};

/* Made before the switch of roots and moved along. */
static const struct mount_point base[] = {
	{ "proc", "/proc", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "sysfs", "/sys", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "devtmpfs", "/dev", "mode=0755", MS_NOSUID },
	{ "tmpfs", "/run", "mode=0755", MS_NOSUID | MS_NODEV },
	{ "tmpfs", "/tmp", "mode=1777", MS_NOSUID | MS_NODEV },
};

/* What the kernel was built without (ENODEV) is left out silently. */
static const struct mount_point extra[] = {
	{ "devpts", "/dev/pts", "mode=0620,ptmxmode=0666", MS_NOSUID | MS_NOEXEC },
	{ "tmpfs", "/dev/shm", "mode=1777", MS_NOSUID | MS_NODEV },
	{ "mqueue", "/dev/mqueue", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "debugfs", "/sys/kernel/debug", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "tracefs", "/sys/kernel/tracing", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "configfs", "/sys/kernel/config", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
	{ "cgroup2", "/sys/fs/cgroup", NULL, MS_NOSUID | MS_NODEV | MS_NOEXEC },
};

static void mount_one(const struct mount_point *m)
{
	mkdir(m->path, 0755);
	if (!mount(m->type, m->path, m->type, m->flags, m->options))
		return;
	/* The kernel mounts devtmpfs itself when it is configured to. */
	if (errno == ENODEV || errno == EBUSY || errno == ENOENT)
		return;
	log_line("cannot mount %s on %s: %s", m->type, m->path, strerror(errno));
}

void mounts_base(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(base); i++)
		mount_one(&base[i]);
}

void mounts_extra(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(extra); i++)
		mount_one(&extra[i]);
	symlink("/proc/self/fd", "/dev/fd");
	symlink("/proc/self/fd/0", "/dev/stdin");
	symlink("/proc/self/fd/1", "/dev/stdout");
	symlink("/proc/self/fd/2", "/dev/stderr");
}

static bool exists(void *path)
{
	return !access(path, F_OK);
}

/* The image stays read-only; what a test writes lands in memory. */
static int mount_overlay(void)
{
	if (mkdir("/image", 0755) || mkdir("/image/lower", 0755) ||
	    mkdir("/image/rw", 0755) || mkdir("/image/root", 0755))
		return -errno;
	if (mount("/dev/vda", "/image/lower", "squashfs", MS_RDONLY, NULL))
		return -errno;
	if (mount("tmpfs", "/image/rw", "tmpfs", 0, "mode=0755"))
		return -errno;
	if (mkdir("/image/rw/upper", 0755) || mkdir("/image/rw/work", 0755))
		return -errno;
	if (mount("overlay", "/image/root", "overlay", 0,
		  "lowerdir=/image/lower,upperdir=/image/rw/upper,workdir=/image/rw/work"))
		return -errno;
	return 0;
}

static int move_into_image(const char *path, unsigned long how)
{
	char to[64];

	snprintf(to, sizeof(to), "/image/root%s", path);
	mkdir(to, 0755);
	return mount(path, to, NULL, how, NULL) ? -errno : 0;
}

/* An initramfs cannot be pivoted away from: move the new root over it. */
static int enter_image(void)
{
	int err = move_into_image("/lab", MS_BIND);

	for (size_t i = 0; !err && i < ARRAY_SIZE(base); i++)
		err = move_into_image(base[i].path, MS_MOVE);
	if (err)
		return err;
	if (chdir("/image/root") || mount(".", "/", NULL, MS_MOVE, NULL) ||
	    chroot(".") || chdir("/"))
		return -errno;
	return 0;
}

/* Wait for the disk, make it the root. On error @why says which step failed. */
int mounts_root_image(char *why, size_t size)
{
	int err;

	if (!wait_until(exists, "/dev/vda", DEVICE_WAIT_S * NSEC_PER_SEC)) {
		snprintf(why, size, "root image: no /dev/vda after %llu s", DEVICE_WAIT_S);
		return -ENODEV;
	}
	err = mount_overlay();
	if (err) {
		snprintf(why, size, "root image: mount: %s", strerror(-err));
		return err;
	}
	err = enter_image();
	if (err)
		snprintf(why, size, "root image: switch of roots: %s", strerror(-err));
	return err;
}
