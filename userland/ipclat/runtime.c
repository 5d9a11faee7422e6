// SPDX-License-Identifier: GPL-2.0
/* runtime.c - the programs that run containers, and running other programs. */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "ipclat.h"

/*
 * The programs that run containers: OCI runtimes, podman, docker. All of them get the
 * same directories and make the same namespaces. Podman calls an OCI runtime itself, and
 * docker has its daemon do so.
 */

#define CGROUPS		"/sys/fs/cgroup"
#define VOLUME_SIZE	(PATH_SIZE + 32)

static const struct runtime *chosen;
static char program[PATH_SIZE];		/* of the chosen one */

/*
 * crun refuses to work where both versions of cgroups are mounted. Where that is so it
 * gets a mount namespace that has the second one only; no other process sees that.
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

/* What podman and docker have in common; SELinux has no say in what is in our directory. */
static void add_run(struct words *w, const struct containers *c, char *share,
		    enum side side)
{
	snprintf(share, VOLUME_SIZE, "%s/share:/share", c->dir);
	add_words(w, program, "run", "--rm", "--name", c->side[side].id, "--hostname",
		  side_names[side], "--ipc", "private", "--userns", "host", "--read-only",
		  "--log-driver", "none", "--cap-drop", "ALL", "--cap-add", "SYS_NICE",
		  "--security-opt", "no-new-privileges", "--security-opt", "label=disable",
		  "--volume", share, NULL);
}

static void add_command(struct words *w, const struct containers *c, enum side side)
{
	add_words(w, "/ipclat", "--side", side_names[side], "--mechanism", c->m->name, NULL);
}

/* Only with crun podman can do without a cgroup. */
static bool podman_has_crun;

static const char *podman_missing(void)
{
	char answer[64];

	if (ask(answer, sizeof(answer), program, "info", "--format",
		"{{.Host.OCIRuntime.Name}}", NULL))
		return "podman does not work here";
	podman_has_crun = !strncmp(answer, "crun", 4);
	return NULL;
}

static void podman_run(const struct containers *c, enum side side)
{
	char share[VOLUME_SIZE], network[64], root[PATH_SIZE];
	struct words w = { .count = 0 };

	snprintf(network, sizeof(network), "ns:/proc/%d/ns/net", c->side[side].network);
	path_in(c, root, "root");
	add_run(&w, c, share, side);
	/* its usual limits are more than we may have ourselves */
	add_words(&w, "--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024",
		  "--read-only-tmpfs=false", "--no-hosts", "--network", network, NULL);
	if (podman_has_crun) {
		show_one_cgroup_version();
		add_words(&w, "--cgroups", "disabled", NULL);
	}
	add_words(&w, "--rootfs", root, NULL);
	add_command(&w, c, side);
	execv(program, (char *const *)w.word);
}

/* An init process takes no notice of SIGTERM, which would be waited for. */
static void podman_remove(const struct containers *c, enum side side)
{
	call_quietly(program, "rm", "--force", "--time", "0", c->side[side].id, NULL);
}

static const char *docker_missing(void)
{
	/* its client also tells its own version when there is no daemon, and fails */
	return call_quietly(program, "version", NULL) ? "docker's daemon does not answer" : NULL;
}

/* It runs images only: it gets one with nothing in it, and is shown our directories. */
static void docker_prepare(const struct containers *c, enum side side)
{
	static const char empty[1024];	/* how an archive ends */
	char path[PATH_SIZE], digest[128];

	if (side != SENDER)
		return;
	path_in(c, path, "empty.tar");
	write_file(path, empty, sizeof(empty));
	if (ask(digest, sizeof(digest), program, "import", path, c->name, NULL))
		die(EXIT_FAILED, "docker cannot import an image");
}

static void docker_run(const struct containers *c, enum side side)
{
	char share[VOLUME_SIZE], ourselves[VOLUME_SIZE];
	struct words w = { .count = 0 };

	snprintf(ourselves, sizeof(ourselves), "%s/root/ipclat:/ipclat:ro", c->dir);
	add_run(&w, c, share, side);
	add_words(&w, "--network", "none", "--volume", ourselves, c->name, NULL);
	add_command(&w, c, side);
	execv(program, (char *const *)w.word);
}

static pid_t docker_pid(const struct containers *c, enum side side)
{
	char answer[32];

	if (ask(answer, sizeof(answer), program, "inspect", "--format", "{{.State.Pid}}",
		c->side[side].id, NULL))
		return 0;
	return atoi(answer);
}

static void docker_remove(const struct containers *c, enum side side)
{
	call_quietly(program, "rm", "--force", c->side[side].id, NULL);
}

