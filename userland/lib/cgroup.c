// SPDX-License-Identifier: GPL-2.0
/* cgroup.c - cgroups of version 2 with the cpu controller, for tests. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "cgroup.h"
#include "clock.h"
#include "procfs.h"

#define CGROUP2_MAGIC	0x63677270
#define CONTROL		"cgroup.subtree_control"

struct removal {
	const char *group;
	int error;
};

int cgroup_write(const char *group, const char *file, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", group, file);
	return write_text(path, text);
}

int cgroup_read(const char *group, const char *file, char *text, size_t size)
{
	char path[256];
	int length;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	length = read_text(path, text, size);
	return length < 0 ? length : 0;
}

int cgroup_control_cpu(const char *group)
{
	return cgroup_write(group, CONTROL, "+cpu");
}

bool cgroups_usable(void)
{
	struct statfs fs;

	return !statfs(CGROUP_ROOT, &fs) && (u64)fs.f_type == CGROUP2_MAGIC &&
	       !cgroup_control_cpu(CGROUP_ROOT);
}

int cgroup_make(const char *group)
{
	return mkdir(group, 0755) ? -errno : 0;
}

int cgroup_move(const char *group, pid_t pid)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", pid);
	return cgroup_write(group, "cgroup.procs", text);
}

static bool is_removed(void *arg)
{
	struct removal *r = arg;

	r->error = rmdir(r->group) ? -errno : 0;
	return r->error != -EBUSY;
}

int cgroup_remove(const char *group, u64 timeout_ns)
{
	struct removal r = { .group = group };

	wait_until(is_removed, &r, timeout_ns);
	return r.error;
}

int cgroup_back(const char *group, u32 tickets)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", tickets);
	return cgroup_write(group, "cpu.lottery.tickets", text);
}

/* The loadable modules of the lab's guest */

int module_load(const char *name, const char *params)
{
	char path[PATH_MAX];
	int fd, err;

	snprintf(path, sizeof(path), MODULE_DIR "/%s.ko", name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	err = syscall(SYS_finit_module, fd, params, 0) ? -errno : 0;
	close(fd);
	return err;
}

int module_unload(const char *name)
{
	return syscall(SYS_delete_module, name, O_NONBLOCK) ? -errno : 0;
}
