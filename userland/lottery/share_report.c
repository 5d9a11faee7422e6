// SPDX-License-Identifier: GPL-2.0
/* share_report.c - lottery-share: windows, bounds, output. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "hog.h"
#include "json.h"
#include "share.h"

void window_open(struct player *players, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct player *p = &players[i];

		p->open_cpu_ns = process_cpu_ns(p->pid);
		p->open_work_ns = hog_work_ns(p->slot, p->open_cpu_ns);
	}
}

void window_close(struct player *players, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		struct player *p = &players[i];
		u64 cpu = process_cpu_ns(p->pid);
		u64 work = hog_work_ns(p->slot, cpu) - p->open_work_ns;

		cpu -= p->open_cpu_ns;
		p->ran_ns += work;
		p->stalled_ns += cpu > work ? cpu - work : 0;
	}
}

/* The numbers of one line. */
struct line {
	const char *phase;
	unsigned int task;
	u64 total;
	double lotteries;
	double wins;
	double expected;
	double variance;
	double sigma_error;
};

static void line_json(const struct share *s, const struct player *p, const struct line *l)
{
	json_open();
	json_text("case", s->ratio);
	json_text("kind", s->kind);
	json_text("phase", l->phase);
	json_number("task", l->task);
	json_number("tickets", p->tickets);
	json_number("total", l->total);
	json_real("lotteries", l->lotteries);
	json_real("wins", l->wins);
	json_real("expected", l->expected);
	json_real("sigma_error", l->sigma_error);
	json_number("stalled_ns", p->stalled_ns);
	json_close();
}

static void line_table(const struct share *s, const struct player *p, const struct line *l)
{
	printf("%-12s %-10s %-8s %4u %8u %10.1f %10.1f %7.3f %7.3f %7.2f\n", s->ratio,
	       s->kind, l->phase, l->task, p->tickets, l->wins, l->expected,
	       l->lotteries ? 100 * l->wins / l->lotteries : 0,
	       100.0 * p->tickets / (double)l->total, l->sigma_error);
}

static void line_ktap(const struct share *s, const struct player *p, const struct line *l)
{
	ktap_note(&s->ktap,
		  "%s %s task %u tickets %u of %llu: wins %.1f of %.1f, expected %.1f, error %.2f sigma, stalled %llu ms",
		  s->ratio, l->phase, l->task, p->tickets, l->total, l->wins, l->lotteries,
		  l->expected, l->sigma_error, p->stalled_ns / NSEC_PER_MSEC);
}

static struct line line_of(const struct share *s, const struct player *p, u64 total,
			   u64 ran_ns)
{
	double share = (double)p->tickets / (double)total;
	struct line l = {
		.total = total,
		.lotteries = (double)ran_ns / (double)s->quantum_ns,
		.wins = (double)p->ran_ns / (double)s->quantum_ns,
	};

	l.expected = l.lotteries * share;
	l.variance = l.expected * (1 - share);
	l.sigma_error = l.variance > 0 ? (l.wins - l.expected) / sqrt(l.variance) : 0;
	return l;
}

bool share_report(struct share *s, const char *phase, const struct player *players,
		  unsigned int count)
{
	u64 total = 0, ran_ns = 0, stalled_ns = 0;
	bool good = true;
	unsigned int i;

	for (i = 0; i < count; i++) {
		total += players[i].tickets;
		ran_ns += players[i].ran_ns;
		stalled_ns += players[i].stalled_ns;
	}
	for (i = 0; i < count; i++) {
		struct line l = line_of(s, &players[i], total, ran_ns);

		l.phase = phase;
		l.task = i + 1;
		if (s->output == OUTPUT_JSON)
			line_json(s, &players[i], &l);
		else if (s->output == OUTPUT_KTAP)
			line_ktap(s, &players[i], &l);
		else
			line_table(s, &players[i], &l);
		if (l.variance < SHARE_VARIANCE_MIN || stalled_ns > SHARE_STALLED_MAX * ran_ns)
			continue;
		s->judged = true;
		good &= fabs(l.sigma_error) < SHARE_SIGMAS;
	}
	return good;
}

bool share_fault(struct share *s, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (s->output == OUTPUT_KTAP)
		ktap_note(&s->ktap, "%s %s: %s", s->kind, s->ratio, text);
	else
		complain("%s %s: %s", s->kind, s->ratio, text);
	return false;
}
