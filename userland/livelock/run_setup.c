// SPDX-License-Identifier: GPL-2.0
/* run_setup.c - livelock-run: cards, drivers, links, and the source. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "args.h"
#include "cgroup.h"
#include "clock.h"
#include "procfs.h"
#include "run.h"

/* A link is up after a second or two; an emulated card takes frames one later. */
#define LINK_NS		(20 * NSEC_PER_SEC)
#define PRIME_PPS	50
#define PRIME_MS	10000
#define LATE_NS		(20 * NSEC_PER_SEC)
#define TASK_MAX	64
#define TEXT_MAX	768	/* of a configuration */
#define CALIBRATE_PPS	20000
#define CALIBRATE_MS	200
#define SOON_MS_MAX	20000U

#define NO_CARD		"no card of driver '%s'"

u64 run_span_ns(const struct run_options *o)
{
	return o->ports * (NSEC_PER_SEC + o->drift_ppm * 1000ULL);
}

u32 run_address(unsigned int port)
{
	return 10U << 24 | (port + 1) << 16 | 2;
}

/* Exits if @error is -errno of what the text names. */
static void __printf(2, 3) check(int error, const char *format, ...)
{
	char what[128];
	va_list args;

	if (!error)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	die(EXIT_FAILED, "%s: %s", what, strerror(-error));
}

/* -ENOENT: it is built in, or not there at all, which shows when it is used. */
static void load_module(const char *name)
{
	int error = module_load(name, "");

	if (error != -EEXIST && error != -ENOENT)
		check(error, "module %s", name);
}

static void reserve(const struct nic *nic, const char *driver)
{
	check(nic_reserve(nic, driver), "%s for %s", nic->pci, driver);
}

static void bind_to(struct nic *nic, const char *driver)
{
	int error = nic_bind(nic, driver);

	if (error == -ENODEV && nic_knows(driver))
		die(EXIT_UNSUPPORTED, NO_CARD, driver);
	if (error == -ENODEV)
		die(EXIT_UNSUPPORTED, "driver %s: this kernel does not have it", driver);
	check(error, "%s to %s", nic->pci, driver);
}

/* The first half of the cards receives, the second half sends. */
static void choose_cards(struct run *run)
{
	unsigned int ports = run->options->ports, count, i;
	struct nic nics[NICS_MAX];

	count = nic_list(nics);
	if (count < 2 * ports)
		die(EXIT_UNSUPPORTED, "ports %u: needs %u cards, found %u",
		    ports, 2 * ports, count);
	for (i = 0; i < ports; i++)
		if (!nic_can_have(&nics[i], run->options->driver))
			die(EXIT_UNSUPPORTED, NO_CARD, run->options->driver);
	for (i = 0; i < ports; i++) {
		run->receiver[i] = nics[i];
		run->sender[i] = nics[count / 2 + i];
		reserve(&run->receiver[i], run->options->driver);
		reserve(&run->sender[i], SOURCE_DRIVER);
	}
}

static void set_attribute(const struct nic *nic, const char *set)
{
	const char *value = strchr(set, '=') + 1;
	char attribute[128];
	int error;

	snprintf(attribute, sizeof(attribute), "%.*s", (int)(value - set - 1), set);
	error = nic_set(nic, attribute, value);
	if (error)
		die(error == -ENOENT ? EXIT_UNSUPPORTED : EXIT_USAGE, "%s of %s: %s", set,
		    nic->name, strerror(-error));
}

static void set_up(const struct run *run, unsigned int port)
{
	const struct run_options *o = run->options;
	const struct nic *nic = &run->receiver[port];
	unsigned int i;
	int error = 0;

	if (o->ring)
		error = nic_set_ring(nic, o->ring);
	if (error)
		die(EXIT_USAGE, "ring %u of %s: %s", o->ring, nic->name, strerror(-error));
	check(nic_set_gro(nic, !o->no_gro), "GRO of %s", nic->name);
	for (i = 0; i < o->sets; i++)
		set_attribute(nic, o->set[i]);
}

static bool has_carrier(void *arg)
{
	return nic_carrier(arg);
}

