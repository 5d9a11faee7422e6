// SPDX-License-Identifier: GPL-2.0
/*
 * livelock-torture.c - change everything about receiving ports while frames flood
 * in, and see that frames flow again each time.
 */
#include <errno.h>
#include <getopt.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "apps.h"
#include "args.h"
#include "clock.h"
#include "kmod.h"
#include "ktap.h"
#include "procfs.h"
#include "random.h"
#include "source.h"

#define DRIVER		"napi_livelock"
#define FIRST_PORT	9001
#define PPS_MAX		10000000U
#define TICK_MAX	100000U
#define OVERLOAD	10
#define MEASURE_NS	(2 * NSEC_PER_SEC)
#define MEASURE_PPS	100000
#define SECONDS_MAX	3600U
#define WITHIN_MS_MAX	60000U
#define LINK_NS		(20 * NSEC_PER_SEC)
#define TEXT_MAX	128
/* What the memory of an idle machine varies by. A ring has at least 32 pages. */
#define PAGES_CYCLES	200U
#define PAGES_LOST_MAX	150
#define PAGES_ROUNDS	3U

static const char usage[] =
"Usage: livelock-torture [options]\n"
"\n"
"Load napi_livelock for the first half of the machine's cards (82540EM), nll_source\n"
"for the second, and change, in a random order, the mode, the parameters, the rings,\n"
"the MTU and the groups of the ports, take them down and up, unload and load the\n"
"driver, and take CPUs offline, while frames flood in. What is not allowed must be\n"
"refused and change nothing, after each change frames must flow, and at the end no\n"
"memory may be lost. The output is KTAP.\n"
"\n"
"  -t, --seconds N     how long (10)\n"
"  -r, --pps N         frames a second, all ports together; without it, ten times\n"
"                      what the machine takes, which is measured first\n"
"      --tick US       frames that are due within it leave together (50)\n"
"      --within MS     how soon they flow again (100)\n"
"      --governor      NAPI, with the modes and parameters of the receive governor\n"
"      --all-modes     also those in which a flooded CPU livelocks: interrupt, napi, off\n"
"      --no-pages      do not count pages, as where KASAN keeps what was freed\n"
"      --seed N        of the order (1)\n"
TEST_USAGE;

enum { OPT_WITHIN = 256, OPT_TICK, OPT_GOVERNOR, OPT_ALL_MODES, OPT_NO_PAGES, OPT_SEED };

