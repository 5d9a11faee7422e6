// SPDX-License-Identifier: GPL-2.0
/*
 * container.c - the two sides in two containers of an OCI runtime, each with mounts,
 * processes, IPC and a network of its own. A veth pair joins the networks; the page is
 * a file that both have mounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "ipclat.h"

#define PATIENCE_NS	(60 * NSEC_PER_SEC)
#define NETWORK		"10.213.47"	/* of the veth pair alone */
#define PORT		5599
#define CGROUPS		"/sys/fs/cgroup"
#define PATH_SIZE	192

static const char *runtime;

/* Runtimes with the same command line, in this order. */
static const char *const runtimes[] = { "crun", "runc", "youki" };
static const char *const side_names[] = { "sender", "receiver", NULL };

static bool find_program(const char *name, char *path, size_t size)
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

void set_runtime(const char *path)
{
	static char found[PATH_SIZE];

	if (!find_program(path, found, sizeof(found)))
		die(EXIT_USAGE, "--runtime: bad value '%s': not a program", path);
	runtime = found;
}

const char *runtime_name(void)
{
	static char found[PATH_SIZE];
	unsigned int i;

	for (i = 0; !runtime && i < ARRAY_SIZE(runtimes); i++)
		if (find_program(runtimes[i], found, sizeof(found)))
			runtime = found;
	return runtime;
}

const char *containers_missing(void)
{
	char path[PATH_SIZE];

	if (geteuid())
		return "containers with networks of their own need root";
	if (!runtime_name())
		return "no OCI runtime here (crun, runc, youki)";
	return find_program("ip", path, sizeof(path)) ? NULL : "no ip(8) here";
}

