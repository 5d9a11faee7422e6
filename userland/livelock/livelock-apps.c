// SPDX-License-Identifier: GPL-2.0
/*
 * livelock-apps.c - the receiving applications alone, for frames from anywhere, as
 * from the host's sender.
 */
#include <getopt.h>
#include <stdlib.h>

#include "apps.h"
#include "args.h"
#include "clock.h"
#include "json.h"
#include "quantile.h"

#define SECONDS_MAX	3600U
#define FRAMES_MAX	1000000U
#define SOON_NS		(10 * NSEC_PER_MSEC)

static const char usage[] =
"Usage: livelock-apps [options]\n"
"\n"
"Receive stamped frames from UDP sockets, one process a port, until the time is\n"
"over; one JSON line for each port.\n"
"\n"
"  -n, --ports N         applications, 1..8 (1)\n"
"  -p, --port PORT       of the first one; the next has the next (9001)\n"
"  -t, --seconds S       how long to receive (10)\n"
"      --lag S           wait for latecomers (0)\n"
"      --rcvbuf BYTES    of each socket (kernel's choice)\n"
"      --hog             a process beside them that wants the CPU\n"
"  -l, --label TEXT      goes into each line\n"
"      --json            no effect, the output is always JSON\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_LAG = 256, OPT_RCVBUF, OPT_HOG, OPT_JSON,
};

static struct apps_options options = {
	.ports = 1, .first_port = 9001, .frames_max = FRAMES_MAX,
};

static u64 seconds = 10, lag_s;
static const char *label;

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "ports", required_argument, NULL, 'n' },
		{ "port", required_argument, NULL, 'p' },
		{ "seconds", required_argument, NULL, 't' },
		{ "lag", required_argument, NULL, OPT_LAG },
		{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
		{ "hog", no_argument, NULL, OPT_HOG },
		{ "label", required_argument, NULL, 'l' },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":n:p:t:l:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'n':
			options.ports = (unsigned int)args_number("ports", optarg, 1, APPS_MAX);
			break;
		case 'p':
			options.first_port = (u16)args_number("port", optarg, 1, 65535 - APPS_MAX);
			break;
		case 't':
			seconds = args_number("seconds", optarg, 1, SECONDS_MAX);
			break;
		case OPT_LAG:
			lag_s = args_number("lag", optarg, 0, SECONDS_MAX);
			break;
		case OPT_RCVBUF:
			options.rcvbuf = args_number("rcvbuf", optarg, 1, 1000000000);
			break;
		case OPT_HOG:
			options.hog = true;
			break;
		case 'l':
			label = optarg;
			break;
		case OPT_JSON:
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
	parse(argc, argv);
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
