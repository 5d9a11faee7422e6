// SPDX-License-Identifier: GPL-2.0
/* run_report.c - livelock-run: what a measurement says, as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "histogram.h"
#include "json.h"
#include "run.h"

#define BUCKETS_TOGETHER	((1U << HISTOGRAM_BITS) / 8)
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
	run_real("sent_pps", (double)source_sum(&m->source.window).due / seconds);
	run_real("goodput_pps", sum);
	run_real("port_least_pps", least);
	run_real("port_most_pps", most);
	return sum;
}

static void report_cpu(const struct run *run, const struct apps *apps,
		       const struct measurement *m)
{
	const struct source_effort *effort = &m->source.window.effort;
	double cost = (double)effort->timer_ns + (double)effort->shots * run->shot_ns;
	double seconds = window_s(m);

	if (!run->options->no_hog) {
		double user = 100 * apps_hog_share(apps), served = 100 * apps_share(apps);
		double source = 100 * cost / NSEC_PER_SEC / seconds;

		run_real("user_share_pct", user);
		run_real("apps_share_pct", served);
		run_real("source_pct", source);
		run_real("receiving_pct", 100 - user - served - source);
	}
	run_real("source_timer_pct", 100 * (double)effort->timer_ns / NSEC_PER_SEC / seconds);
	run_real("shots_per_s", (double)effort->shots / seconds);
	run_count("late_max_ns", (s64)effort->late_max_ns);
}

/* What happened to frames of the whole run: each is counted in exactly one place. */
struct fate {
	u64 tail;
	u64 ring;
	u64 early;
	u64 backlog;
	u64 socket;
	u64 other;
};

static struct fate fate_of(const struct measurement *m)
{
	u64 early = m->after.early - m->before.early;

	return (struct fate){
		.tail = source_sum(&m->source.total).tail,
		.ring = m->after.dropped - m->before.dropped,
		.early = early,
		.backlog = m->after.backlog - m->before.backlog,
		/* The socket counts those that were dropped early as well. */
		.socket = m->socket - early,
		.other = m->after.other - m->before.other,
	};
}

static u64 fate_sum(const struct fate *fate)
{
	return fate->tail + fate->ring + fate->early + fate->backlog + fate->socket +
		fate->other;
}

s64 run_missing(const struct measurement *m)
{
	struct fate fate = fate_of(m);

	return (s64)(source_sum(&m->source.total).due - m->received - m->bad - m->strange -
		     fate_sum(&fate));
}

s64 run_uncounted(const struct measurement *m)
{
	struct fate fate = fate_of(m);

	return (s64)(source_sum(&m->source.total).sent - fate.ring -
		     (m->after.stack_in - m->before.stack_in));
}

static void report_frames(const struct measurement *m)
{
	struct source_counts sent = source_sum(&m->source.total);
	struct fate fate = fate_of(m);

	run_count("due", (s64)sent.due);
	run_count("received", (s64)m->received);
	run_count("lost_tail", (s64)fate.tail);
	run_count("lost_ring", (s64)fate.ring);
	run_count("lost_early", (s64)fate.early);
	run_count("lost_backlog", (s64)fate.backlog);
	run_count("lost_socket", (s64)fate.socket);
	run_count("lost_other", (s64)fate.other);
	run_count("lost", (s64)fate_sum(&fate));
	run_count("missing", run_missing(m));
	run_count("malformed", (s64)sent.malformed);
	run_count("bad", (s64)m->bad);
	run_count("buffer_full", (s64)sent.full);
}

/* Whether all frames are where they belong; if not, says so. */
static bool all_right(const struct run_options *o, const struct apps *apps,
		      const struct measurement *m)
{
	struct source_counts sent = source_sum(&m->source.total);
	struct fate fate = fate_of(m);
	const struct {
		s64 frames;
		const char *what;
	} faults[] = {
		{ run_missing(m), "are missing" },
		{ run_uncounted(m), "came in and are not in rx_packets" },
		{ (s64)m->bad, "are malformed and were received" },
		{ (s64)m->strange, "are none of the source's" },
		{ (s64)apps_disorder(apps), "are out of order" },
		{ (s64)(fate.ring + fate.other) - (run_strays(o) ? 0 : (s64)sent.malformed),
		  "were refused and are good" },
	};
	bool good = true;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		/* Malformed frames may be lost elsewhere before they are refused. */
		if (!faults[i].frames || (i == ARRAY_SIZE(faults) - 1 && faults[i].frames < 0))
			continue;
		complain("rate %llu: %lld frames %s", m->pps, faults[i].frames, faults[i].what);
		good = false;
	}
	return good;
}

/* "BOUND:COUNT ...", the bounds in ns, eight to a power of two; of samples in us. */
static void report_distribution(const double *us, size_t count)
{
	static struct histogram h;
	char text[TEXT_MAX] = "";
	size_t used = 0, i;
	unsigned int at, k;

	h = (struct histogram){ };
	for (i = 0; i < count; i++)
		histogram_add(&h, (u64)(us[i] * 1000 + 0.5));
	for (at = 0; at < HISTOGRAM_BUCKETS && used < sizeof(text); at += BUCKETS_TOGETHER) {
		u64 samples = 0;

		for (k = at; k < at + BUCKETS_TOGETHER; k++)
			samples += h.bucket[k];
		if (samples)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%llu:%llu",
						 used ? " " : "", histogram_floor(at), samples);
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
	run_count("latencies", (s64)count);
	run_real("latency_mean_us", mean_of(us, count));
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		run_real(quantiles[i].name, quantile(us, count, quantiles[i].q));
	report_distribution(us, count);
	free(us);
}

static void report_stats(const struct measurement *m)
{
	unsigned int i;

	for (i = 0; i < m->after.stats && i < m->before.stats; i++) {
		char name[48];

		snprintf(name, sizeof(name), "stat_%s", m->after.stat[i].name);
		run_count(name, (s64)(m->after.stat[i].value - m->before.stat[i].value));
	}
}

/* A hundredth may be on its way at the window's ends, or malformed. */
static bool enough(const struct run_options *o, const struct measurement *m, double goodput)
{
	double sent = (double)m->pps * (o->every ? 1 - 1.0 / o->every : 1);
	double least = 0.99 * sent < (double)o->least_pps ? 0.99 * sent : (double)o->least_pps;

	return run_bound(!o->least_pps || goodput >= least,
			 "rate %llu: %.0f frames/s are received: least is %.0f", m->pps, goodput,
			 least);
}

bool run_report(const struct run *run, const struct apps *apps, const struct measurement *m)
{
	double goodput;
	bool good;

	json_open();
	report_conditions(run, m);
	goodput = report_throughput(apps, m);
	report_cpu(run, apps, m);
	report_frames(m);
	run_real("switches_per_s", (double)(m->after.switches - m->before.switches) /
		 ((double)m->duration_ms / 1000));
	run_count("disorder", (s64)apps_disorder(apps));
	run_count("strange", (s64)m->strange);
	report_latency(apps);
	if (run->options->stats)
		report_stats(m);
	json_close();
	good = all_right(run->options, apps, m);
	good &= enough(run->options, m, goodput);
	return run_required() && good;
}
