/* SPDX-License-Identifier: GPL-2.0 */
/* cgroup.h - cgroups of version 2 with the cpu controller, for tests. */
#ifndef LAB_CGROUP_H
#define LAB_CGROUP_H

#include <sys/types.h>

#include "protocol.h"
#include "types.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP_MISSING	"no cgroup2 with the cpu controller at " CGROUP_ROOT

/* Is there such a thing? If so its groups have the cpu controller from now on. */
bool cgroups_usable(void);

/* All of these take the path of a group: 0 or -errno. */
int cgroup_make(const char *group);
/* Its children have the cpu controller. */
int cgroup_control_cpu(const char *group);
int cgroup_move(const char *group, pid_t pid);
int cgroup_write(const char *group, const char *file, const char *text);
int cgroup_read(const char *group, const char *file, char *text, size_t size);
/* It is empty, or becomes so within @timeout_ns: a killed task may still be in it. */
int cgroup_remove(const char *group, u64 timeout_ns);

/* cpu.lottery.tickets of @group is @tickets. */
int cgroup_back(const char *group, u32 tickets);

/* The loadable modules of the lab's guest. */

/*
 * Load MODULE_DIR/@name.ko with @params ("name=value ..."). 0 or -errno: -ENOENT
 * when the guest does not have it, -EEXIST when it is loaded already.
 */
int module_load(const char *name, const char *params);

/* Unload it. 0 or -errno: -EAGAIN while it is in use, -ENOENT when it is not there. */
int module_unload(const char *name);

#endif
