// SPDX-License-Identifier: GPL-2.0
/* share_report.c - lottery-share: windows, bounds, output. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "clock.h"
#include "hog.h"
#include "json.h"
#include "lottery_proc.h"
#include "share.h"

static void window_open(const struct share *s, struct window *w)
{
	unsigned int i;

	w->open_lotteries = lottery_count(s->cpu);
	for (i = 0; i < w->count; i++) {
		struct player *p = &w->player[i];

		p->open_cpu_ns = process_cpu_ns(p->pid);
		p->open_work_ns = hog_work_ns(p->slot, p->open_cpu_ns);
	}
}

static void window_close(const struct share *s, struct window *w)
{
	unsigned int i;

	w->lotteries += lottery_count(s->cpu) - w->open_lotteries;
	for (i = 0; i < w->count; i++) {
		struct player *p = &w->player[i];
		u64 cpu = process_cpu_ns(p->pid);
		u64 work = hog_work_ns(p->slot, cpu) - p->open_work_ns;

		cpu -= p->open_cpu_ns;
		p->ran_ns += work;
		p->stalled_ns += cpu > work ? cpu - work : 0;
	}
}

/* The sums over those that can win. */
struct sums {
	u64 tickets;
	u64 ran_ns;
	u64 stalled_ns;
	double quantum_ns;	/* to reckon with: longer where the machine could not keep it */
};

static struct sums sums_of(const struct share *s, const struct window *w)
{
	struct sums sums = { .quantum_ns = (double)s->quantum_ns };
	unsigned int i;

	for (i = 0; i < w->awake; i++) {
		sums.tickets += w->player[i].tickets;
		sums.ran_ns += w->player[i].ran_ns;
		sums.stalled_ns += w->player[i].stalled_ns;
	}
	if (w->awake < 2)
		return sums;	/* who is alone needs no lottery */
	if (sums.stalled_ns > sums.ran_ns / 4)
		sums.quantum_ns *= 2;
	sums.quantum_ns = fmax(sums.quantum_ns,
			       lottery_effective_quantum(s->quantum_ns, sums.ran_ns,
							 w->lotteries));
	return sums;
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
	json_text("draw", s->low_variance ? "low-variance" : "independent");
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

static struct line line_of(const struct player *p, const struct sums *sums)
{
	double share = (double)p->tickets / (double)sums->tickets;
	struct line l = {
		.total = sums->tickets,
		.lotteries = (double)sums->ran_ns / sums->quantum_ns,
		.wins = (double)p->ran_ns / sums->quantum_ns,
	};

	l.expected = l.lotteries * share;
	l.variance = l.expected * (1 - share);
	l.sigma_error = l.variance > 0 ? (l.wins - l.expected) / sqrt(l.variance) : 0;
	return l;
}

/* Whether the bound means what it says for each that can win. */
static bool enough_lotteries(const struct share *s, const struct window *w)
{
	struct sums sums = sums_of(s, w);
	unsigned int i;

	if ((double)sums.ran_ns < s->quanta * (double)s->quantum_ns)
		return false;
	for (i = 0; i < w->awake && w->awake > 1; i++)
		if (line_of(&w->player[i], &sums).variance < LOTTERY_VARIANCE_MIN)
			return false;
	return true;
}

void window_pass(const struct share *s, struct window *w, u64 ns)
{
	do {
		u64 end = now_ns() + ns;

		window_open(s, w);
		sleep_until_ns(end);
		window_close(s, w);
	} while (now_ns() < s->deadline_ns && !enough_lotteries(s, w));
}

static struct line report_line(const struct share *s, const char *phase,
			       const struct window *w, const struct sums *sums,
			       unsigned int i)
{
	const struct player *p = &w->player[i];
	struct line l = line_of(p, sums);

	l.phase = phase;
	l.task = i + 1;
	if (s->output == OUTPUT_JSON)
		line_json(s, p, &l);
	else if (s->output == OUTPUT_KTAP)
		line_ktap(s, p, &l);
	else
		line_table(s, p, &l);
	return l;
}

bool share_report_time(struct share *s, const struct window *w)
{
	struct sums sums = sums_of(s, w);
	struct line first = report_line(s, "all", w, &sums, 0);
	double off_pct = 100 * (first.wins / first.expected - 1);
	unsigned int i;

	for (i = 1; i < w->awake; i++)
		report_line(s, "all", w, &sums, i);
	return fabs(off_pct) <= SHARE_YIELD_PCT ||
	       share_missed(s, "the first task's share is off by %.1f %%, allowed are %.0f",
			    off_pct, SHARE_YIELD_PCT);
}

bool share_report(struct share *s, const char *phase, const struct window *w)
{
	struct sums sums = sums_of(s, w);
	bool good = true, near;
	unsigned int i;

	for (i = 0; i < w->awake; i++) {
		struct line l = report_line(s, phase, w, &sums, i);

		if (s->low_variance)
			near = fabs(l.wins - l.expected) <= SHARE_EVEN_MAX;
		else
			near = l.variance < LOTTERY_VARIANCE_MIN ||
			       fabs(l.sigma_error) < LOTTERY_SIGMAS;
		good &= near || (s->output == OUTPUT_KTAP &&
				 share_missed(s, "%s: the share of task %u", phase, i + 1));
	}
	if (s->output == OUTPUT_KTAP && !enough_lotteries(s, w))
		good &= share_missed(s, "%s: %llu lotteries are too few for a bound", phase,
				     w->lotteries);
	return good;
}

bool share_report_draws(struct share *s, u64 lotteries, u64 elapsed_ns)
{
	double quanta = (double)elapsed_ns / (double)s->quantum_ns;
	double draws_pct = 100 * (double)lotteries / quanta;

	if (s->output == OUTPUT_JSON) {
		json_open();
		json_text("case", s->ratio);
		json_text("kind", s->kind);
		json_number("lotteries", lotteries);
		json_real("quanta", quanta);
		json_close();
	} else if (s->output == OUTPUT_TABLE) {
		printf("%-12s %-10s %llu lotteries in %.1f quanta\n", s->ratio, s->kind,
		       lotteries, quanta);
	} else {
		ktap_note(&s->ktap, "%s: %llu lotteries in %.1f quanta, %.1f %%", s->ratio,
			  lotteries, quanta, draws_pct);
	}
	return (draws_pct >= SHARE_DRAWS_MIN && draws_pct <= SHARE_DRAWS_MAX) ||
	       share_missed(s, "%.1f lotteries for each 100 quanta, wanted %.0f to %.0f",
			    draws_pct, SHARE_DRAWS_MIN, SHARE_DRAWS_MAX);
}

static void tell(const struct share *s, const char *mark, const char *format, va_list args)
{
	char text[256];

	vsnprintf(text, sizeof(text), format, args);
	if (s->output == OUTPUT_KTAP)
		ktap_note(&s->ktap, "%s%s %s: %s", mark, s->kind, s->ratio, text);
	else
		complain("%s%s %s: %s", mark, s->kind, s->ratio, text);
}

bool share_fault(struct share *s, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(s, "", format, args);
	va_end(args);
	return false;
}

bool share_missed(struct share *s, const char *format, ...)
{
	bool judged = bounds_on();
	va_list args;

	va_start(args, format);
	tell(s, judged ? "" : "bound missed: ", format, args);
	va_end(args);
	return !judged;
}