static const struct option longs[] = {
	{ "seconds", required_argument, NULL, 't' },
	{ "pps", required_argument, NULL, 'r' },
	{ "tick", required_argument, NULL, OPT_TICK },
	{ "within", required_argument, NULL, OPT_WITHIN },
	{ "governor", no_argument, NULL, OPT_GOVERNOR },
	{ "all-modes", no_argument, NULL, OPT_ALL_MODES },
	{ "no-pages", no_argument, NULL, OPT_NO_PAGES },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "ktap", no_argument, NULL, 'k' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

struct torture {
	u64 seconds;
	u64 pps;		/* 0: OVERLOAD times what the machine takes */
	u64 tick_us;
	u64 within_ns;
	bool governor;
	bool all_modes;
	bool no_pages;
	struct random random;
	unsigned int ports;
	unsigned int cpus;
	struct nic receiver[APPS_MAX];
	struct nic sender[APPS_MAX];
	struct apps apps;
};

/* A kind of change: 0 or -errno; how often it was made, and the longest silence after it. */
struct change {
	const char *name;
	int (*make)(struct torture *t, struct nic *nic);
	unsigned int made;
	unsigned int silent;
	int error;
	u64 slowest_ns;
};

static u32 address(unsigned int port)
{
	return 10U << 24 | (port + 1) << 16 | 2;
}

static unsigned int port_of(const struct torture *t, const struct nic *nic)
{
	return (unsigned int)(nic - t->receiver);
}

static int set_number(const struct nic *nic, const char *attribute, u32 value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	return nic_set(nic, attribute, text);
}

static int change_mode(struct torture *t, struct nic *nic)
{
	static const char *const modes[] = { "hybrid", "poll", "interrupt", "napi" };
	static const char *const governor[] = { "auto", "poll", "off" };
	u32 count = t->governor ? ARRAY_SIZE(governor) : ARRAY_SIZE(modes);
	u32 i = random_below(&t->random, t->all_modes ? count : 2);

	return nic_set(nic, t->governor ? "governor/mode" : "nll/mode",
		       t->governor ? governor[i] : modes[i]);
}

struct number {
	const char *name;
	u32 min;
	u32 max;
};

static const struct number numbers[] = {
	{ "nll/limit", 10, 60 }, { "nll/high", 31, 100 }, { "nll/low", 0, 30 },
	{ "nll/quota", 1, 4096 }, { "nll/hold_us", 20000, 1000000 },
	{ "nll/poll_us", 100, 10000 }, { "nll/buffers", 32, 2048 },
};

static const struct number governor_numbers[] = {
	{ "governor/limit", 10, 60 }, { "governor/high", 26, 100 }, { "governor/low", 1, 25 },
	{ "governor/quota", 1, 4096 }, { "governor/hold_us", 20000, 1000000 },
	{ "governor/round_us", 50, 10000 },
};

static int change_parameter(struct torture *t, struct nic *nic)
{
	u32 count = t->governor ? ARRAY_SIZE(governor_numbers) : ARRAY_SIZE(numbers);
	const struct number *n = t->governor ? governor_numbers : numbers;

	n += random_below(&t->random, count);
	return set_number(nic, n->name, random_between(&t->random, n->min, n->max));
}

/* Refused, and what was there stays. */
static int change_refused(struct torture *t, struct nic *nic)
{
	static const char *const bad[][2] = {
		{ "nll/limit", "0" }, { "nll/limit", "96" }, { "nll/limit", "50 %" },
		{ "nll/high", "101" }, { "nll/high", "0" }, { "nll/low", "100" },
		{ "nll/low", "-1" }, { "nll/quota", "0" }, { "nll/quota", "4097" },
		{ "nll/hold_us", "19999" }, { "nll/hold_us", "1000001" },
		{ "nll/poll_us", "99" }, { "nll/poll_us", "10001" }, { "nll/buffers", "31" },
		{ "nll/buffers", "2049" }, { "nll/buffers", "" }, { "nll/mode", "turbo" },
		{ "nll/mode", "poll poll" },
		{ "governor/limit", "0" }, { "governor/limit", "96" },
		{ "governor/limit", "50 %" }, { "governor/high", "25" },
		{ "governor/high", "101" }, { "governor/low", "0" }, { "governor/low", "26" },
		{ "governor/low", "-1" }, { "governor/quota", "0" },
		{ "governor/quota", "4097" }, { "governor/hold_us", "19999" },
		{ "governor/hold_us", "1000001" }, { "governor/round_us", "49" },
		{ "governor/round_us", "10001" }, { "governor/round_us", "" },
		{ "governor/mode", "turbo" }, { "governor/mode", "auto auto" },
	};
	char path[TEXT_MAX], before[TEXT_MAX], after[TEXT_MAX];
	u32 i = random_below(&t->random, ARRAY_SIZE(bad));

	snprintf(path, sizeof(path), "/sys/class/net/%s/%s", nic->name, bad[i][0]);
	if (read_text(path, before, sizeof(before)) < 0)
		return -EIO;
	/* sysfs ends an empty write before it gets anywhere. */
	if (*bad[i][1] && nic_set(nic, bad[i][0], bad[i][1]) != -EINVAL)
		return -EPROTO;
	if (read_text(path, after, sizeof(after)) < 0 || strcmp(before, after))
		return -EPROTO;
	return 0;
}

static int change_ring(struct torture *t, struct nic *nic)
{
	return nic_set_ring(nic, 8 * random_between(&t->random, 8, 512));
}

static int change_mtu(struct torture *t, struct nic *nic)
{
	return set_number(nic, "mtu", random_between(&t->random, 576, 1600));
}

/* The card's filter is written anew, and once more when the group is left. */
static int change_group(struct torture *t, struct nic *nic)
{
	unsigned char group[] = { 0x01, 0x00, 0x5e, 0x00, 0x00, 0x00 };
	int error;

	group[4] = (unsigned char)random_below(&t->random, 256);
	group[5] = (unsigned char)random_below(&t->random, 256);
	error = nic_join(nic, group, true);
	return error ? error : nic_join(nic, group, false);
}

static int change_threaded(struct torture *t, struct nic *nic)
{
	return set_number(nic, "threaded", random_below(&t->random, 2));
}

static int change_down_up(struct torture *t, struct nic *nic)
{
	int error = nic_down(nic);

	return error ? error : nic_up(nic, address(port_of(t, nic)));
}

/* The governor is for NAPI. A driver that was loaded again has its defaults. */
static int begin_mode(const struct torture *t, struct nic *nic)
{
	int error;

	if (!t->governor)
		return 0;
	error = nic_set(nic, "nll/mode", "napi");
	return error ? error : nic_set(nic, "governor/mode", "auto");
}

/* All ports, not only this one. */
static int change_reload(struct torture *t, struct nic *nic)
{
	unsigned int i;
	int error;

	(void)nic;
	error = module_unload(DRIVER);
	if (!error)
		error = module_load(DRIVER, "");
	for (i = 0; !error && i < t->ports; i++) {
		error = nic_bind(&t->receiver[i], DRIVER);
		if (!error)
			error = begin_mode(t, &t->receiver[i]);
		if (!error)
			error = nic_up(&t->receiver[i], address(i));
	}
	return error;
}

static int set_online(unsigned int cpu, bool online)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%u/online", cpu);
	return write_text(path, online ? "1" : "0");
}

