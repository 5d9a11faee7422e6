// SPDX-License-Identifier: GPL-2.0
/*
 * livelock-torture.c - change everything about receiving ports while frames flood
 * in, and see that frames flow again each time.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "cgroup.h"
#include "clock.h"
#include "ktap.h"
#include "opts.h"
#include "source.h"
#include "torture.h"

#define DRIVER		"napi_livelock"	/* the default */
#define FIRST_PORT	9001
#define PPS_MAX		10000000U
#define TICK_MAX	100000U
#define OVERLOAD	10
#define MEASURE_NS	(2 * NSEC_PER_SEC)
#define MEASURE_PPS	100000
#define SECONDS_MAX	3600U
#define WITHIN_MS_MAX	60000U
#define LINK_NS		(20 * NSEC_PER_SEC)
/* QEMU's card takes nothing for so long after its receiver was enabled. */
#define DEAF_NS		NSEC_PER_SEC
/* So much less often, where nothing else is said, it is begun anew than changed otherwise. */
#define SELDOM		8
#define SELDOM_MAX	10000U
#define CHANGES_MAX	100000000U
#define PULSE_NS	(20 * NSEC_PER_MSEC)
#define PAUSE_NS	(40 * NSEC_PER_MSEC)
/* Of a thousand a second, on a kernel that checks itself, under a flood. */
#define TRANSMIT_LEAST	20
/* What the memory of an idle machine varies by. A ring has at least 32 pages. */
#define PAGES_CYCLES	200U
#define PAGES_LOST_MAX	100
#define PAGES_ROUNDS	10U
#define PAGES_CALM	2U

static struct torture t;

static const struct opt rows[] = {
	OPT('t', "--seconds", "N", NUMBER(t.seconds, 1, SECONDS_MAX, 10), "how long (%d)"),
	OPT(0, "--changes", "N", NUMBER(t.changes, 0, CHANGES_MAX, 0),
	    "and until so many changes were made (%d)"),
	OPT(0, "--switches", "N", NUMBER(t.switches, 0, CHANGES_MAX, 0),
	    "and until the governor has switched so often (%d)"),
	OPT(0, "--pulses", NULL, FLAG(t.pulses),
	    "frames come for 20 ms, three times as many as on the average, and\n"
	    "none for 40 ms, so that the governor switches more often"),
	OPT(0, "--seldom", "N", NUMBER(t.seldom, 1, SELDOM_MAX, SELDOM),
	    "so much less often are those for which frames wait a second (%d)"),
	OPT('r', "--pps", "N", NUMBER(t.pps, 1, PPS_MAX, 0),
	    "frames a second, all ports together; without it, ten times\n"
	    "what the machine takes, which is measured first"),
	OPT(0, "--tick", "US", NUMBER(t.tick_us, 1, TICK_MAX, 50),
	    "frames that are due within it leave together (%d)"),
	OPT(0, "--within", "MS", SCALED(t.within_ns, 1, WITHIN_MS_MAX, 100, NSEC_PER_MSEC),
	    "how soon they flow again (%d); not counted is the second for\n"
	    "which QEMU's card takes nothing after its receiver was enabled"),
	OPT('D', "--driver", "NAME", TEXT(t.driver, DRIVER),
	    "the driver (%d); another one has no modes of its own"),
	OPT(0, "--all-modes", NULL, FLAG(t.all_modes),
	    "also those in which a flooded CPU livelocks: interrupt, off"),
	OPT(0, "--no-pages", NULL, FLAG(t.no_pages),
	    "do not count pages, as where KASAN keeps what was freed"),
	OPT(0, "--seed", "N", NUMBER(t.random.state, 0, UINT64_MAX, 1), "of the order (%d)"),
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: livelock-torture [options]\n"
"\n"
"Load a driver for the first half of the machine's cards (82540EM), nll_source for\n"
"the second, and change, in a random order, the modes and parameters of the driver\n"
"and of the receive governor, the rings, the MTU and the groups of the ports, take\n"
"them down and up, unload and load the driver, and take CPUs offline, while frames\n"
"flood in. What is not allowed must be refused and change nothing, after each change\n"
"frames must flow; ports of napi_livelock send as well, by netpoll too (netconsole), and\n"
"at the end no memory may be lost. The output is KTAP.\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
};

