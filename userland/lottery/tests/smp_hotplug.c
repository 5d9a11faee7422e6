// SPDX-License-Identifier: GPL-2.0
/* smp_hotplug.c - lottery-smp: CPUs come and go under lottery tasks. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "procfs.h"
#include "smp.h"

#define HOGS_PER_CPU	3U

static void online_path(char *path, size_t size, u32 cpu)
{
	snprintf(path, size, "/sys/devices/system/cpu/cpu%u/online", cpu);
}

int smp_set_online(u32 cpu, bool online)
{
	char path[64];

	online_path(path, sizeof(path), cpu);
	return write_text(path, online ? "1" : "0");
}

bool smp_can_unplug(u32 cpu)
{
	char path[64];

	online_path(path, sizeof(path), cpu);
	return !access(path, W_OK);
}

void smp_online_all(void)
{
	unsigned int i;

	for (i = 0; i < smp.count; i++)
		if (smp_can_unplug(smp.cpu[i]))
			smp_set_online(smp.cpu[i], true);
}

/* @h has tasks everywhere, the last of them bound to @cpu. */
static void fill_herd(struct herd *h, u32 cpu)
{
	unsigned int i;

	herd_create(h);
	for (i = 0; i < HOGS_PER_CPU * smp.count; i++)
		herd_add(h, random_between(&smp.random, 100, 1000), smp.mask);
	herd_add(h, 500, 1ULL << cpu);
	herd_release(h);
}

static void expect_nobody_on(struct ktap_case *t, const struct herd *h, u32 cpu)
{
	struct task_stat stat;
	unsigned int i;

	expect(t, !tasks_on(cpu), "CPU %u is offline and has %llu tasks", cpu, tasks_on(cpu));
	for (i = 0; i < h->count; i++) {
		int error = read_task_stat(h->crew.pid[i], &stat);

		if (expect(t, !error, "task %u is lost: %s", i + 1, strerror(-error)))
			expect(t, stat.cpu != cpu, "task %u is on the offline CPU %u",
			       i + 1, cpu);
	}
}

static bool pools_hold(void *arg)
{
	return tickets_in_pools() == *(u64 *)arg;
}

static void expect_all_tickets(struct ktap_case *t, const struct herd *h)
{
	u64 wanted = h->others;
	unsigned int i;
	bool there;

	for (i = 0; i < h->count; i++)
		wanted += h->tickets[i];
	there = smp_moved(pools_hold, &wanted);
	expect(t, there,
	       "%llu tickets in the pools, wanted %llu", tickets_in_pools(), wanted);
}

static bool has_work(void *arg)
{
	return tasks_on(*(u32 *)arg);
}

static void off_and_on(struct ktap_case *t, u32 cpu)
{
	struct herd h;
	int error;

	fill_herd(&h, cpu);
	expect(t, smp_moved(has_work, &cpu), "CPU %u has no work at first", cpu);
	error = smp_set_online(cpu, false);
	if (expect(t, !error, "CPU %u cannot go offline: %s", cpu, strerror(-error))) {
		expect_nobody_on(t, &h, cpu);
		expect_all_tickets(t, &h);
		expect_progress(t, &h);
		error = smp_set_online(cpu, true);
		expect(t, !error, "CPU %u cannot come back: %s", cpu, strerror(-error));
		expect(t, smp_moved(has_work, &cpu),
		       "CPU %u is back and gets no work within %llu s", cpu,
		       SMP_MOVE_NS / NSEC_PER_SEC);
		expect_all_tickets(t, &h);
		expect_progress(t, &h);
	}
	herd_destroy(&h);
}

static void each_cpu_off_and_on(struct ktap_case *t)
{
	unsigned int i, tried = 0;

	if (!smp.hotplug) {
		skip_test(t, "--no-hotplug");
		return;
	}
	for (i = 0; i < smp.count; i++) {
		if (!smp_can_unplug(smp.cpu[i]))
			continue;
		off_and_on(t, smp.cpu[i]);
		tried++;
	}
	if (!tried)
		skip_test(t, "no CPU of this machine can go offline");
	ktap_note(t->ktap, "%u of %u CPUs went offline and came back", tried, smp.count);
}

/* All but one CPU offline: the last one runs everything. */
static void all_but_one_off(struct ktap_case *t)
{
	struct herd h;
	unsigned int i;
	int error;

	if (!smp.hotplug) {
		skip_test(t, "--no-hotplug");
		return;
	}
	for (i = 1; i < smp.count; i++) {
		if (!smp_can_unplug(smp.cpu[i])) {
			skip_test(t, "CPU %u of this machine cannot go offline", smp.cpu[i]);
			return;
		}
	}
	fill_herd(&h, smp.cpu[0]);
	expect_progress(t, &h);
	for (i = 1; i < smp.count; i++) {
		error = smp_set_online(smp.cpu[i], false);
		expect(t, !error, "CPU %u cannot go offline: %s", smp.cpu[i], strerror(-error));
	}
	expect_progress(t, &h);
	for (i = 1; i < smp.count; i++) {
		error = smp_set_online(smp.cpu[i], true);
		expect(t, !error, "CPU %u cannot come back: %s", smp.cpu[i], strerror(-error));
	}
	expect(t, every_cpu_has_work(), "a CPU that came back gets no work within %llu s",
	       SMP_MOVE_NS / NSEC_PER_SEC);
	expect_progress(t, &h);
	herd_destroy(&h);
}

void smp_hotplug(struct ktap *k)
{
	static const struct ktap_test tests[] = {
		{ "tasks leave a CPU that goes offline and come back", each_cpu_off_and_on },
		{ "one CPU runs everything", all_but_one_off },
	};

	ktap_group(k, "hotplug", tests, ARRAY_SIZE(tests));
}
