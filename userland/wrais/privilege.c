// SPDX-License-Identifier: GPL-2.0
/* privilege.c - whether a task is privileged, and why. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "control.h"
#include "privilege.h"
#include "procfs.h"

#define LINE_V2		"0::"

/* The cgroup of the unified hierarchy. */
static int read_cgroup(pid_t tid, char *cgroup, size_t size)
{
	char path[64], text[2 * PATH_MAX];
	const char *line;
	int length;

	if (tid)
		snprintf(path, sizeof(path), "/proc/%d/cgroup", tid);
	else
		snprintf(path, sizeof(path), "/proc/self/cgroup");
	cgroup[0] = '\0';
	length = read_text(path, text, sizeof(text));
	if (length < 0)
		return length;
	for (line = text; line && *line; line = strchr(line, '\n')) {
		line += *line == '\n';
		if (!strncmp(line, LINE_V2, strlen(LINE_V2))) {
			line += strlen(LINE_V2);
			snprintf(cgroup, size, "%.*s", (int)strcspn(line, "\n"), line);
			return 0;
		}
	}
	return 0;
}

/*
 * Walk up to the root. A cgroup without the attribute has no I/O controller of
 * its own: the nearest one above that has it counts.
 */
static bool cgroup_privileged(const char *cgroup)
{
	char here[PATH_MAX], path[PATH_MAX + 64];
	bool seen = false;
	u64 value;

	snprintf(here, sizeof(here), "%s", cgroup);
	while (here[0] && strcmp(here, "/")) {
		snprintf(path, sizeof(path), CGROUP_ROOT "%s/" CGROUP_SWITCH, here);
		if (!read_number(path, &value)) {
			if (!value)
				return false;
			seen = true;
		}
		*strrchr(here, '/') = '\0';
	}
	return seen;
}

int privilege_read(pid_t tid, struct privilege *p)
{
	u64 enabled;
	int error;

	*p = (struct privilege){ };
	error = ioprio_read(tid, &p->prio);
	if (!error)
		error = read_cgroup(tid, p->cgroup, sizeof(p->cgroup));
	if (error)
		return error == -ENOENT ? -ESRCH : error;
	p->by_cgroup = cgroup_privileged(p->cgroup);
	p->enabled = !wrais_get(WRAIS_MASTER, &enabled) && enabled;
	return 0;
}

bool privileged(const struct privilege *p)
{
	return p->enabled && (p->prio.class == IO_RT || p->by_cgroup);
}

int cgroup_join(const char *cgroup, pid_t tid)
{
	char path[PATH_MAX], text[32];
	int length;

	length = snprintf(path, sizeof(path), "%s%s/cgroup.procs",
			  cgroup[0] == '/' ? "" : CGROUP_ROOT "/", cgroup);
	if (length >= (int)sizeof(path))
		return -ENAMETOOLONG;
	snprintf(text, sizeof(text), "%d", tid);
	return write_text(path, text);
}
