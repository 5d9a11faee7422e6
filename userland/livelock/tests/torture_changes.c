// SPDX-License-Identifier: GPL-2.0
/* torture_changes.c - livelock-torture: what is changed while frames flood in. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cgroup.h"
#include "procfs.h"
#include "torture.h"

#define TEXT_MAX	128

u32 torture_address(unsigned int port)
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

int change_mode(struct torture *t, struct nic *nic)
{
	static const char *const modes[] = { "napi", "poll", "interrupt" };
	static const char *const governor[] = { "auto", "poll", "off" };
	u32 i = random_below(&t->random, t->all_modes ? 3 : 2);

	if (t->ours && random_below(&t->random, 2))
		return nic_set(nic, "nll/mode", modes[i]);
	return nic_set(nic, "governor/mode", governor[i]);
}

struct number {
	const char *name;
	u32 min;
	u32 max;
};

#define NUMBERS_OF_DRIVER	2	/* the last ones */

static const struct number numbers[] = {
	{ "governor/limit", 10, 60 }, { "governor/high", 26, 100 }, { "governor/low", 1, 25 },
	{ "governor/quota", 1, 4096 }, { "governor/hold_us", 20000, 40000 },
	{ "governor/round_us", 50, 10000 },
	{ "nll/quota", 1, 16 }, { "nll/poll_us", 1000, 10000 },
};

static int change_parameter(struct torture *t, struct nic *nic)
{
	u32 count = ARRAY_SIZE(numbers) - (t->ours ? 0 : NUMBERS_OF_DRIVER);
	const struct number *n = &numbers[random_below(&t->random, count)];

	return set_number(nic, n->name, random_between(&t->random, n->min, n->max));
}

/* Refused, and what was there stays. */
static int change_refused(struct torture *t, struct nic *nic)
{
	static const char *const bad[][2] = {
		{ "governor/limit", "0" }, { "governor/limit", "96" },
		{ "governor/limit", "50 %" }, { "governor/high", "25" },
		{ "governor/high", "101" }, { "governor/low", "0" }, { "governor/low", "26" },
		{ "governor/low", "-1" }, { "governor/quota", "0" },
		{ "governor/quota", "4097" }, { "governor/hold_us", "19999" },
		{ "governor/hold_us", "1000001" }, { "governor/round_us", "49" },
		{ "governor/round_us", "10001" }, { "governor/round_us", "" },
		{ "governor/mode", "turbo" }, { "governor/mode", "auto auto" },
		{ "nll/quota", "0" }, { "nll/quota", "65" }, { "nll/poll_us", "99" },
		{ "nll/poll_us", "10001" }, { "nll/poll_us", "1 ms" },
		{ "nll/mode", "turbo" }, { "nll/mode", "poll poll" },
	};
	static const u32 of_driver = 7;	/* the last ones */
	char path[TEXT_MAX], before[TEXT_MAX], after[TEXT_MAX];
	u32 i = random_below(&t->random, ARRAY_SIZE(bad) - (t->ours ? 0 : of_driver));

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

int change_down_up(struct torture *t, struct nic *nic)
{
	int error = nic_down(nic);

	return error ? error : nic_up(nic, torture_address(port_of(t, nic)));
}

/* A driver that was loaded again has its defaults, by which a flooded CPU livelocks. */
int torture_begin_mode(struct nic *nic)
{
	return nic_set(nic, "governor/mode", "auto");
}

/* A driver that is unloaded takes its counters along. */
u64 torture_switched(const struct torture *t)
{
	char path[TEXT_MAX], stats[2 * TEXT_MAX];
	u64 sum = t->switched, one;
	unsigned int i;

	for (i = 0; i < t->ports; i++) {
		snprintf(path, sizeof(path), "/sys/class/net/%s/governor/stats",
			 t->receiver[i].name);
		if (read_text(path, stats, sizeof(stats)) > 0 &&
		    sscanf(stats, "switches %llu", &one) == 1)
			sum += one;
	}
	return sum;
}

/* All ports, not only this one. */
static int change_reload(struct torture *t, struct nic *nic)
{
	unsigned int i;
	int error;

	(void)nic;
	t->switched = torture_switched(t);
	error = module_unload(t->driver);
	if (!error)
		error = module_load(t->driver, "");
	for (i = 0; !error && i < t->ports; i++) {
		error = nic_bind(&t->receiver[i], t->driver);
		if (!error)
			error = torture_begin_mode(&t->receiver[i]);
		if (!error)
			error = nic_up(&t->receiver[i], torture_address(i));
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

struct change torture_changes[] = {
	{ .name = "mode", .make = change_mode },
	{ .name = "parameter", .make = change_parameter },
	{ .name = "refused", .make = change_refused },
	{ .name = "ring", .make = change_ring, .anew = BY_ALL },
	{ .name = "mtu", .make = change_mtu, .anew = BY_OTHERS },
	{ .name = "group", .make = change_group, .anew = BY_OTHERS },
	{ .name = "threaded", .make = change_threaded },
	{ .name = "down-up", .make = change_down_up, .anew = BY_ALL },
	{ .name = "reload", .make = change_reload, .anew = BY_ALL },
	{ .name = "netpoll", .make = change_netpoll, .sends = true },
	{ .name = "hotplug", .make = change_hotplug, .cpus = 2 },
};

const unsigned int torture_kinds = ARRAY_SIZE(torture_changes);

bool torture_can(const struct torture *t, const struct change *change)
{
	return t->cpus >= change->cpus && (t->ours || !change->sends);
}