static void connect_source(struct run *run)
{
	unsigned int i;

	check(source_clear(), SOURCE_FILES);
	for (i = 0; i < run->options->ports; i++)
		check(source_add(&run->sender[i], &run->receiver[i], run_address(i),
				 (u16)(RUN_FIRST_PORT + i)), SOURCE_FILES);
}

static void bring_up(struct run *run)
{
	unsigned int i;

	for (i = 0; i < run->options->ports; i++)
		check(nic_up(&run->receiver[i], run_address(i)), "%s up", run->receiver[i].name);
	for (i = 0; i < run->options->ports; i++)
		if (!wait_until(has_carrier, &run->receiver[i], LINK_NS))
			die(EXIT_FAILED, "%s: no link", run->receiver[i].name);
}

/* The threads of threaded NAPI are named after their interface: napi/NAME-ID. */
static void renice(const struct nic *nic, int nice)
{
	char wanted[TASK_MAX], path[TASK_MAX + 16], name[TASK_MAX];
	struct dirent *entry;
	DIR *proc = opendir("/proc");
	int error = proc ? 0 : -errno;

	snprintf(wanted, sizeof(wanted), "napi/%s-", nic->name);
	while (!error && (entry = readdir(proc))) {
		snprintf(path, sizeof(path), "/proc/%.10s/comm", entry->d_name);
		if (read_text(path, name, sizeof(name)) > 0 &&
		    !strncmp(name, wanted, strlen(wanted)) &&
		    setpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name), nice))
			error = -errno;
	}
	if (proc)
		closedir(proc);
	check(error, "nice %d of %s", nice, wanted);
}

void run_setup(struct run *run)
{
	unsigned int i;

	choose_cards(run);
	load_module(SOURCE_DRIVER);
	load_module(run->options->driver);
	for (i = 0; i < run->options->ports; i++) {
		bind_to(&run->sender[i], SOURCE_DRIVER);
		bind_to(&run->receiver[i], run->options->driver);
		/* An earlier run may have left it up. */
		check(nic_down(&run->receiver[i]), "%s down", run->receiver[i].name);
		set_up(run, i);
	}
	connect_source(run);
	if (!run->options->no_hog)
		run_calibrate(run);
	bring_up(run);
	for (i = 0; run->options->nice && i < run->options->ports; i++)
		renice(&run->receiver[i], run->options->nice);
	run_prime(run);
}

void run_configure(const struct run_options *o, u64 pps, u64 start_ns, u32 duration_ms,
		   u32 warmup_ms, u32 lag_ms)
{
	const struct nll_rate_params *r = &o->rate;
	const struct {
		const char *name;
		u64 value;
	} numbers[] = {
		{ "packets", pps }, { "per_ns", run_span_ns(o) },
		{ "sd_permille", r->sd_permille }, { "depth_permille", r->depth_permille },
		{ "on_ns", r->on_ns }, { "off_ns", r->off_ns }, { "period_ns", r->period_ns },
		{ "seed", r->seed }, { "start_ns", start_ns },
		{ "duration_ns", duration_ms * NSEC_PER_MSEC }, { "warmup_ms", warmup_ms },
		{ "lag_ms", lag_ms }, { "tick_ns", o->tick_us * NSEC_PER_USEC },
		{ "size", o->size }, { "every", o->every },
	};
	char text[TEXT_MAX] = "";
	size_t used = 0, i;
	int error;

	for (i = 0; i < ARRAY_SIZE(numbers); i++)
		used += (size_t)snprintf(text + used, sizeof(text) - used, " %s %llu",
					 numbers[i].name, numbers[i].value);
	error = source_configure("function %s malformed %s%s", nll_rate_names[r->shape],
				 o->malformed, text);
	if (error == -EINVAL)
		die(EXIT_USAGE, "rate %llu: the source refuses it, the kernel's log says why", pps);
	check(error, SOURCE_FILES "/config");
}

