// SPDX-License-Identifier: GPL-2.0
/* lottery_top.c - lottery top: its options and its rhythm. */
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "top.h"
#include "verbs.h"

#define DELAY_MAX	3600U
#define COUNT_MAX	1000000000U

/* To the top left; and after each line and after the last one, what was there goes. */
#define SCREEN_HOME	"\033[H"
#define SCREEN_END	"\033[K\n"
#define SCREEN_REST	"\033[J"

struct options {
	u64 delay_ns;
	u32 count;		/* 0: until it is ended */
	enum top_sort sort;
	bool batch;
	bool json;
	bool screen;
	const char *trace;	/* NULL: the kernel, now */
};

static struct options options;

static const struct opt rows[] = {
	OPT('d', "--delay", "S",
	    DECIMAL(options.delay_ns, MICRO / 10, DELAY_MAX * MICRO, MICRO, NSEC_PER_USEC,
		    "0.1..3600 s"), "0.1..3600 seconds from one look to the next (%d)"),
	OPT('n', "--count", "N", NUMBER(options.count, 1, COUNT_MAX, 0),
	    "end after %r looks (no end)"),
	OPT('s', "--sort", "KEY", CHOICE(options.sort, top_sorts, 0), "tickets or got (%d)"),
	OPT('b', "--batch", NULL, FLAG(options.batch),
	    "plain text; so it is without a terminal anyway"),
	OPT(0, "--trace", "FILE", TEXT(options.trace, NULL),
	    "of a recording, as trace-cmd report prints it; - is stdin"),
	OPT(0, "--json", NULL, FLAG(options.json), "one JSON object a look"),
	{ }
};

const struct opts top_opts = {
	.name = "top",
	.usage =
"Usage: " TOP_SYNOPSIS
"\n"
"Show what lottery tickets buy and what tasks get, again and again. On a terminal q ends\n"
"it, and s sorts by the next key.\n"
"\n",
	.rows = rows,
};

static void show(const struct options *o, struct top_look *look, const struct top_look *before)
{
	static bool later;

	if (o->json) {
		top_json(look, before, o->sort);
		return;
	}
	if (o->screen) {
		fputs(SCREEN_HOME, stdout);
		/* the last line stays empty: a line's end there would scroll */
		top_show(look, before, o->sort, SCREEN_END, screen_rows() - 1);
		fputs(SCREEN_REST, stdout);
	} else {
		if (later)
			putchar('\n');
		top_show(look, before, o->sort, "\n", 0);
	}
	later = true;
	finish_output();
}

/* Above what it watches, unless it may not, or another policy has been chosen for it. */
static void be_on_time(void)
{
	const struct sched_param lowest = { .sched_priority = 1 };

	if (sched_getscheduler(0) == SCHED_OTHER)
		sched_setscheduler(0, SCHED_FIFO, &lowest);
}

/* A task below the class may be kept waiting in the middle of a look. The next one is whole. */
static void look_first(struct top_look *look, u64 delay_ns)
{
	top_look(look);
	if (look->waited_ns > delay_ns / 10)
		top_look(look);
}

/* Until @until_ns. A key is for the look that is shown. */
static void wait_with_keys(struct options *o, u64 until_ns, struct top_look *shown,
			   const struct top_look *before)
{
	char key;

	while (o->screen && (key = screen_key(until_ns))) {
		if (key == 'q')
			exit(EXIT_GOOD);
		if (key != 's')
			continue;
		o->sort = (o->sort + 1) % TOP_SORTS;
		if (before->read_ns)
			show(o, shown, before);
	}
	sleep_until_ns(until_ns);
}

/*
 * Until the next look is due, which was due at @due_ns before. Returns when that was. A task
 * below the class is late, but as late each time: that is no reason to wait longer.
 */
static u64 wait_for_next(struct options *o, u64 due_ns, struct top_look *last,
			 const struct top_look *before)
{
	u64 now;

	due_ns += o->delay_ns;
	wait_with_keys(o, due_ns, last, before);
	now = now_ns();
	if (now < last->ended_ns + o->delay_ns / 2) {
		due_ns = last->ended_ns + o->delay_ns;
		wait_with_keys(o, due_ns, last, before);
	} else if (now > due_ns + o->delay_ns) {
		due_ns = now;
	}
	return due_ns;
}

static void repeat(struct options *o)
{
	static struct top_look looks[2];
	u64 due_ns;
	u32 i;

	look_first(&looks[0], o->delay_ns);
	due_ns = looks[0].ended_ns;
	for (i = 1; !o->count || i <= o->count; i++) {
		struct top_look *look = &looks[i % 2], *before = &looks[!(i % 2)];

		due_ns = wait_for_next(o, due_ns, before, look);
		top_look(look);
		top_compare(look, before);
		show(o, look, before);
	}
}

int lottery_top(int argc, char **argv)
{
	struct options *o = &options;

	opts_parse(&top_opts, argc, argv);
	if (o->trace) {
		struct top_look look = { }, before = { };

		top_trace(o->trace, &look, &before);
		show(o, &look, &before);
		return EXIT_GOOD;
	}
	if (access(LOTTERY_PROC, F_OK))
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	screen_end_well();
	o->screen = !o->batch && !o->json && screen_open();
	be_on_time();
	repeat(o);
	return EXIT_GOOD;
}
