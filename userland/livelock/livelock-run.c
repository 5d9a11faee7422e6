// SPDX-License-Identifier: GPL-2.0
/*
 * livelock-run.c - measure what applications get of the frames that arrive, and
 * what is left of the CPU.
 */
#include <errno.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "idle_hog.h"
#include "run.h"

/* For what is still on its way when the last frame has been sent. */
#define DRAIN_NS	(10 * NSEC_PER_SEC)
#define LATE_NS		(20 * NSEC_PER_SEC)

struct drain {
	const struct run *run;
	struct apps *apps;
	struct measurement *m;
};

/* Nothing that was sent is on its way any more; a driver counts what it hands on afterwards. */
static bool drained(void *arg)
{
	struct drain *d = arg;
	struct measurement *m = d->m;

	m->after = run_counts(d->run);
	m->received = apps_received(d->apps);
	m->bad = apps_bad(d->apps);
	m->strange = apps_strange(d->apps);
	m->socket = apps_socket_losses(d->apps);
	return !run_missing(m) && !run_uncounted(m);
}

/* As many as can be due for one port in the window, with room for peaks. */
static u64 frames_max(const struct run_options *o, u64 pps)
{
	return 2 * pps * run_duration_ms(o, pps) / 1000 + 1000;
}

static struct apps_window window_of(const struct run_options *o, u64 start_ns, u32 duration_ms)
{
	return (struct apps_window){
		start_ns + o->warmup_ms * NSEC_PER_MSEC,
		start_ns + duration_ms * NSEC_PER_MSEC,
	};
}

/* All begins; false if it took longer than to the start. */
static bool begin(const struct run *run, const struct apps_options *options, u32 soon_ms,
		  struct apps *apps, struct measurement *m)
{
	const struct run_options *o = run->options;
	u64 start_ns;

	apps_start(apps, options);
	m->before = run_counts(run);
	start_ns = now_ns() + soon_ms * NSEC_PER_MSEC;
	m->window = window_of(o, start_ns, m->duration_ms);
	run_configure(o, m->pps, start_ns, m->duration_ms, o->warmup_ms, o->lag_ms);
	apps_release(apps, m->window);
	return run_start_source(start_ns);
}

static bool measure(const struct run *run, u64 pps)
{
	const struct run_options *o = run->options;
	struct apps_options options = {
		.ports = o->ports, .first_port = RUN_FIRST_PORT, .rcvbuf = o->rcvbuf,
		.busy_us = o->busy_us, .strays = run_strays(o),
		.frames_max = frames_max(o, pps), .hog = !o->no_hog, .hog_idle = o->hog_idle,
		.every = o->every,
	};
	struct measurement m = { .pps = pps, .duration_ms = run_duration_ms(o, pps) };
	u32 soon_ms = o->soon_ms;
	struct apps apps;
	bool good;
	int error;

	while (!begin(run, &options, soon_ms, &apps, &m)) {
		apps_stop(&apps);
		soon_ms = run_later(soon_ms);
	}
	sleep_until_ns(m.window.end_ns + o->lag_ms * NSEC_PER_MSEC);
	run_await_source(LATE_NS);
	error = source_read(&m.source);
	if (error)
		die(EXIT_FAILED, "%s/results: %s", SOURCE_FILES, strerror(-error));
	wait_until(drained, &(struct drain){ run, &apps, &m }, DRAIN_NS);
	good = run_report(run, &apps, &m);
	apps_stop(&apps);
	return good;
}

int main(int argc, char **argv)
{
	struct run run = { };
	bool good = true;
	unsigned int i;

	args_init("livelock-run");
	run.options = run_parse(argc, argv);
	if (run.options->never_idle)
		idle_hog_start();
	run_setup(&run);
	for (i = 0; i < run.options->rates; i++)
		good &= measure(&run, run.options->pps[i]);
	return good ? EXIT_GOOD : EXIT_FAILED;
}