/* Good frames at a constant rate, whatever is measured afterwards. */
static void configure_plain(const struct run *run, u64 pps, u64 start_ns, u32 duration_ms)
{
	struct run_options plain = *run->options;

	plain.rate.shape = NLL_RATE_CONSTANT;
	plain.every = 0;
	run_configure(&plain, pps, start_ns, duration_ms, 0, 0);
}

static bool is_done(void *arg)
{
	(void)arg;
	return source_done();
}

void run_await_source(u64 timeout_ns)
{
	if (!wait_until(is_done, NULL, timeout_ns))
		die(EXIT_FAILED, "the source does not end");
}

bool run_start_source(u64 start_ns)
{
	int error = source_start();

	if (error == -EINVAL && start_ns && now_ns() >= start_ns)
		return false;
	check(error, SOURCE_FILES "/run");
	return true;
}

u32 run_later(u32 soon_ms)
{
	if (soon_ms > SOON_MS_MAX)
		die(EXIT_FAILED, "to set a run up takes more than %u ms", soon_ms);
	return 2 * soon_ms;
}

static bool each_received(const struct apps *apps)
{
	unsigned int i;

	for (i = 0; i < apps->ports; i++)
		if (!load64(&apps_of(apps, i)->received))
			return false;
	return true;
}

struct prime {
	const struct run *run;
	const struct apps *apps;
	u64 before;		/* frames that the drivers have handed on */
};

/* Each application has got a frame, and none of those sent is on its way. */
static bool primed(void *arg)
{
	const struct prime *p = arg;
	struct source_results results;

	if (!each_received(p->apps) || source_read(&results))
		return false;
	return run_counts(p->run).stack_in - p->before >= source_sum(&results.total).sent;
}

/*
 * QEMU's card takes nothing for a second after its receiver has been configured:
 * what is sent to it waits, and then arrives all at once.
 */
void run_prime(struct run *run)
{
	struct apps_options options = {
		.ports = run->options->ports, .first_port = RUN_FIRST_PORT,
	};
	struct prime prime = { .run = run, .before = run_counts(run).stack_in };
	struct apps apps;

	apps_start(&apps, &options);
	prime.apps = &apps;
	apps_release(&apps, (struct apps_window){ });
	configure_plain(run, PRIME_PPS * (u64)options.ports, 0, PRIME_MS);
	run_start_source(0);
	if (!wait_until(primed, &prime, PRIME_MS * NSEC_PER_MSEC))
		die(EXIT_FAILED, "no frame comes through");
	source_stop();
	apps_stop(&apps);
}

/* A window begins, with the source or without it; false if it took longer than to its start. */
static bool begin_window(const struct run *run, bool source, u32 soon_ms, struct apps *apps)
{
	struct apps_options options = { .hog = true };
	u64 start_ns = now_ns() + soon_ms * NSEC_PER_MSEC;
	struct apps_window window = { start_ns, start_ns + CALIBRATE_MS * NSEC_PER_MSEC };

	apps_start(apps, &options);
	apps_release(apps, window);
	if (!source)
		return now_ns() < start_ns;
	configure_plain(run, CALIBRATE_PPS, start_ns, CALIBRATE_MS);
	return run_start_source(start_ns);
}

/* The time that the CPU-bound process gets of a window, alone or while the source runs. */
static double free_ns(struct run *run, bool source, struct source_results *results)
{
	u32 soon_ms = run->options->soon_ms;
	struct apps apps;
	double share;

	while (!begin_window(run, source, soon_ms, &apps)) {
		apps_stop(&apps);
		soon_ms = run_later(soon_ms);
	}
	sleep_until_ns(apps.window.end_ns);
	if (source) {
		run_await_source(LATE_NS);
		check(source_read(results), SOURCE_FILES "/results");
	}
	share = apps_hog_share(&apps);
	apps_stop(&apps);
	return share * CALIBRATE_MS * NSEC_PER_MSEC;
}

/* While no card listens: all that is sent is lost at once. */
void run_calibrate(struct run *run)
{
	struct source_results results;
	struct source_effort *effort = &results.total.effort;
	double taken;

	taken = free_ns(run, false, NULL) - free_ns(run, true, &results);
	run->shot_ns = (taken - (double)effort->timer_ns) / (double)effort->shots;
}