struct flow {
	const struct nic *nic;
	u64 packets;
};

static bool flows(void *arg)
{
	const struct flow *flow = arg;

	return nic_counter(flow->nic, "rx_packets") > flow->packets;
}

/* Frames arrive at the port; false when they do not in time. */
static bool wait_for_frames(const struct nic *nic, u64 timeout_ns, u64 *took_ns)
{
	struct flow flow = { nic, nic_counter(nic, "rx_packets") };
	u64 begin = now_ns();
	bool good = wait_until(flows, &flow, timeout_ns);

	*took_ns = now_ns() - begin;
	return good;
}

static bool begins_anew(const struct torture *t, const struct change *change)
{
	return change->anew == BY_ALL || (change->anew == BY_OTHERS && !t->ours);
}

static void make_change(struct torture *t, struct change *change)
{
	struct nic *nic = &t->receiver[random_below(&t->random, t->ports)];
	u64 took_ns;
	int error;

	error = change->make(t, nic);
	change->made++;
	t->changed++;
	if (error && !change->error)
		change->error = error;
	/* A port that does not come back must not hide behind the next change. */
	if (begins_anew(t, change))
		sleep_until_ns(now_ns() + DEAF_NS);
	if (!wait_for_frames(nic, t->within_ns, &took_ns)) {
		change->late++;
		change->silent += !wait_for_frames(nic, LINK_NS, &took_ns);
	}
	if (took_ns > change->slowest_ns)
		change->slowest_ns = took_ns;
}

static bool has_carrier(void *arg)
{
	return nic_carrier(arg);
}

static void check(int error, const char *what)
{
	if (error)
		die(EXIT_FAILED, "%s: %s", what, strerror(-error));
}

static void bring_up(struct torture *t)
{
	unsigned int i;

	for (i = 0; i < t->ports; i++) {
		check(nic_bind(&t->receiver[i], t->driver), t->driver);
		check(torture_begin_mode(&t->receiver[i]), "mode");
		check(nic_up(&t->receiver[i], torture_address(i)), t->receiver[i].name);
	}
	for (i = 0; i < t->ports; i++)
		if (!wait_until(has_carrier, &t->receiver[i], LINK_NS))
			die(EXIT_FAILED, "%s: no link", t->receiver[i].name);
}

static void set_up(struct torture *t)
{
	struct nic nics[NICS_MAX];
	unsigned int i;

	t->cpus = (unsigned int)sysconf(_SC_NPROCESSORS_CONF);
	t->ports = nic_list(nics) / 2;
	if (!t->ports)
		die(EXIT_UNSUPPORTED, "two cards (82540EM) are needed");
	for (i = 0; i < t->ports; i++) {
		t->receiver[i] = nics[i];
		t->sender[i] = nics[t->ports + i];
		check(nic_reserve(&t->receiver[i], t->driver), t->driver);
		check(nic_reserve(&t->sender[i], SOURCE_DRIVER), SOURCE_DRIVER);
	}
	check(module_load(SOURCE_DRIVER, ""), SOURCE_DRIVER);
	check(module_load(t->driver, ""), t->driver);
	check(source_clear(), "targets");
	for (i = 0; i < t->ports; i++) {
		check(nic_bind(&t->sender[i], SOURCE_DRIVER), SOURCE_DRIVER);
		check(source_add(&t->sender[i], &t->receiver[i], torture_address(i),
				 (u16)(FIRST_PORT + i)), "targets");
	}
	bring_up(t);
	apps_start(&t->apps, &(struct apps_options){ .ports = t->ports, .first_port = FIRST_PORT });
	apps_release(&t->apps, (struct apps_window){ });
	if (!t->ours)
		return;
	transmit_start(&t->transmit, t->receiver, t->ports);
	torture_netpoll_begin();
}