static void docker_clean_up(const struct containers *c)
{
	call_quietly(program, "rmi", "--force", c->name, NULL);
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
	{
		.name = "podman",
		.missing = podman_missing,
		.run = podman_run,
		.remove = podman_remove,
	}, {
		.name = "docker",
		.networks = true,
		.missing = docker_missing,
		.prepare = docker_prepare,
		.run = docker_run,
		.pid = docker_pid,
		.remove = docker_remove,
		.clean_up = docker_clean_up,
	},
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
	const char *missing;

	if (!find_program(name, program, sizeof(program)))
		die(EXIT_USAGE, "--runtime: bad value '%s': not a program", name);
	chosen = kind_of(program);
	missing = chosen->missing ? chosen->missing() : NULL;
	if (missing)
		die(EXIT_USAGE, "--runtime: bad value '%s': %s", name, missing);
}

const struct runtime *the_runtime(void)
{
	static bool looked;
	unsigned int i;

	for (i = 0; !chosen && !looked && i < ARRAY_SIZE(runtimes); i++) {
		const struct runtime *r = &runtimes[i];

		if (find_program(r->name, program, sizeof(program)) &&
		    (!r->missing || !r->missing()))
			chosen = r;
	}
	looked = true;
	return chosen;
}

const char *runtime_path(void)
{
	return the_runtime() ? program : NULL;
}

const char *containers_missing(void)
{
	char path[PATH_SIZE];

	if (geteuid())
		return "containers with networks of their own need root";
	if (!the_runtime())
		return "no crun, runc, youki, podman, or docker with a daemon here";
	return find_program("ip", path, sizeof(path)) ? NULL : "no ip(8) here";
}

/* Other programs: where they are, and running them. */

#define PATIENCE_NS	(60 * NSEC_PER_SEC)

static void add_list(struct words *w, va_list args)
{
	const char *word;

	while ((word = va_arg(args, const char *))) {
		assert(w->count < WORDS_MAX - 1);
		w->word[w->count++] = word;
	}
	w->word[w->count] = NULL;
}

void add_words(struct words *w, ...)
{
	va_list args;

	va_start(args, w);
	add_list(w, args);
	va_end(args);
}

bool find_program(const char *name, char *path, size_t size)
{
	const char *at = getenv("PATH");

	if (strchr(name, '/'))
		return snprintf(path, size, "%s", name) < (int)size && !access(path, X_OK);
	for (at = at ? at : "/usr/sbin:/usr/bin:/sbin:/bin"; *at;) {
		size_t length = strcspn(at, ":");

		if (snprintf(path, size, "%.*s/%s", (int)length, at, name) < (int)size &&
		    !access(path, X_OK))
			return true;
		at += length + (at[length] == ':');
	}
	return false;
}

/* Where -1 is, it stays as it is. */
static pid_t start(const struct words *w, int out, int err)
{
	char path[PATH_SIZE];
	pid_t pid = fork_child();

	if (pid)
		return pid;
	release_interrupts();
	setsid();
	if ((out >= 0 && dup2(out, STDOUT_FILENO) < 0) ||
	    (err >= 0 && dup2(err, STDERR_FILENO) < 0))
		_exit(127);
	if (find_program(w->word[0], path, sizeof(path)))
		execv(path, (char *const *)w->word);
	_exit(127);
}

static int nowhere(void)
{
	return open("/dev/null", O_WRONLY | O_CLOEXEC);
}

static int finish(pid_t pid)
{
	int status = wait_child(pid, now_ns() + PATIENCE_NS);

	if (status != -1)
		return status;
	kill(pid, SIGKILL);
	wait_child(pid, now_ns() + PATIENCE_NS);
	return -1;
}

int call(const char *program, ...)
{
	struct words w = { { program }, 1 };
	va_list args;

	va_start(args, program);
	add_list(&w, args);
	va_end(args);
	return finish(start(&w, -1, -1));
}

int call_quietly(const char *program, ...)
{
	struct words w = { { program }, 1 };
	int dropped = nowhere(), status;
	va_list args;

	va_start(args, program);
	add_list(&w, args);
	va_end(args);
	status = finish(start(&w, dropped, dropped));
	close(dropped);
	return status;
}

int ask(char *answer, size_t size, const char *program, ...)
{
	int pipes[2], dropped = nowhere(), status;
	struct words w = { { program }, 1 };
	va_list args;
	ssize_t got;
	pid_t pid;

	va_start(args, program);
	add_list(&w, args);
	va_end(args);
	if (pipe2(pipes, O_CLOEXEC))
		die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	pid = start(&w, pipes[1], dropped);
	close(pipes[1]);
	close(dropped);
	/* it is short: the pipe holds all of it */
	status = finish(pid);
	got = status ? 0 : read(pipes[0], answer, size - 1);
	answer[got > 0 ? got : 0] = '\0';
	close(pipes[0]);
	return status;
}
