// SPDX-License-Identifier: GPL-2.0
/* lottery_top.c - lottery top: its options, its rhythm, and the terminal. */
#include <getopt.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "lottery_sched.h"
#include "top.h"

#define DELAY_MAX	3600U
#define COUNT_MAX	1000000000U
#define ROWS_USUAL	24U

/* The other screen, no cursor, long lines cut off instead of wrapped; and back. */
#define SCREEN_OPEN	"\033[?1049h\033[?25l\033[?7l"
#define SCREEN_CLOSE	"\033[?7h\033[?25h\033[?1049l"
/* To the top left; and after each line and after the last one, what was there goes. */
#define SCREEN_HOME	"\033[H"
#define SCREEN_END	"\033[K\n"
#define SCREEN_REST	"\033[J"

struct options {
	u32 delay_s;
	u32 count;		/* 0: until it is ended */
	enum top_sort sort;
	bool batch;
	const char *trace;	/* NULL: the kernel, now */
};

static atomic_bool on_screen;	/* signal handlers look at it */

static void parse(int argc, char **argv, struct options *o, const char *usage)
{
	static const char *const sorts[] = { "tickets", "got", NULL };
	static const struct option longs[] = {
		{ "delay", required_argument, NULL, 'd' },
		{ "count", required_argument, NULL, 'n' },
		{ "sort", required_argument, NULL, 's' },
		{ "batch", no_argument, NULL, 'b' },
		{ "trace", required_argument, NULL, 'T' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":d:n:s:bhV", longs, NULL)) != -1) {
		switch (c) {
		case 'd':
			o->delay_s = (u32)args_number("--delay", optarg, 1, DELAY_MAX);
			break;
		case 'n':
			o->count = (u32)args_number("--count", optarg, 1, COUNT_MAX);
			break;
		case 's':
			o->sort = args_choice("--sort", optarg, sorts);
			break;
		case 'b':
			o->batch = true;
			break;
		case 'T':
			o->trace = optarg;
			break;
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	args_no_more(argc, argv, optind);
}

/* For signal handlers, too. A terminal that takes nothing is past helping. */
static void tell_terminal(const char *text)
{
	if (write(STDOUT_FILENO, text, strlen(text)) < 0)
		return;
}

static void screen_close(void)
{
	if (on_screen)
		tell_terminal(SCREEN_CLOSE);
	on_screen = false;
}

/*
 * At once, wherever we are: a reader that has stopped reading must not keep us.
 * What stdout holds is a part of a block, and nobody's loss.
 */
static void on_end(int signal)
{
	(void)signal;
	screen_close();
	_exit(EXIT_GOOD);
}

/* The shell gets its screen while we are stopped. */
static void on_stop(int signal)
{
	(void)signal;
	tell_terminal(SCREEN_CLOSE);
	raise(SIGSTOP);
	tell_terminal(SCREEN_OPEN);
}

static void handle(int signal, void (*handler)(int signal))
{
	struct sigaction action = { .sa_handler = handler, .sa_flags = SA_RESTART };

	sigfillset(&action.sa_mask);
	sigaction(signal, &action, NULL);
}

static void screen_open(void)
{
	static char block[1 << 16];

	/* a whole look at once, or it flickers */
	setvbuf(stdout, block, _IOFBF, sizeof(block));
	atexit(screen_close);
	on_screen = true;
	handle(SIGQUIT, on_end);
	handle(SIGTSTP, on_stop);
	tell_terminal(SCREEN_OPEN);
}

static unsigned int screen_rows(void)
{
	struct winsize size;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_row < 2)
		return ROWS_USUAL;
	return size.ws_row;
}

static bool can_be_screen(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb");
}

static void show(const struct options *o, struct top_look *look, const struct top_look *before)
{
	static bool later;

	if (on_screen) {
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

/*
 * Until the next look is due, which was due at @due_ns before. Returns when that was. A task
 * below the class is late, but as late each time: that is no reason to wait longer.
 */
static u64 wait_for_next(u64 due_ns, u64 delay_ns, u64 looked_ns)
{
	u64 now;

	due_ns += delay_ns;
	sleep_until_ns(due_ns);
	now = now_ns();
	if (now < looked_ns + delay_ns / 2) {
		due_ns = looked_ns + delay_ns;
		sleep_until_ns(due_ns);
	} else if (now > due_ns + delay_ns) {
		due_ns = now;
	}
	return due_ns;
}

static void repeat(const struct options *o)
{
	static struct top_look looks[2];
	u64 delay_ns = o->delay_s * NSEC_PER_SEC, due_ns;
	u32 i;

	look_first(&looks[0], delay_ns);
	due_ns = looks[0].ended_ns;
	for (i = 1; !o->count || i <= o->count; i++) {
		struct top_look *look = &looks[i % 2], *before = &looks[!(i % 2)];

		due_ns = wait_for_next(due_ns, delay_ns, before->ended_ns);
		top_look(look);
		top_compare(look, before);
		show(o, look, before);
	}
}

int lottery_top(int argc, char **argv, const char *usage)
{
	struct options o = { .delay_s = 1 };

	parse(argc, argv, &o, usage);
	if (o.trace) {
		struct top_look look = { }, before = { };

		top_trace(o.trace, &look, &before);
		show(&o, &look, &before);
		return EXIT_GOOD;
	}
	if (access(LOTTERY_PROC, F_OK))
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	handle(SIGINT, on_end);
	handle(SIGTERM, on_end);
	if (!o.batch && can_be_screen())
		screen_open();
	be_on_time();
	repeat(&o);
	return EXIT_GOOD;
}