static void flood(struct torture *t, u64 pps)
{
	unsigned int i;
	u64 took_ns;

	check(source_configure("function %s on_ns %llu off_ns %llu warmup_ms 0 lag_ms 0 start_ns 0",
			       t->pulses ? "peaks" : "constant", PULSE_NS, PAUSE_NS), "config");
	check(source_configure("packets %llu per_ns %llu duration_ns %llu tick_ns %llu", pps,
			       NSEC_PER_SEC, SECONDS_MAX * NSEC_PER_SEC,
			       t->tick_us * NSEC_PER_USEC), "config");
	check(source_start(), "run");
	for (i = 0; i < t->ports; i++)
		if (!wait_for_frames(&t->receiver[i], LINK_NS, &took_ns))
			die(EXIT_FAILED, "%s: no frames", t->receiver[i].name);
}

/* All frames that were to be sent since the source began. */
static u64 due(void)
{
	struct source_results results;

	check(source_read(&results), "results");
	return source_sum(&results.total).due;
}

/* All frames that the stack had, whatever became of them. */
static u64 taken(void)
{
	u64 sum;

	check(softnet_sum(0, &sum), "/proc/net/softnet_stat");
	return sum;
}

/* What the machine takes of a flood, frames a second. */
static u64 measure(struct torture *t)
{
	bool pulses = t->pulses;
	u64 before, begin;

	t->pulses = false;
	flood(t, MEASURE_PPS);
	t->pulses = pulses;
	before = taken();
	begin = now_ns();
	sleep_until_ns(begin + MEASURE_NS);
	before = (taken() - before) * NSEC_PER_SEC / (now_ns() - begin);
	source_stop();
	return before;
}

/*
 * The ports have sent, too. Not those of the in-tree e1000: its e1000_down() stops the queue
 * before it sets __E1000_DOWN, and a poll between the two starts it again. What is sent then
 * finds a ring that is gone.
 */
static void test_transmit(struct torture *t, struct ktap *k)
{
	u64 sent = transmit_stop(&t->transmit);

	ktap_note(k, "%llu frames were sent out of the ports", sent);
	ktap_result(k, sent >= t->seconds * TRANSMIT_LEAST, "transmit");
}

/* Whether the flood was one: half of OVERLOAD, as the rate that is taken varies. */
static void test_overload(struct ktap *k, u64 sent, u64 frames)
{
	ktap_result(k, frames && sent >= OVERLOAD / 2 * frames, "overload");
}

/*
 * Netpoll has polled, not only sent, and what it polled for was done. It polls for as long as
 * another CPU has the queue as well, up to a tick: how often is a matter of time.
 */
static void test_netpoll(struct torture *t, struct ktap *k)
{
	u64 most, polls = torture_netpoll_end(t, &most);
	bool few = polls <= most;

	ktap_note(k, "%snetpoll has polled the ports %llu times for %llu messages",
		  few || bounds_on() ? "" : "bound missed: ", polls, t->messages);
	ktap_result(k, polls && (few || !bounds_on()), "polled");
}

static void report(struct ktap *k, const struct change *change)
{
	bool late = change->late && bounds_on();

	ktap_note(k, "%s: %u times, frames after %llu ms at the latest", change->name,
		  change->made, change->slowest_ns / NSEC_PER_MSEC);
	if (change->error)
		ktap_note(k, "%s: %s", change->name, strerror(-change->error));
	if (change->late)
		ktap_note(k, "%s%s: %u times not in time", late ? "" : "bound missed: ",
			  change->name, change->late);
	if (change->silent)
		ktap_note(k, "%s: %u times no frames", change->name, change->silent);
	ktap_result(k, change->made && !change->error && !late && !change->silent, change->name);
}

