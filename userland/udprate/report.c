// SPDX-License-Identifier: GPL-2.0
/* report.c - what was sent and received, for a person and as JSON. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "document.h"
#include "json.h"
#include "udprate.h"

#define BITS_PER_MBIT	1e6
#define HOLES_SHOWN	8U

static const struct {
	const char *name;
	double q;
} quantiles[] = {
	{ "p1", 0.01 }, { "p50", 0.5 }, { "p99", 0.99 }, { "p999", 0.999 },
};

static double mbps(u64 bytes, double seconds)
{
	return seconds > 0 ? (double)bytes * 8 / BITS_PER_MBIT / seconds : 0;
}

/* Bytes of all workers in a second. */
static u64 second_of(const struct run *run, unsigned int second)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < run->o->plan.workers; i++)
		bytes += sent_of(run, i)->second[second];
	return bytes;
}

/* The sample standard deviation over the whole seconds. */
static double deviation(const struct run *run)
{
	unsigned int whole = (unsigned int)(run->time_ns / NSEC_PER_SEC), i;
	double mean = 0, sum = 0;

	for (i = 0; i < whole; i++)
		mean += mbps(second_of(run, i), 1) / whole;
	for (i = 0; i < whole; i++)
		sum += pow(mbps(second_of(run, i), 1) - mean, 2);
	return whole > 1 ? sqrt(sum / (whole - 1)) : 0;
}

void summarize(const struct run *run, struct summary *s)
{
	double seconds = (double)run->time_ns / NSEC_PER_SEC;
	u64 cpu_ns = 0, end_ns = run->time_ns;
	u32 i;

	memset(s, 0, sizeof(*s));
	for (i = 0; i < run->o->plan.workers; i++) {
		const struct sent *sent = sent_of(run, i);

		s->packets += sent->packets;
		s->bytes += sent->bytes;
		s->numbered += sent->numbered;
		s->skipped += sent->skipped;
		s->refused += sent->refused;
		s->dropped += sent->dropped;
		s->failed += sent->failed;
		if (sent->catch_up > s->catch_up)
			s->catch_up = sent->catch_up;
		cpu_ns += sent->cpu_ns;
		if (sent->end_ns > end_ns)
			end_ns = sent->end_ns;
		histogram_merge(&s->gap, &sent->gap);
		histogram_merge(&s->late, &sent->late);
	}
	s->requested_mbps = mbps(run->o->plan.bytes_per_s, 1);
	s->achieved_mbps = mbps(s->bytes, seconds);
	s->error_pct = 100 * (s->achieved_mbps / s->requested_mbps - 1);
	s->sd_mbps = deviation(run);
	s->cpu_pct = 100.0 * (double)cpu_ns / (double)run->time_ns;
	s->elapsed_s = (double)end_ns / NSEC_PER_SEC;
}

static void json_times(const struct options *o, const char *what, const struct histogram *h)
{
	char key[32];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(quantiles); i++) {
		snprintf(key, sizeof(key), "%s_us_%s", what, quantiles[i].name);
		json_real(key, histogram_quantile(h, quantiles[i].q) / NSEC_PER_USEC);
	}
	snprintf(key, sizeof(key), "%s_us_max", what);
	json_real(key, (double)h->max / NSEC_PER_USEC);
	snprintf(key, sizeof(key), "%s_us_buckets", what);
	if (o->buckets)
		document_buckets(key, h, 0, 1.0 / NSEC_PER_USEC);
}

static void print_times(const char *what, const struct histogram *h)
{
	unsigned int i;

	printf("%-18s", what);
	for (i = 0; i < ARRAY_SIZE(quantiles); i++)
		printf(" %10.1f", histogram_quantile(h, quantiles[i].q) / NSEC_PER_USEC);
	printf(" %10.1f\n", (double)h->max / NSEC_PER_USEC);
}

void fates_add(struct fates *f, const struct received *r)
{
	u32 i;

	for (i = 0; i < r->workers; i++) {
		f->lost += sequence_lost(&r->worker[i]);
		f->late += r->worker[i].late;
		f->duplicates += r->worker[i].duplicates;
	}
}

u64 lost_of(const struct received *r)
{
	struct fates f = { };

	fates_add(&f, r);
	return f.lost;
}

double arrived_mbps(const struct received *r)
{
	return mbps(r->bytes, (double)r->elapsed_ns / NSEC_PER_SEC);
}

/* Numbers, and when the first packet after them came. */
static void json_holes(const struct holes *h)
{
	u32 i;

	json_list("lost_at");
	for (i = 0; i < h->count; i++) {
		json_object(NULL);
		json_number("worker", h->hole[i].worker);
		json_number("first", h->hole[i].first);
		json_number("size", h->hole[i].size);
		json_number("missing", h->hole[i].missing);
		json_seconds("at_s", h->hole[i].at_ns);
		json_end();
	}
	json_end();
	json_number("lost_elsewhere", h->unnamed);
}