static int change_hotplug(struct torture *t, struct nic *nic)
{
	unsigned int cpu = random_between(&t->random, 1, t->cpus - 1);
	int error;

	(void)nic;
	error = set_online(cpu, false);
	return error ? error : set_online(cpu, true);
}

static struct change changes[] = {
	{ .name = "mode", .make = change_mode },
	{ .name = "parameter", .make = change_parameter },
	{ .name = "refused", .make = change_refused },
	{ .name = "ring", .make = change_ring },
	{ .name = "mtu", .make = change_mtu },
	{ .name = "group", .make = change_group },
	{ .name = "threaded", .make = change_threaded },
	{ .name = "down-up", .make = change_down_up },
	{ .name = "reload", .make = change_reload },
	/* The last one: it takes a second CPU. */
	{ .name = "hotplug", .make = change_hotplug },
};

static unsigned int kinds(const struct torture *t)
{
	return ARRAY_SIZE(changes) - (t->cpus < 2);
}

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

static void make_change(struct torture *t, struct change *change)
{
	struct nic *nic = &t->receiver[random_below(&t->random, t->ports)];
	u64 took_ns;
	int error;

	error = change->make(t, nic);
	change->made++;
	if (error && !change->error)
		change->error = error;
	/* A port that does not come back must not hide behind the next change. */
	if (!wait_for_frames(nic, t->within_ns, &took_ns)) {
		change->silent++;
		wait_for_frames(nic, LINK_NS, &took_ns);
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
		check(nic_bind(&t->receiver[i], DRIVER), DRIVER);
		check(begin_mode(t, &t->receiver[i]), "mode");
		check(nic_up(&t->receiver[i], address(i)), t->receiver[i].name);
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
		check(nic_reserve(&t->receiver[i], DRIVER), DRIVER);
		check(nic_reserve(&t->sender[i], SOURCE_DRIVER), SOURCE_DRIVER);
	}
	check(module_load(SOURCE_DRIVER, ""), SOURCE_DRIVER);
	check(module_load(DRIVER, ""), DRIVER);
	check(source_clear(), "targets");
	for (i = 0; i < t->ports; i++) {
		check(nic_bind(&t->sender[i], SOURCE_DRIVER), SOURCE_DRIVER);
		check(source_add(&t->sender[i], &t->receiver[i], address(i), FIRST_PORT + i),
		      "targets");
	}
	bring_up(t);
	apps_start(&t->apps, &(struct apps_options){ .ports = t->ports, .first_port = FIRST_PORT });
	apps_release(&t->apps, (struct apps_window){ });
}

static void flood(struct torture *t, u64 pps)
{
	unsigned int i;
	u64 took_ns;

	check(source_configure("function constant warmup_ms 0 lag_ms 0 start_ns 0"), "config");
	check(source_configure("packets %llu per_ns %llu duration_ns %llu tick_ns %llu", pps,
			       NSEC_PER_SEC, SECONDS_MAX * NSEC_PER_SEC,
			       t->tick_us * NSEC_PER_USEC), "config");
	check(source_start(), "run");
	for (i = 0; i < t->ports; i++)
		if (!wait_for_frames(&t->receiver[i], LINK_NS, &took_ns))
			die(EXIT_FAILED, "%s: no frames", t->receiver[i].name);
}

/* All frames that the source was to send, or did, since it began. */
static struct source_counts sent(void)
{
	struct source_results results;

	check(source_read(&results), "results");
	return source_sum(&results.total);
}

/* What the ports take of a flood, frames a second. */
static u64 measure(struct torture *t)
{
	u64 before, begin;

	flood(t, MEASURE_PPS);
	before = sent().sent;
	begin = now_ns();
	sleep_until_ns(begin + MEASURE_NS);
	before = (sent().sent - before) * NSEC_PER_SEC / (now_ns() - begin);
	source_stop();
	return before;
}