/* Pages that so many times up and down have taken. */
static long pages_taken(struct torture *t, int *error)
{
	long before = sysconf(_SC_AVPHYS_PAGES);
	unsigned int i;

	for (i = 0; i < PAGES_CYCLES && !*error; i++)
		*error = change_down_up(t, &t->receiver[0]);
	return before - sysconf(_SC_AVPHYS_PAGES);
}

/*
 * Up and down so often that a page lost each time would show. What was changed before may
 * give pages back or take them for a while, and each CPU keeps some that are free. A leak
 * does not end: then no two rounds in a row lose no pages.
 */
static void test_pages(struct torture *t, struct ktap *k)
{
	unsigned int round, calm = 0;
	int error = 0;
	long lost;

	pages_taken(t, &error);
	for (round = 0; round < PAGES_ROUNDS && calm < PAGES_CALM; round++) {
		lost = pages_taken(t, &error);
		ktap_note(k, "%ld pages lost in %u times up and down", lost, PAGES_CYCLES);
		calm = lost <= PAGES_LOST_MAX ? calm + 1 : 0;
	}
	ktap_result(k, !error && calm == PAGES_CALM, "pages");
}

/* A kind of change, seldom one for which frames have to wait. */
static struct change *choose(struct torture *t)
{
	struct change *change;

	do {
		change = &torture_changes[random_below(&t->random, torture_kinds)];
	} while (!torture_can(t, change) ||
		 (begins_anew(t, change) && random_below(&t->random, t->seldom)));
	return change;
}

/* It has gone on for long enough, and enough was changed. */
static bool is_done(const struct torture *t, u64 end)
{
	return now_ns() >= end && t->changed >= t->changes &&
	       (!t->switches || torture_switched(t) >= t->switches);
}

static unsigned int kinds(const struct torture *t)
{
	unsigned int i, count = 0;

	for (i = 0; i < torture_kinds; i++)
		count += torture_can(t, &torture_changes[i]);
	return count;
}

static int torture(struct torture *t)
{
	bool overload = !t->pps;
	struct ktap k = { };
	unsigned int i;
	u64 end, before;

	ktap_start(&k, kinds(t) + 1 + 2 * t->ours + overload + !t->no_pages);
	if (overload) {
		u64 takes = measure(t);

		t->pps = OVERLOAD * takes;
		ktap_note(&k, "%llu frames/s are taken, %llu are sent", takes, t->pps);
	}
	before = taken();
	flood(t, t->pps);
	end = now_ns() + t->seconds * NSEC_PER_SEC;
	/* However slow the machine, each of them. */
	for (i = 0; i < torture_kinds; i++)
		if (torture_can(t, &torture_changes[i]))
			make_change(t, &torture_changes[i]);
	while (!is_done(t, end))
		make_change(t, choose(t));
	before = taken() - before;
	ktap_note(&k, "%llu changes, the governor switched %llu times", t->changed,
		  torture_switched(t));
	for (i = 0; i < torture_kinds; i++)
		if (torture_can(t, &torture_changes[i]))
			report(&k, &torture_changes[i]);
	source_stop();
	if (t->ours) {
		test_transmit(t, &k);
		test_netpoll(t, &k);
	}
	ktap_note(&k, "%llu frames were due, %llu were taken", due(), before);
	if (overload)
		test_overload(&k, due(), before);
	if (!t->no_pages)
		test_pages(t, &k);
	apps_stop(&t->apps);
	for (i = 0; i < t->ports; i++)
		check(nic_down(&t->receiver[i]), t->receiver[i].name);
	ktap_result(&k, !module_unload(t->driver) && !module_unload(SOURCE_DRIVER), "unload");
	return ktap_finish(&k);
}

/* How long, and of what how much. */
int main(int argc, char **argv)
{
	args_init("livelock-torture");
	opts_parse(&opts, argc, argv);
	t.ours = !strcmp(t.driver, DRIVER);
	set_up(&t);
	return torture(&t);
}