/* Run a program to its end; its words end with NULL. */
static int call(const char *program, ...)
{
	char path[PATH_SIZE], *words[24];
	unsigned int count = 0;
	va_list args;
	pid_t pid;
	int status;

	va_start(args, program);
	words[count++] = (char *)program;
	while (count < ARRAY_SIZE(words) - 1 && (words[count] = va_arg(args, char *)))
		count++;
	words[count] = NULL;
	va_end(args);
	if (!find_program(program, path, sizeof(path)))
		return -1;
	pid = fork();
	if (!pid) {
		execv(path, words);
		_exit(127);
	}
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

struct containers {
	char dir[64];
	char id[SIDES][48];
	pid_t network[SIDES];	/* holds the network namespace */
	int started[SIDES];	/* read: it is there */
	struct page *page;
};

static void __printf(3, 4) path_in(const struct containers *c, char *path, const char *format, ...)
{
	int used = snprintf(path, PATH_SIZE, "%s/", c->dir);
	va_list args;

	va_start(args, format);
	vsnprintf(path + used, (size_t)(PATH_SIZE - used), format, args);
	va_end(args);
}

static void make_dir(const struct containers *c, const char *name)
{
	char path[PATH_SIZE];

	path_in(c, path, "%s", name);
	if (mkdir(path, 0755))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
}

static void copy_ourselves(const struct containers *c)
{
	char path[PATH_SIZE];
	struct stat self;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	off_t done = 0;

	path_in(c, path, "root/ipclat");
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (from < 0 || to < 0 || fstat(from, &self))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	while (done < self.st_size)
		if (sendfile(to, from, &done, (size_t)(self.st_size - done)) <= 0)
			die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	close(from);
	if (close(to))
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
}

static void make_page(struct containers *c)
{
	char path[PATH_SIZE];
	int fd;

	path_in(c, path, "share/page");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*c->page)))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	c->page = mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (c->page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	close(fd);
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

static void write_config(const struct containers *c, unsigned int side,
			 const struct mechanism *m)
{
	char path[PATH_SIZE];
	FILE *file;

	path_in(c, path, "%s/config.json", side_names[side]);
	file = fopen(path, "we");
	if (!file)
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	fprintf(file, config, side_names[side], c->dir, side_names[side], m->name, c->dir,
		c->network[side]);
	if (fclose(file))
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
}

/* A process that is nothing but the network of a container. */
static void start_network(struct containers *c, unsigned int side)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	c->network[side] = fork_child();
	if (!c->network[side]) {
		close(ready[0]);
		if (unshare(CLONE_NEWNET))
			_exit(EXIT_FAILED);
		if (write(ready[1], "x", 1) != 1)
			_exit(EXIT_FAILED);
		for (;;)
			pause();
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die(EXIT_FAILED, "cannot make a network namespace");
	close(ready[0]);
}

static bool give_address(const struct containers *c, unsigned int side)
{
	char address[32], device[16];
	pid_t pid = fork();
	char path[64];
	int status, fd;

	if (pid < 0)
		return false;
	if (pid) {
		while (waitpid(pid, &status, 0) < 0)
			if (errno != EINTR)
				return false;
		return !status;
	}
	snprintf(path, sizeof(path), "/proc/%d/ns/net", c->network[side]);
	snprintf(address, sizeof(address), NETWORK ".%u/30", side + 1);
	snprintf(device, sizeof(device), "ipclat%u", side);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	_exit(fd < 0 || setns(fd, CLONE_NEWNET) || call("ip", "link", "set", "lo", "up", NULL) ||
	      call("ip", "address", "add", address, "dev", device, NULL) ||
	      call("ip", "link", "set", device, "up", NULL));
}

static void join_networks(const struct containers *c)
{
	char sender[16], receiver[16];

	snprintf(sender, sizeof(sender), "%d", c->network[SENDER]);
	snprintf(receiver, sizeof(receiver), "%d", c->network[RECEIVER]);
	if (call("ip", "link", "add", "ipclat0", "netns", sender, "type", "veth", "peer",
		 "name", "ipclat1", "netns", receiver, NULL) ||
	    !give_address(c, SENDER) || !give_address(c, RECEIVER))
		die(EXIT_FAILED, "cannot join the containers' networks");
	snprintf(c->page->endpoint, sizeof(c->page->endpoint), "tcp://" NETWORK ".%d:%d",
		 RECEIVER + 1, PORT);
}

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

/* The runtime needs no cgroup of its own for what lives so short. */
static pid_t start_container(const struct containers *c, unsigned int side)
{
	bool is_crun = strstr(runtime_name(), "crun");
	char bundle[PATH_SIZE], state[PATH_SIZE];
	pid_t pid = fork_child();

	if (pid)
		return pid;
	show_one_cgroup_version();
	path_in(c, bundle, "%s", side_names[side]);
	path_in(c, state, "state");
	if (is_crun)
		execl(runtime_name(), runtime_name(), "--root", state,
		      "--cgroup-manager=disabled", "run", "--bundle", bundle, c->id[side], NULL);
	else
		execl(runtime_name(), runtime_name(), "--root", state, "run", "--bundle", bundle,
		      c->id[side], NULL);
	_exit(127);
}

static void prepare(struct containers *c, const struct settings *s, const struct mechanism *m)
{
	unsigned int side;

	snprintf(c->dir, sizeof(c->dir), "%s/ipclat-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(c->dir))
		die(EXIT_FAILED, "cannot make %s: %s", c->dir, strerror(errno));
	make_dir(c, "root");
	make_dir(c, "root/dev");
	make_dir(c, "root/proc");
	make_dir(c, "root/share");
	make_dir(c, "share");
	copy_ourselves(c);
	make_page(c);
	fill_page(c->page, s);
	if (m->set_up)
		m->set_up(c->page);
	for (side = 0; side < SIDES; side++) {
		snprintf(c->id[side], sizeof(c->id[side]), "ipclat-%d-%s", getpid(),
			 side_names[side]);
		start_network(c, side);
		make_dir(c, side_names[side]);
		write_config(c, side, m);
	}
	join_networks(c);
}

static void remove_all(struct containers *c)
{
	unsigned int side;
	char state[PATH_SIZE];

	path_in(c, state, "state");
	for (side = 0; side < SIDES; side++) {
		kill(c->network[side], SIGKILL);
		wait_child(c->network[side], now_ns() + PATIENCE_NS);
	}
	munmap(c->page, sizeof(*c->page));
	call("rm", "-rf", c->dir, NULL);
}

const char *run_containers(const struct settings *s, const struct mechanism *m,
			   struct histogram *h)
{
	struct containers c = { 0 };
	u64 deadline = now_ns() + s->limit_ns + PATIENCE_NS;
	pid_t pid[SIDES];
	const char *bad = NULL;
	char state[PATH_SIZE];
	unsigned int side;

	prepare(&c, s, m);
	path_in(&c, state, "state");
	for (side = 0; side < SIDES; side++)
		pid[side] = start_container(&c, side);
	for (side = 0; side < SIDES; side++) {
		int status = wait_child(pid[side], bad ? now_ns() + NSEC_PER_SEC : deadline);

		if (!status)
			continue;
		bad = status == -1 ? "a container did not end in time" : "a container failed";
		call(runtime_name(), "--root", state, "delete", "--force", c.id[side], NULL);
		if (status == -1) {
			kill(pid[side], SIGKILL);
			wait_child(pid[side], now_ns() + PATIENCE_NS);
		}
	}
	if (!bad)
		histogram_merge(h, &c.page->histogram);
	remove_all(&c);
	return bad;
}

int contained_side(const char *mechanism, const char *side)
{
	const struct mechanism *m = find_mechanism(mechanism);
	unsigned int which = args_choice("--side", side, side_names);
	int fd = open("/share/page", O_RDWR | O_CLOEXEC);
	struct page *page;

	if (fd < 0 || !m)
		die(EXIT_USAGE, "--side is for containers that ipclat starts");
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	run_side(page, m, which);
	return EXIT_GOOD;
}

const struct mechanism via_shm_containers = {
	.name = "shm-containers",
	.text = "spinning on a word of a file that two containers have mounted",
	.spins = true,
	.containers = true,
	.missing = containers_missing,
	.send = spin_send,
	.receive = spin_receive,
};
