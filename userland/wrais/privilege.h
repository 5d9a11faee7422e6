/* SPDX-License-Identifier: GPL-2.0 */
/* privilege.h - whether a task is privileged, and why. */
#ifndef WRAIS_PRIVILEGE_H
#define WRAIS_PRIVILEGE_H

#include <limits.h>
#include <sys/types.h>

#include "diskfile.h"
#include "types.h"

#define CGROUP_ROOT	"/sys/fs/cgroup"
#define CGROUP_SWITCH	"io.wrais"

struct privilege {
	struct ioprio prio;
	char cgroup[PATH_MAX];	/* below CGROUP_ROOT, empty without a cgroup */
	bool by_cgroup;		/* io.wrais is 1 here and above */
	bool enabled;		/* the kernel looks at privileges */
};

/* Of thread @tid, 0 for the caller; 0 or -errno. */
int privilege_read(pid_t tid, struct privilege *p);

bool privileged(const struct privilege *p);

/*
 * Move @tid (0: the caller) into a cgroup, which is below CGROUP_ROOT unless
 * its name starts with a slash; 0 or -errno.
 */
int cgroup_join(const char *cgroup, pid_t tid);

#endif /* WRAIS_PRIVILEGE_H */
