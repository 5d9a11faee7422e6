// SPDX-License-Identifier: GPL-2.0
/*
 * livelock-apps.c - the receiving applications alone, for frames from anywhere, as
 * from the host's sender.
 */
#include <stdlib.h>

#include "apps.h"
#include "args.h"
#include "clock.h"
#include "histogram.h"
#include "json.h"
#include "opts.h"

#define SECONDS_MAX	3600U
#define FRAMES_MAX	1000000U
#define SOON_NS		(10 * NSEC_PER_MSEC)

static struct apps_options options = { .frames_max = FRAMES_MAX };

static u64 seconds, lag_s;
static const char *label;

static const struct opt rows[] = {
	OPT('n', "--ports", "N", NUMBER(options.ports, 1, APPS_MAX, 1), "applications, %r (%d)"),
	OPT('p', "--port", "PORT", NUMBER(options.first_port, 1, 65535 - APPS_MAX, 9001),
	    "of the first one; the next has the next (%d)"),
	OPT('t', "--seconds", "S", NUMBER(seconds, 1, SECONDS_MAX, 10),
	    "how long to receive (%d)"),
	OPT(0, "--lag", "S", NUMBER(lag_s, 0, SECONDS_MAX, 0), "wait for latecomers (%d)"),
	OPT(0, "--rcvbuf", "BYTES", NUMBER(options.rcvbuf, 1, 1000000000, 0),
	    "of each socket (kernel's choice)"),
	OPT(0, "--hog", NULL, FLAG(options.hog), "another process that wants the CPU"),
	OPT('l', "--label", "TEXT", TEXT(label, NULL), "goes into each line"),
	JSON_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: livelock-apps [options]\n"
"\n"
"Receive stamped frames from UDP sockets, one process a port, until the time is\n"
"over; one JSON line for each port.\n"
"\n",
	.rows = rows,
};

static void report(const struct apps *apps, unsigned int port)
{
	const struct app *app = apps_of(apps, port);

	json_open();
	if (label)
		json_text("label", label);
	json_number("port", options.first_port + port);
	json_number("received", load64(&app->received));
	json_real("goodput_pps", (double)app->windowed / (double)seconds);
	json_number("expected", app->next_seq);
	json_number("disorder", app->disorder);
	json_number("strange", app->strange);
	if (options.hog)
		json_real("user_share_pct", 100 * apps_hog_share(apps));
	json_close();
}

int main(int argc, char **argv)
{
	struct apps_window window;
	struct apps apps;
	unsigned int i;

	args_init("livelock-apps");
	opts_parse(&opts, argc, argv);
	apps_start(&apps, &options);
	window.begin_ns = now_ns() + SOON_NS;
	window.end_ns = window.begin_ns + seconds * NSEC_PER_SEC;
	apps_release(&apps, window);
	sleep_until_ns(window.end_ns + lag_s * NSEC_PER_SEC);
	for (i = 0; i < options.ports; i++)
		report(&apps, i);
	apps_stop(&apps);
	finish_output();
	return EXIT_GOOD;
}