/* The first are enough for a person. */
static void print_holes(const struct holes *h)
{
	u32 i;

	for (i = 0; i < h->count && i < HOLES_SHOWN; i++) {
		const struct hole *hole = &h->hole[i];

		printf("                   ");
		if (hole->missing < hole->size)
			printf("%llu of ", hole->missing);
		if (hole->size > 1)
			printf("packets %llu-%llu", hole->first, hole->first + hole->size - 1);
		else
			printf("packet %llu", hole->first);
		printf(" (worker %u) at %.3f s\n", hole->worker,
		       (double)hole->at_ns / NSEC_PER_SEC);
	}
	if (h->count > HOLES_SHOWN || h->unnamed)
		printf("                   and %llu more places\n",
		       h->count - i + h->unnamed);
}

static void json_received(const struct options *o, const struct received *r)
{
	struct fates f = { };

	fates_add(&f, r);
	json_number("received", r->packets);
	json_number("received_bytes", r->bytes);
	json_number("lost", f.lost);
	json_number("reordered", f.late);
	json_number("duplicates", f.duplicates);
	json_number("strangers", r->strangers);
	json_real("received_mbps", arrived_mbps(r));
	json_holes(&r->holes);
	json_times(o, "received_gap", &r->gap);
}

static void print_received(const struct received *r)
{
	struct fates f = { };

	fates_add(&f, r);
	printf("received           %llu packets, %.3f Mbit/s; %llu lost, %llu reordered,\n",
	       r->packets, arrived_mbps(r), f.lost, f.late);
	printf("                   %llu duplicates, %llu of no known run\n", f.duplicates,
	       r->strangers);
	print_holes(&r->holes);
}

static const char *why_not_known(const struct options *o, const struct outcome *out)
{
	if (o->blind)
		return "it was not asked for";
	return out->asked ? "the receiver went away" : "no udprate answers there";
}

/* Without a sign where four digits show nothing. */
static double four_digits(double value)
{
	return fabs(value) < 0.00005 ? 0 : value;
}

static void print_heading(void)
{
	printf("%-18s %10s %10s %10s %10s %10s\n", "us", "1 %", "50 %", "99 %", "99.9 %", "max");
}

static void print_sent(const struct options *o, const struct outcome *out)
{
	const struct received *r = out->known ? &out->received : NULL;
	const struct summary *s = &out->sent;

	printf("requested          %.3f Mbit/s for %.3f s, %u workers, %s\n", s->requested_mbps,
	       (double)o->time_ns / NSEC_PER_SEC, o->plan.workers,
	       o->naive ? "naive" : nll_rate_names[o->plan.rate.shape]);
	printf("sent               %.3f Mbit/s, error %.4f %%, %llu packets, sd %.4f Mbit/s\n",
	       s->achieved_mbps, four_digits(s->error_pct), s->packets, s->sd_mbps);
	printf("                   ended after %.4f s, CPU %.1f %%\n", s->elapsed_s, s->cpu_pct);
	if (s->skipped || s->refused || s->dropped || s->failed)
		printf("                   %llu packets skipped, %llu dropped here, %llu failed; "
		       "%llu sends refused\n", s->skipped, s->dropped, s->failed, s->refused);
	if (s->catch_up)
		printf("                   up to %llu packets at once, to catch up\n",
		       s->catch_up);
	if (interrupted())
		printf("                   interrupted\n");
	if (r)
		print_received(r);
	else
		printf("received           not known: %s\n", why_not_known(o, out));
	print_heading();
	print_times("gap", &s->gap);
	print_times("late", &s->late);
	if (r)
		print_times("gap received", &r->gap);
}

/* The options other than the rate; durations in us. */
static void json_settings(const struct options *o)
{
	char text[ADDRESS_TEXT];

	json_object("settings");
	if (!o->loop) {
		json_text("address", address_text(&o->to, text));
		json_number("port", address_port(&o->to));
	}
	json_number("quantum_us", o->plan.quantum_ns / NSEC_PER_USEC);
	json_text("method", methods[o->method]);
	json_text("txtime", o->txtime ? qdiscs[o->txtime - TXTIME_FQ] : "none");
	json_bool("loop", o->loop);
	json_bool("blind", o->blind);
	json_bool("strict", o->strict);
	json_bool("best_effort", o->best_effort);
	json_number("seed", o->plan.rate.seed);
	json_number("hogs", o->hogs);
	json_end();
}