/* Whether the flood was one: half of OVERLOAD, for ports are down now and then. */
static void test_overload(struct ktap *k)
{
	struct source_counts counts = sent();

	ktap_note(k, "%llu frames were due, %llu were taken", counts.due, counts.sent);
	ktap_result(k, counts.sent && counts.due >= OVERLOAD / 2 * counts.sent, "overload");
}

static void report(struct ktap *k, const struct change *change)
{
	bool good = change->made && !change->error && !change->silent;

	ktap_note(k, "%s: %u times, frames after %llu ms at the latest", change->name,
		  change->made, change->slowest_ns / NSEC_PER_MSEC);
	if (change->error)
		ktap_note(k, "%s: %s", change->name, strerror(-change->error));
	if (change->silent)
		ktap_note(k, "%s: %u times not in time", change->name, change->silent);
	ktap_result(k, good, change->name);
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
 * Up and down so often that a page lost each time would show. What the first ones
 * leave in caches stays there. The kernel may take a huge page for something else
 * meanwhile, once: who loses pages loses them in each round.
 */
static void test_pages(struct torture *t, struct ktap *k)
{
	unsigned int round;
	int error = 0;
	long lost;

	pages_taken(t, &error);
	for (round = 0; round < PAGES_ROUNDS; round++) {
		lost = pages_taken(t, &error);
		ktap_note(k, "%ld pages lost in %u times up and down", lost, PAGES_CYCLES);
		if (error || lost <= PAGES_LOST_MAX)
			break;
	}
	ktap_result(k, !error && lost <= PAGES_LOST_MAX, "pages");
}

static int torture(struct torture *t)
{
	bool overload = !t->pps;
	struct ktap k = { };
	unsigned int i;
	u64 end;

	ktap_start(&k, kinds(t) + 1 + overload + !t->no_pages);
	if (overload) {
		u64 takes = measure(t);

		t->pps = OVERLOAD * takes;
		ktap_note(&k, "%llu frames/s are taken, %llu are sent", takes, t->pps);
	}
	flood(t, t->pps);
	end = now_ns() + t->seconds * NSEC_PER_SEC;
	/* However slow the machine, each of them. */
	for (i = 0; i < kinds(t); i++)
		make_change(t, &changes[i]);
	while (now_ns() < end)
		make_change(t, &changes[random_below(&t->random, kinds(t))]);
	for (i = 0; i < kinds(t); i++)
		report(&k, &changes[i]);
	source_stop();
	if (overload)
		test_overload(&k);
	if (!t->no_pages)
		test_pages(t, &k);
	apps_stop(&t->apps);
	for (i = 0; i < t->ports; i++)
		check(nic_down(&t->receiver[i]), t->receiver[i].name);
	ktap_result(&k, !module_unload(DRIVER) && !module_unload(SOURCE_DRIVER), "unload");
	return ktap_finish(&k);
}

static void parse(int argc, char **argv, struct torture *t)
{
	int c;

	while ((c = getopt_long(argc, argv, ":t:r:hV", longs, NULL)) != -1) {
		switch (c) {
		case 't':
			t->seconds = args_number("seconds", optarg, 1, SECONDS_MAX);
			break;
		case 'r':
			t->pps = args_number("pps", optarg, 1, PPS_MAX);
			break;
		case OPT_TICK:
			t->tick_us = args_number("tick", optarg, 1, TICK_MAX);
			break;
		case OPT_WITHIN:
			t->within_ns = NSEC_PER_MSEC *
				       args_number("within", optarg, 1, WITHIN_MS_MAX);
			break;
		case OPT_GOVERNOR:
			t->governor = true;
			break;
		case OPT_ALL_MODES:
			t->all_modes = true;
			break;
		case OPT_NO_PAGES:
			t->no_pages = true;
			break;
		case OPT_SEED:
			t->random.state = args_number("seed", optarg, 0, UINT64_MAX);
			break;
		default:
			args_validator(c, argv, usage);
		}
	}
	args_no_more(argc, argv, optind);
}

int main(int argc, char **argv)
{
	struct torture t = {
		.seconds = 10,
		.tick_us = 50,
		.within_ns = 100 * NSEC_PER_MSEC,
		.random = { .state = 1 },
	};

	args_init("livelock-torture");
	parse(argc, argv, &t);
	set_up(&t);
	return torture(&t);
}
