// SPDX-License-Identifier: GPL-2.0
/* run_report.c - livelock-run: what a measurement says, as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "json.h"
#include "quantile.h"
#include "run.h"

#define BUCKETS_OCTAVE	8U
#define TEXT_MAX	4096

static double window_s(const struct measurement *m)
{
	return (double)(m->window.end_ns - m->window.begin_ns) / NSEC_PER_SEC;
}

static void report_conditions(const struct run *run, const struct measurement *m)
{
	const struct run_options *o = run->options;

	if (o->label)
		json_text("label", o->label);
	json_text("driver", o->driver);
	json_number("ports", o->ports);
	json_text("function", nll_rate_names[o->rate.shape]);
	json_number("offered_pps", m->pps);
	json_number("duration_ms", m->duration_ms);
	json_number("seed", o->rate.seed);
}

static double report_throughput(const struct apps *apps, const struct measurement *m)
{
	double seconds = window_s(m), least = 0, most = 0, sum = 0;
	unsigned int i;

	for (i = 0; i < apps->ports; i++) {
		double pps = (double)apps_of(apps, i)->windowed / seconds;

		least = i && least < pps ? least : pps;
		most = most > pps ? most : pps;
		sum += pps;
	}
	json_real("sent_pps", (double)source_sum(&m->source.window).due / seconds);
	json_real("goodput_pps", sum);
	json_real("port_least_pps", least);
	json_real("port_most_pps", most);
	return sum;
}

static void report_cpu(const struct run *run, const struct apps *apps,
		       const struct measurement *m)
{
	const struct source_effort *effort = &m->source.window.effort;
	double cost = (double)effort->timer_ns + (double)effort->shots * run->shot_ns;
	double seconds = window_s(m);

	if (!run->options->no_hog) {
		json_real("user_share_pct", 100 * apps_hog_share(apps));
		json_real("apps_share_pct", 100 * apps_share(apps));
		json_real("source_pct", 100 * cost / NSEC_PER_SEC / seconds);
	}
	json_real("source_timer_pct", 100 * (double)effort->timer_ns / NSEC_PER_SEC / seconds);
	json_real("shots_per_s", (double)effort->shots / seconds);
	json_number("late_max_ns", effort->late_max_ns);
}

/* Of the whole run; every frame that was due is in exactly one of these. */
static u64 report_frames(const struct measurement *m)
{
	struct source_counts sent = source_sum(&m->source.total);
	u64 in = m->after.stack_in - m->before.stack_in;
	u64 backlog = m->after.backlog - m->before.backlog;
	u64 other = m->after.other - m->before.other;
	u64 ring = sent.sent - in, missing;

	missing = in - backlog - other - m->socket - m->received;
	json_number("due", sent.due);
	json_number("received", m->received);
	json_number("lost_tail", sent.tail);
	json_signed("lost_ring", (s64)ring);
	json_number("lost_backlog", backlog);
	json_number("lost_socket", m->socket);
	json_number("lost_other", other);
	json_signed("missing", (s64)missing);
	json_number("malformed", sent.malformed);
	json_number("buffer_full", sent.full);
	return missing;
}

static void report_disorder(const struct apps *apps)
{
	u64 disorder = 0, strange = 0;
	unsigned int i;

	for (i = 0; i < apps->ports; i++) {
		disorder += apps_of(apps, i)->disorder;
		strange += apps_of(apps, i)->strange;
	}
	json_number("disorder", disorder);
	json_number("strange", strange);
}

/* The lower bound in ns of the bucket that @ns is in: eight to a power of two. */
static u64 bucket_of(u64 ns)
{
	unsigned int octave, shift;

	if (ns < BUCKETS_OCTAVE)
		return ns;
	octave = 63 - (unsigned int)__builtin_clzll(ns);
	shift = octave - 3;
	return ns >> shift << shift;
}

/* "BOUND:COUNT ...", the bounds in ns, of sorted samples in us. */
static void report_distribution(const double *us, size_t count)
{
	char text[TEXT_MAX] = "";
	size_t used = 0, i, k;

	for (i = 0; i < count && used < sizeof(text); i = k) {
		u64 bound = bucket_of((u64)(us[i] * 1000 + 0.5));

		for (k = i; k < count && bucket_of((u64)(us[k] * 1000 + 0.5)) == bound; k++)
			;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu:%zu",
					 used ? " " : "", bound, k - i);
	}
	if (used >= sizeof(text))
		die(EXIT_FAILED, "latencies: too wide a distribution");
	json_text("latency_ns", text);
}

static void report_latency(const struct apps *apps)
{
	static const struct {
		const char *name;
		double q;
	} quantiles[] = {
		{ "latency_p1_us", 0.01 }, { "latency_p50_us", 0.5 }, { "latency_p90_us", 0.9 },
		{ "latency_p99_us", 0.99 }, { "latency_p999_us", 0.999 }, { "latency_max_us", 1 },
	};
	double *us;
	size_t count;
	unsigned int i;

	us = apps_latencies(apps, &count);
	json_number("latencies", count);
	json_real("latency_mean_us", mean_of(us, count));
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		json_real(quantiles[i].name, quantile(us, count, quantiles[i].q));
	report_distribution(us, count);
	free(us);
}

static void report_stats(const struct measurement *m)
{
	unsigned int i;

	for (i = 0; i < m->after.stats && i < m->before.stats; i++) {
		char name[48];

		snprintf(name, sizeof(name), "stat_%s", m->after.stat[i].name);
		json_signed(name, (s64)(m->after.stat[i].value - m->before.stat[i].value));
	}
}

/* A hundredth may be on its way at the window's ends, or malformed. */
static bool enough(const struct run_options *o, const struct measurement *m, double goodput)
{
	double sent = (double)m->pps * (o->every ? 1 - 1.0 / o->every : 1);
	double least = 0.99 * sent < (double)o->least_pps ? 0.99 * sent : (double)o->least_pps;

	if (o->least_pps && goodput < least)
		complain("rate %llu: %.0f frames/s are received: least is %.0f", m->pps, goodput,
			 least);
	return !o->least_pps || goodput >= least;
}

bool run_report(const struct run *run, const struct apps *apps, const struct measurement *m)
{
	double goodput;
	u64 missing;

	json_open();
	report_conditions(run, m);
	goodput = report_throughput(apps, m);
	report_cpu(run, apps, m);
	missing = report_frames(m);
	json_real("switches_per_s", (double)(m->after.switches - m->before.switches) /
		  ((double)m->duration_ms / 1000));
	report_disorder(apps);
	report_latency(apps);
	if (run->options->stats)
		report_stats(m);
	json_close();
	if (missing)
		complain("rate %llu: %lld frames are missing", m->pps, (s64)missing);
	return enough(run->options, m, goodput) && !missing;
}