void report_sent(const struct options *o, const struct outcome *out)
{
	const struct summary *s = &out->sent;

	if (!o->json) {
		print_sent(o, out);
		finish_output();
		return;
	}
	document_open();
	json_settings(o);
	json_text("mode", o->naive ? "naive" : "paced");
	json_text("shape", nll_rate_names[o->plan.rate.shape]);
	json_number("workers", o->plan.workers);
	json_number("size", o->plan.size);
	json_real("seconds", (double)o->time_ns / NSEC_PER_SEC);
	json_real("requested_mbps", s->requested_mbps);
	json_real("achieved_mbps", s->achieved_mbps);
	json_real("rate_error_pct", s->error_pct);
	json_real("rate_sd_mbps", s->sd_mbps);
	json_real("cpu_pct", s->cpu_pct);
	json_real("elapsed_s", s->elapsed_s);
	json_number("packets", s->packets);
	json_number("bytes", s->bytes);
	json_number("skipped", s->skipped);
	json_number("refused", s->refused);
	json_number("dropped", s->dropped);
	json_number("failed", s->failed);
	json_number("catch_up", s->catch_up);
	json_times(o, "gap", &s->gap);
	json_times(o, "late", &s->late);
	json_bool("interrupted", interrupted());
	json_bool("arrival_known", out->known);
	if (out->known)
		json_received(o, &out->received);
	json_close();
}

void report_listening(const struct options *o)
{
	char text[ADDRESS_TEXT];

	if (o->json)
		return;
	printf("listening at %s, port %u\n",
	       address_is_any(&o->to) ? "every address" : address_text(&o->to, text),
	       address_port(&o->to));
	finish_output();
}

static void print_run(const struct session *s, const char *verb)
{
	char text[ADDRESS_TEXT], when[DOCUMENT_TIME], name[32];

	snprintf(name, sizeof(name), "run %u %s", s->number, verb);
	printf("%-18s from %s, port %u, at %s\n", name, address_text(&s->peer, text),
	       address_port(&s->peer), document_time(s->began, when));
}

void report_run(const struct options *o, const struct session *s)
{
	if (o->json)
		return;
	print_run(s, "begins");
	finish_output();
}

static void json_of_run(const struct options *o, const struct session *s)
{
	char text[ADDRESS_TEXT];

	json_object("settings");
	json_text("address", address_text(&o->to, text));
	json_number("port", address_port(&o->to));
	json_bool("strict", o->strict);
	json_end();
	json_object("peer");
	json_text("address", address_text(&s->peer, text));
	json_number("port", address_port(&s->peer));
	json_end();
	json_number("run", s->number);
}

void report_received(const struct options *o, const struct session *s)
{
	const struct received *r = &s->received;

	if (!o->json) {
		print_run(s, "ended");
		print_received(r);
		print_heading();
		print_times("gap", &r->gap);
		putchar('\n');
		finish_output();
		return;
	}
	document_open_of(s->began);
	json_of_run(o, s);
	json_text("mode", "receive");
	json_received(o, r);
	json_close();
}

static FILE *put_interval(const struct options *o, u64 from_ns, u64 until_ns, u64 bytes)
{
	FILE *to = o->json ? stderr : stdout;

	fprintf(to, "%8.3f-%.3f s   %.3f Mbit/s", (double)from_ns / NSEC_PER_SEC,
		(double)until_ns / NSEC_PER_SEC,
		mbps(bytes, (double)(until_ns - from_ns) / NSEC_PER_SEC));
	return to;
}

void report_on_the_way(const struct options *o, const struct session *s, u64 now_ns)
{
	FILE *to = o->json ? stderr : stdout;

	fprintf(to, "run %u ", s->number);
	put_interval(o, s->told_ns - s->first_stamp_ns, now_ns - s->first_stamp_ns,
		     s->received.bytes - s->told_bytes);
	fprintf(to, ", %llu lost so far\n", lost_of(&s->received));
	fflush(to);
}

void report_interval(const struct run *run, const struct interval *i)
{
	FILE *to = put_interval(run->o, i->from_ns, i->until_ns, i->bytes);

	if (i->known)
		fprintf(to, ", %.3f arrived, %llu lost so far", i->arrived_mbps, i->lost);
	fprintf(to, ", %.3f s left\n", (double)(run->o->time_ns - i->until_ns) / NSEC_PER_SEC);
	fflush(to);
}

void write_samples(const struct run *run)
{
	FILE *file = run->o->samples;
	u64 seconds = (run->time_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC;
	unsigned int i;

	fprintf(file, "second,bytes\n");
	for (i = 0; i < seconds && i < run->seconds; i++)
		fprintf(file, "%u,%llu\n", i, second_of(run, i));
	if (fclose(file))
		die(EXIT_FAILED, "--samples: cannot write: %s", strerror(errno));
}
