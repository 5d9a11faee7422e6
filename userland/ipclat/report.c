// SPDX-License-Identifier: GPL-2.0
/* report.c - what was measured, as a table, as JSON or CSV, and in files. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "document.h"
#include "ipclat.h"
#include "json.h"
#include "summary.h"

static double tick_ns_of(const struct options *o)
{
	return NSEC_PER_SEC / o->s.tsc.hz;
}

/* Baselines are halves of round trips. */
double clock_cost(const struct options *o, const struct chosen *c)
{
	return c->m->baseline ? 0 : (double)o->s.tsc.overhead;
}

static struct summary summarise(const struct options *o, const struct chosen *c)
{
	return summary_of(c->histogram, c->repeats, c->measured, clock_cost(o, c));
}

static double quantile_of(const struct options *o, const struct chosen *c, unsigned int i)
{
	return summary_quantile(c->histogram, o->percentile[i].q, clock_cost(o, c));
}

static void open_csv(const char *what, struct csv_file *output, const char *header)
{
	if (!output->path)
		return;
	output->file = fopen(output->path, "we");
	if (!output->file)
		die(EXIT_USAGE, "%s: cannot write %s: %s", what, output->path, strerror(errno));
	fputs(header, output->file);
}

static void close_csv(const char *what, struct csv_file *output)
{
	FILE *file = output->file;

	if (file && (fflush(file) || ferror(file) || fclose(file)))
		die(EXIT_FAILED, "%s: cannot write: %s", what, strerror(errno));
}

void open_outputs(struct options *o)
{
	open_csv("--histogram", &o->histogram, "mechanism,direction,from_ns,to_ns,count\n");
	open_csv("--repeats-csv", &o->repeats,
		 "mechanism,direction,repeat,samples,mean_ns,median_ns\n");
}

static const char *direction(const struct chosen *c)
{
	return c->back ? "back" : "forward";
}

void note_repeat(struct options *o, const struct chosen *c, u32 repeat,
		 const struct histogram *one)
{
	double cost = clock_cost(o, c);

	if (o->repeats.file)
		fprintf(o->repeats.file, "%s,%s,%u,%llu,%.3f,%.3f\n", c->m->name, direction(c),
			repeat, one->count, (histogram_mean(one) - cost) * tick_ns_of(o),
			(histogram_quantile(one, 0.5) - cost) * tick_ns_of(o));
}

/* JSON */

static void put_settings(const struct options *o)
{
	json_object("settings");
	json_text("mechanisms", o->list);
	json_bool("available", o->available);
	json_number("iterations", o->s.iterations);
	json_number("repeats", o->s.repeats);
	json_number("warmup", o->s.warmup);
	json_real("limit_s", (double)o->s.limit_ns / NSEC_PER_SEC);
	json_text("policy", o->policy);
	json_text("placement", o->cpus ? o->cpus : "free");
	json_list("cpus");
	if (o->cpus) {
		json_signed(NULL, o->s.cpu[SENDER]);
		json_signed(NULL, o->s.cpu[RECEIVER]);
	}
	json_end();
	json_bool("both_ways", o->both_ways);
	json_number("hogs", o->hogs);
	json_number("hog_tickets", o->hog_tickets);
	json_end();
	json_object("clock");
	json_real("ghz", o->s.tsc.hz / NSEC_PER_SEC);
	json_bool("invariant", o->s.tsc.invariant);
	json_number("cost_cycles", o->s.tsc.overhead);
	json_real("cost_ns", (double)o->s.tsc.overhead * tick_ns_of(o));
	json_end();
}

static void put_percentiles(const struct options *o, const struct chosen *c, const char *key,
			    double unit)
{
	unsigned int i;

	json_object(key);
	for (i = 0; i < o->percentiles; i++)
		json_real(o->percentile[i].text, quantile_of(o, c, i) * unit);
	json_end();
}

static void put_repeats(const struct options *o, const struct chosen *c)
{
	u32 i;

	json_list("repeat_means_ns");
	for (i = 0; i < c->measured; i++)
		json_real(NULL, c->repeats[i].mean * tick_ns_of(o));
	json_end();
}

static void put_result(const struct options *o, const struct chosen *c)
{
	struct summary s = summarise(o, c);
	double ns = tick_ns_of(o);

	json_object(NULL);
	json_text("mechanism", c->m->name);
	json_text("direction", direction(c));
	json_bool("baseline", c->m->baseline);
	json_bool("pinned", o->cpus || c->m->pinned);
	if (c->m->containers)
		json_text("runtime", runtime_path() ? runtime_path() : "");
	json_text("missing", c->missing ? c->missing : "");
	json_number("samples", c->histogram->count);
	json_number("repeats", c->measured);
	json_real("mean_ns", s.fit.mean * ns);
	json_real("low_ns", s.interval.low * ns);
	json_real("high_ns", s.interval.high * ns);
	json_real("sd_ns", s.fit.sd * ns);
	json_real("min_ns", s.min * ns);
	json_real("max_ns", s.max * ns);
	put_percentiles(o, c, "percentiles_ns", ns);
	json_real("mean_cycles", s.fit.mean);
	json_real("low_cycles", s.interval.low);
	json_real("high_cycles", s.interval.high);
	put_percentiles(o, c, "percentiles_cycles", 1);
	json_real("model_mean_ns", s.fit.model_mean * ns);
	json_real("log_sd", s.fit.log_sd);
	json_real("distance_normal", s.fit.distance_normal);
	json_real("distance_lognormal", s.fit.distance_lognormal);
	put_repeats(o, c);
	if (o->buckets)
		document_buckets("buckets_ns", c->histogram, clock_cost(o, c), ns);
	json_end();
}

