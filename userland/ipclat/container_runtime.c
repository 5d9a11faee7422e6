// SPDX-License-Identifier: GPL-2.0
/* container_runtime.c - the programs that run containers: OCI runtimes. */
#include <errno.h>
#include <linux/magic.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "args.h"
#include "container.h"

#define CGROUPS		"/sys/fs/cgroup"

static const struct runtime *chosen;
static char program[PATH_SIZE];		/* of the chosen one */

/*
 * crun refuses to work where both versions of cgroups are mounted. Where that is so it
 * gets a mount namespace that has the second one only; nobody else sees that.
 */
static void show_one_cgroup_version(void)
{
	struct statfs fs;

	if (statfs(CGROUPS, &fs) || fs.f_type == CGROUP2_SUPER_MAGIC)
		return;
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", CGROUPS, "cgroup2", 0, NULL))
		die(EXIT_FAILED, "cannot mount cgroup2 for the runtime: %s", strerror(errno));
}

static const char config[] =
"{\"ociVersion\":\"1.0.2\",\"hostname\":\"%s\",\n"
" \"root\":{\"path\":\"%s/root\",\"readonly\":true},\n"
" \"process\":{\"cwd\":\"/\",\"user\":{\"uid\":0,\"gid\":0},\"noNewPrivileges\":true,\n"
"  \"args\":[\"/ipclat\",\"--side\",\"%s\",\"--mechanism\",\"%s\"],\n"
"  \"capabilities\":{\"bounding\":[\"CAP_SYS_NICE\"],\"effective\":[\"CAP_SYS_NICE\"],\n"
"   \"permitted\":[\"CAP_SYS_NICE\"]}},\n"
" \"mounts\":[{\"destination\":\"/proc\",\"type\":\"proc\",\"source\":\"proc\"},\n"
"  {\"destination\":\"/share\",\"type\":\"bind\",\"source\":\"%s/share\",\n"
"   \"options\":[\"bind\",\"rw\"]}],\n"
" \"linux\":{\"namespaces\":[{\"type\":\"pid\"},{\"type\":\"mount\"},{\"type\":\"ipc\"},\n"
"  {\"type\":\"uts\"},{\"type\":\"network\",\"path\":\"/proc/%d/ns/net\"}]}}\n";

static void oci_prepare(const struct containers *c, enum side side)
{
	const char *name = side_names[side];
	char text[sizeof(config) + 512], path[PATH_SIZE];

	path_in(c, path, "%s", name);
	if (mkdir(path, 0755))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	snprintf(text, sizeof(text), config, name, c->dir, name, c->m->name, c->dir,
		 c->side[side].network);
	path_in(c, path, "%s/config.json", name);
	write_file(path, text, strlen(text));
}

/* The runtime needs no cgroup of its own for what lives so short. */
static void oci_run(const struct containers *c, enum side side)
{
	struct words w = { .count = 0 };
	char bundle[PATH_SIZE], state[PATH_SIZE];

	show_one_cgroup_version();
	path_in(c, bundle, "%s", side_names[side]);
	path_in(c, state, "state");
	add_words(&w, program, "--root", state, NULL);
	if (!strcmp(chosen->name, "crun"))
		add_words(&w, "--cgroup-manager=disabled", NULL);
	add_words(&w, "run", "--bundle", bundle, c->side[side].id, NULL);
	execv(program, (char *const *)w.word);
}

static void oci_remove(const struct containers *c, enum side side)
{
	char state[PATH_SIZE];

	path_in(c, state, "state");
	call_quietly(program, "--root", state, "delete", "--force", c->side[side].id, NULL);
}

#define OCI(_name) {				\
	.name = _name,				\
	.prepare = oci_prepare,			\
	.run = oci_run,				\
	.remove = oci_remove,			\
}

/* In this order they are looked for. */
static const struct runtime runtimes[] = {
	OCI("crun"),
	OCI("runc"),
	OCI("youki"),
};

static const struct runtime *kind_of(const char *path)
{
	static const struct runtime another = OCI("");
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(runtimes); i++)
		if (!strncmp(name, runtimes[i].name, strlen(runtimes[i].name)))
			return &runtimes[i];
	return &another;
}

void set_runtime(const char *name)
{
	if (!find_program(name, program, sizeof(program)))
		die(EXIT_USAGE, "--runtime: bad value '%s': not a program", name);
	chosen = kind_of(program);
}

const struct runtime *the_runtime(void)
{
	unsigned int i;

	for (i = 0; !chosen && i < ARRAY_SIZE(runtimes); i++)
		if (find_program(runtimes[i].name, program, sizeof(program)))
			chosen = &runtimes[i];
	return chosen;
}

const char *containers_missing(void)
{
	char path[PATH_SIZE];

	if (geteuid())
		return "containers with networks of their own need root";
	if (!the_runtime())
		return "no OCI runtime here (crun, runc, youki)";
	return find_program("ip", path, sizeof(path)) ? NULL : "no ip(8) here";
}
