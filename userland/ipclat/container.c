// SPDX-License-Identifier: GPL-2.0
/*
 * container.c - the two sides in two containers, each with mounts, processes, IPC and a
 * network of its own. A veth pair joins the networks; the page is a file that both have
 * mounted.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "container.h"
#include "container_net.h"
#include "container_runtime.h"
#include "crew.h"
#include "futex.h"
#include "interrupt.h"

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
		/* nothing of ours runs beside what is measured */
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
