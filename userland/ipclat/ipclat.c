// SPDX-License-Identifier: GPL-2.0
/* ipclat.c - how long one thread needs to reach another. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "container.h"
#include "document.h"
#include "hog.h"
#include "interrupt.h"
#include "ipclat.h"
#include "memory.h"
#include "pair.h"
#include "report.h"

#define NO_MESSAGE	"no message came within --seconds"
#define CALIBRATION_NS	(200 * NSEC_PER_MSEC)

/* For a person at a terminal: where it is, and how long it will take from what it took. */
static void show_progress(const struct options *o, const struct chosen *c, u32 done, u64 begin_ns)
{
	u64 all = (u64)o->s.repeats * o->count, spent = now_ns() - begin_ns;

	if (!isatty(STDERR_FILENO))
		return;
	fprintf(stderr, "\r\033[K%s: %u of %llu", c->m->name, done + 1, all);
	if (done)
		fprintf(stderr, ", %llu s left",
			spent / done * (all - done) / NSEC_PER_SEC + 1);
}

static void end_progress(void)
{
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
}

static struct settings settings_of(const struct options *o, const struct chosen *c)
{
	struct settings s = o->s;

	if (c->back) {
		s.cpu[SENDER] = o->s.cpu[RECEIVER];
		s.cpu[RECEIVER] = o->s.cpu[SENDER];
	}
	return s;
}

/* False when it failed; a repeat that was interrupted does not count. */
static bool measure_one(struct options *o, struct chosen *c, u32 repeat)
{
	struct histogram *one = xcalloc(1, sizeof(*one));
	struct settings s = settings_of(o, c);
	const char *bad = run_pair(&s, c->m, one);

	if (!bad && !one->count) {
		end_progress();
		complain("%s: repeat %u does not count: %s", c->m->name, repeat, NO_MESSAGE);
	} else if (!bad) {
		c->repeats[c->measured++] = (struct repeat){
			one->count, histogram_mean(one) - clock_cost(o, c),
		};
		note_repeat(o, c, repeat, one);
		histogram_merge(c->histogram, one);
	} else if (!interrupted()) {
		end_progress();
		complain("%s: %s", c->m->name, bad);
		c->missing = bad;
	}
	free(one);
	return !bad;
}

/* Mechanisms take turns: whatever disturbs the machine disturbs all of them. */
static int measure(struct options *o)
{
	u64 begin_ns = now_ns();
	int code = EXIT_GOOD;
	u32 repeat, i;

	for (repeat = 0; repeat < o->s.repeats; repeat++) {
		for (i = 0; i < o->count && !interrupted(); i++) {
			struct chosen *c = &o->chosen[i];

			if (c->missing)
				continue;
			show_progress(o, c, repeat * o->count + i, begin_ns);
			if (!measure_one(o, c, repeat + 1))
				code = EXIT_FAILED;
		}
	}
	end_progress();
	for (i = 0; i < o->count; i++) {
		struct chosen *c = &o->chosen[i];

		if (c->missing || c->measured)
			continue;
		c->missing = interrupted() ? "interrupted" : NO_MESSAGE;
		code = EXIT_FAILED;
	}
	return code;
}

int main(int argc, char **argv)
{
	struct options o;
	struct crew hogs;
	int code;

	args_init("ipclat");
	parse_options(argc, argv, &o);
	if (o.side)
		return contained_side(find_mechanism(o.list), o.side);
	choose_list(&o, o.list);
	check_mechanisms(&o);
	policy_try(&o.s.policy);
	open_outputs(&o);
	document_begin();
	tsc_calibrate(&o.s.tsc, CALIBRATION_NS);
	hogs_start(&hogs, o.hogs, o.hog_tickets);
	hold_interrupts();
	code = measure(&o);
	hogs_stop(&hogs);
	report(&o, !interrupted());
	end_interrupts();
	return code;
}