static void put_document(const struct options *o, bool complete)
{
	unsigned int i;

	document_open();
	json_bool("complete", complete);
	put_settings(o);
	json_list("results");
	for (i = 0; i < o->count; i++)
		put_result(o, &o->chosen[i]);
	json_end();
	json_close();
}

/* CSV: what is not known is empty. */

static void put_cell(double value)
{
	if (isfinite(value))
		printf(",%.3f", value);
	else
		putchar(',');
}

static void put_csv(const struct options *o)
{
	double ns = tick_ns_of(o);
	unsigned int i, p;

	fputs("mechanism,direction,missing,samples,mean_ns,low_ns,high_ns", stdout);
	for (p = 0; p < o->percentiles; p++)
		printf(",p%s_ns", o->percentile[p].text);
	puts(",max_ns");
	for (i = 0; i < o->count; i++) {
		const struct chosen *c = &o->chosen[i];
		struct summary s = summarise(o, c);

		printf("%s,%s,%s,", c->m->name, direction(c), c->missing ? c->missing : "");
		if (c->histogram->count)
			printf("%llu", c->histogram->count);
		put_cell(s.fit.mean * ns);
		put_cell(s.interval.low * ns);
		put_cell(s.interval.high * ns);
		for (p = 0; p < o->percentiles; p++)
			put_cell(quantile_of(o, c, p) * ns);
		put_cell(s.max * ns);
		putchar('\n');
	}
}

/* The table */

static void put_column(double value)
{
	if (!isfinite(value))
		printf(" %7s", "-");
	else
		printf(" %7.*f", fabs(value) < 10000 ? 1 : 0, value);
}

static int name_width(const struct options *o)
{
	size_t width = 2;
	unsigned int i;

	for (i = 0; i < o->count; i++)
		if (strlen(o->chosen[i].m->name) > width)
			width = strlen(o->chosen[i].m->name);
	return (int)width;
}

static void put_header(const struct options *o)
{
	unsigned int p;

	printf("policy %s, %u hogs; clock %.4f GHz%s, cost of %.1f ns taken off\n", o->policy,
	       o->hogs, o->s.tsc.hz / NSEC_PER_SEC,
	       o->s.tsc.invariant ? "" : " (not said to be constant)",
	       (double)o->s.tsc.overhead * tick_ns_of(o));
	puts("low and high are the 95 % interval of the mean");
	printf("%-*s %7s %7s %7s", name_width(o), "ns", "mean", "low", "high");
	for (p = 0; p < o->percentiles; p++)
		printf(" %5s %%", o->percentile[p].text);
	printf(" %7s\n", "max");
}

/* One clock is ahead of the other: that adds to one way what it takes off the other. */
static void put_skew(const struct options *o, const struct chosen *there,
		     const struct chosen *back)
{
	double a = histogram_quantile(there->histogram, 0.5);
	double b = histogram_quantile(back->histogram, 0.5);

	if (there->histogram->count && back->histogram->count)
		printf("%s: half the difference of the two ways' medians is %.1f ns\n",
		       there->m->name, (a - b) / 2 * tick_ns_of(o));
}

static void put_table(const struct options *o)
{
	double ns = tick_ns_of(o);
	unsigned int i, p;

	put_header(o);
	for (i = 0; i < o->count; i++) {
		const struct chosen *c = &o->chosen[i];
		struct summary s = summarise(o, c);

		if (!c->histogram->count)
			continue;
		printf("%-*s", name_width(o), c->m->name);
		put_column(s.fit.mean * ns);
		put_column(s.interval.low * ns);
		put_column(s.interval.high * ns);
		for (p = 0; p < o->percentiles; p++)
			put_column(quantile_of(o, c, p) * ns);
		put_column(s.max * ns);
		puts(c->back ? " back" : "");
	}
	for (i = 1; i < o->count; i++)
		if (o->chosen[i].back && !o->chosen[i].m->baseline)
			put_skew(o, &o->chosen[i - 1], &o->chosen[i]);
}

/* Bucket by bucket, so that any figure can be drawn again. */
static void write_histograms(const struct options *o)
{
	double ns = tick_ns_of(o);
	unsigned int i, b;

	for (i = 0; o->histogram.file && i < o->count; i++) {
		const struct chosen *c = &o->chosen[i];
		double cost = clock_cost(o, c);

		for (b = 0; b < HISTOGRAM_BUCKETS - 1; b++)
			if (c->histogram->bucket[b])
				fprintf(o->histogram.file, "%s,%s,%.2f,%.2f,%llu\n", c->m->name,
					direction(c), ((double)histogram_floor(b) - cost) * ns,
					((double)histogram_floor(b + 1) - cost) * ns,
					c->histogram->bucket[b]);
	}
}

static bool has_samples(const struct options *o)
{
	unsigned int i;

	for (i = 0; i < o->count; i++)
		if (o->chosen[i].histogram->count)
			return true;
	return false;
}

void report(struct options *o, bool complete)
{
	if (!complete && !has_samples(o))
		fputs("ipclat: interrupted before the first repeat was complete\n", stderr);
	if (o->form == FORM_JSON)
		put_document(o, complete);
	else if (o->form == FORM_CSV)
		put_csv(o);
	else
		put_table(o);
	finish_output();
	write_histograms(o);
	close_csv("--histogram", &o->histogram);
	close_csv("--repeats-csv", &o->repeats);
}
