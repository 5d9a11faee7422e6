// SPDX-License-Identifier: GPL-2.0
/* The loadable modules of the lab's guest */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmod.h"

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
