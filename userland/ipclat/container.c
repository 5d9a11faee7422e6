// SPDX-License-Identifier: GPL-2.0
/*
 * container.c - the two sides in two containers, each with mounts, processes, IPC and a
 * network of its own. A veth pair joins the networks; the page is a file that both have
 * mounted.
 */
#include <errno.h>
#include <fcntl.h>
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
#include "container.h"
#include "crew.h"
#include "futex.h"
#include "interrupt.h"

/* A container may need so long to start, and to end. */
#define PATIENCE_NS	(60 * NSEC_PER_SEC)
#define LOOK_NS		(5 * NSEC_PER_MSEC)
#define REMOVALS	10U

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
	if (c->page)
		munmap(c->page, sizeof(*c->page));
	call("rm", "-rf", c->dir, NULL);
}

static void begin(struct containers *c)
{
	if (!owner && atexit(remove_all))
		die(EXIT_FAILED, "no memory");
	owner = getpid();
	snprintf(c->name, sizeof(c->name), "ipclat-%d", owner);
	snprintf(c->dir, sizeof(c->dir), "%s/ipclat-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(c->dir))
		die(EXIT_FAILED, "cannot make %s: %s", c->dir, strerror(errno));
	present = c;
}

static void prepare(struct containers *c, const struct settings *s)
{
	const struct runtime *r = the_runtime();
	enum side side;

	make_dir(c, "root");
	make_dir(c, "root/dev");
	make_dir(c, "root/proc");
	make_dir(c, "root/share");
	make_dir(c, "share");
	copy_ourselves(c);
	make_page(c);
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

/* Looks again when a program ends, and if @look_ns is not 0, so often. */
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
		/* nothing of ours runs beside what is measured */
		bad = await(&c, all_ended, 0, now_ns() + s->limit_ns + PATIENCE_NS);
	}
	if (!bad)
		histogram_merge(h, &c.page->histogram);
	remove_all();
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
	__atomic_add_fetch(&page->inside, 1, __ATOMIC_ACQ_REL);
	if (!futex_await(&page->connected, 1, now_ns() + PATIENCE_NS))
		die(EXIT_FAILED, "nobody has joined the networks");
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
