// SPDX-License-Identifier: GPL-2.0
/*
 * container.c - the two sides in two containers, each with mounts, processes, IPC and a
 * network of its own. A veth pair joins the networks; the page is a file that both have
 * mounted.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "ipclat.h"

/* The directory that two containers are made of. */

const char *const side_names[] = { "sender", "receiver", NULL };

void path_in(const struct containers *c, char *path, const char *format, ...)
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

void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
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
	void *page;
	int fd;

	path_in(c, path, "share/page");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*c->page)))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	page = mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	close(fd);
	c->page = page;
}

void make_files(struct containers *c)
{
	char dir[sizeof(c->dir)];

	snprintf(dir, sizeof(dir), "%s/ipclat-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		die(EXIT_FAILED, "cannot make %s: %s", dir, strerror(errno));
	memcpy(c->dir, dir, sizeof(dir));
	make_dir(c, "root");
	make_dir(c, "root/dev");
	make_dir(c, "root/proc");
	make_dir(c, "root/share");
	make_dir(c, "share");
	copy_ourselves(c);
	make_page(c);
}

struct page *contained_page(void)
{
	int fd = open("/share/page", O_RDWR | O_CLOEXEC);
	void *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	close(fd);
	return page;
}

void remove_files(struct containers *c)
{
	if (c->page)
		munmap(c->page, sizeof(*c->page));
	if (*c->dir)
		call("rm", "-rf", c->dir, NULL);
}

/* The networks of two containers, and the veth pair between them. */

#define PATIENCE_NS	(60 * NSEC_PER_SEC)
#define NETWORK		"10.213.47"	/* of the veth pair alone */
#define PORT		5599

void start_network(struct container *one)
{
	int ready[2];
	char byte;

	if (pipe(ready))
		die(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
	one->holder = fork_child();
	if (!one->holder) {
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
	one->network = one->holder;
}

void stop_network(struct container *one)
{
	if (!one->holder)
		return;
	kill(one->holder, SIGKILL);
	wait_child(one->holder, now_ns() + PATIENCE_NS);
	one->holder = 0;
}

static bool give_address(pid_t network, unsigned int side)
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
	snprintf(path, sizeof(path), "/proc/%d/ns/net", network);
	snprintf(address, sizeof(address), NETWORK ".%u/30", side + 1);
	snprintf(device, sizeof(device), "ipclat%u", side);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	_exit(fd < 0 || setns(fd, CLONE_NEWNET) || call("ip", "link", "set", "lo", "up", NULL) ||
	      call("ip", "address", "add", address, "dev", device, NULL) ||
	      call("ip", "link", "set", device, "up", NULL));
}

void join_networks(const struct containers *c)
{
	pid_t sender = c->side[SENDER].network, receiver = c->side[RECEIVER].network;
	char at[SIDES][16];

	snprintf(at[SENDER], sizeof(at[SENDER]), "%d", sender);
	snprintf(at[RECEIVER], sizeof(at[RECEIVER]), "%d", receiver);
	if (call("ip", "link", "add", "ipclat0", "netns", at[SENDER], "type", "veth", "peer",
		 "name", "ipclat1", "netns", at[RECEIVER], NULL) ||
	    !give_address(sender, SENDER) || !give_address(receiver, RECEIVER))
		die(EXIT_FAILED, "cannot join the containers' networks");
	snprintf(c->page->endpoint, sizeof(c->page->endpoint), "tcp://" NETWORK ".%d:%d",
		 RECEIVER + 1, PORT);
}

/* The most that a container needs to start, and to end. */
#define PATIENCE_NS	(60 * NSEC_PER_SEC)
#define LOOK_NS		(5 * NSEC_PER_MSEC)
#define REMOVALS	10U

/* What is there now, and of whom: an exit from anywhere removes it. */
static struct containers *present;
static pid_t owner;

static void stop_container(struct containers *c, enum side side)
{
	struct container *one = &c->side[side];
	unsigned int i;

	/* while it is still being made there may be nothing to remove yet */
	for (i = 0; i < REMOVALS && one->left; i++) {
		the_runtime()->remove(c, side);
		one->left = one->program &&
			    wait_child(one->program, now_ns() + NSEC_PER_SEC) == -1;
	}
	if (one->left) {
		kill(one->program, SIGKILL);
		wait_child(one->program, now_ns() + PATIENCE_NS);
	}
}

static void remove_all(void)
{
	struct containers *c = present;
	enum side side;

	if (!c || getpid() != owner)
		return;
	present = NULL;
	for (side = SENDER; side < SIDES; side++)
		stop_container(c, side);
	if (the_runtime()->clean_up)
		the_runtime()->clean_up(c);
	for (side = SENDER; side < SIDES; side++)
		stop_network(&c->side[side]);
	remove_files(c);
}

static void begin(struct containers *c)
{
	if (!owner && atexit(remove_all))
		die(EXIT_FAILED, "no memory");
	owner = getpid();
	snprintf(c->name, sizeof(c->name), "ipclat-%d", owner);
	present = c;
}

static void prepare(struct containers *c, const struct settings *s)
{
	const struct runtime *r = the_runtime();
	enum side side;

	make_files(c);
	fill_page(c->page, s);
	if (c->m->set_up)
		c->m->set_up(c->page);
	for (side = SENDER; side < SIDES; side++) {
		snprintf(c->side[side].id, sizeof(c->side[side].id), "%s-%s", c->name,
			 side_names[side]);
		if (!r->networks)
			start_network(&c->side[side]);
		if (r->prepare)
			r->prepare(c, side);
	}
	if (!r->networks)
		join_networks(c);
}

static void start_container(struct containers *c, enum side side)
{
	pid_t pid;

	c->side[side].left = true;
	pid = fork_child();
	if (!pid) {
		release_interrupts();
		/* whatever interrupts us is for us to pass on */
		setsid();
		the_runtime()->run(c, side);
		_exit(127);
	}
	c->side[side].program = pid;
}

/* NULL, or what is wrong. */
static const char *look_at_programs(struct containers *c)
{
	enum side side;

	for (side = SENDER; side < SIDES; side++) {
		struct container *one = &c->side[side];
		int status;

		if (!one->program || waitpid(one->program, &status, WNOHANG) != one->program)
			continue;
		one->program = 0;
		if (status)
			return "a container failed";
		one->left = false;
	}
	return NULL;
}

static bool all_inside(const struct containers *c)
{
	return load(&c->page->inside) == SIDES;
}

static bool all_ended(const struct containers *c)
{
	return !c->side[SENDER].program && !c->side[RECEIVER].program;
}

/* Looks again when a program ends and, if @look_ns is not 0, after that time. */
static const char *await(struct containers *c, bool (*done)(const struct containers *c),
			 u64 look_ns, u64 deadline_ns)
{
	const char *bad;

	while (!(bad = look_at_programs(c)) && !done(c)) {
		u64 now = now_ns(), until = look_ns ? now + look_ns : deadline_ns;

		if (interrupted())
			return "interrupted";
		if (now >= deadline_ns)
			return look_ns ? "a container did not start in time" :
					 "a container did not end in time";
		await_signal(until < deadline_ns ? until : deadline_ns);
	}
	return bad;
}

/* Containers that run get the networks that their runtime left empty. */
static void connect_networks(struct containers *c)
{
	const struct runtime *r = the_runtime();
	enum side side;

	if (!r->networks)
		return;
	for (side = SENDER; side < SIDES; side++) {
		c->side[side].network = r->pid(c, side);
		if (c->side[side].network <= 0)
			die(EXIT_FAILED, "%s does not tell the process of a container", r->name);
	}
	join_networks(c);
}

const char *run_containers(const struct settings *s, const struct mechanism *m,
			   struct histogram *h)
{
	static struct containers c;
	const char *bad;
	enum side side;

	c = (struct containers){ .m = m };
	begin(&c);
	prepare(&c, s);
	for (side = SENDER; side < SIDES; side++)
		start_container(&c, side);
	bad = await(&c, all_inside, LOOK_NS, now_ns() + PATIENCE_NS);
	if (!bad) {
		connect_networks(&c);
		futex_set(&c.page->connected, 1);
		/* nothing of ours runs during the measurement */
		bad = await(&c, all_ended, 0, now_ns() + s->limit_ns + PATIENCE_NS);
	}
	if (!bad)
		histogram_merge(h, &c.page->histogram);
	remove_all();
	return bad;
}

int contained_side(const struct mechanism *m, const char *name)
{
	unsigned int side = args_choice("--side", name, side_names);
	struct page *page = contained_page();

	if (!page || !m)
		die(EXIT_USAGE, "--side is for containers that ipclat starts");
	__atomic_add_fetch(&page->inside, 1, __ATOMIC_ACQ_REL);
	if (!futex_await(&page->connected, 1, now_ns() + PATIENCE_NS))
		die(EXIT_FAILED, "the networks were not joined in time");
	run_side(page, m, side);
	return EXIT_GOOD;
}
