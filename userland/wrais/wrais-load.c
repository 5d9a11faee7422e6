// SPDX-License-Identifier: GPL-2.0
/* wrais-load.c - readers and writers in the background, for a bounded time. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "json.h"
#include "load.h"

#define SECONDS_MAX	86400U

static const char usage[] =
"Usage: wrais-load [options]\n"
"\n"
"Read and write files as copies of dd do, until the time is over or SIGTERM or\n"
"SIGINT comes; then print one JSON line for each worker. What was written is\n"
"removed, the files that were read stay.\n"
"\n"
"  -d, --dir DIR         where the files are (.)\n"
LOAD_USAGE
"  -s, --seconds S       how long (60)\n"
"      --json            no effect, the output is always JSON\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

static u64 parse(int argc, char **argv, struct load_options *o)
{
	enum { OPT_JSON = 256 };
	static const struct option longs[] = {
		{ "dir", required_argument, NULL, 'd' },
		{ "seconds", required_argument, NULL, 's' },
		{ "json", no_argument, NULL, OPT_JSON },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ "readers", required_argument, NULL, 'r' },
		{ "writers", required_argument, NULL, 'w' },
		{ "read-size", required_argument, NULL, OPT_READ_SIZE },
		{ "write-size", required_argument, NULL, OPT_WRITE_SIZE },
		{ "pass", required_argument, NULL, OPT_PASS },
		{ "block", required_argument, NULL, OPT_BLOCK },
		{ "stagger", required_argument, NULL, OPT_STAGGER },
		{ "sync", required_argument, NULL, OPT_SYNC },
		{ }
	};
	u64 seconds = 60;
	int c;

	while ((c = getopt_long(argc, argv, ":d:s:hV" LOAD_SHORT_OPTIONS, longs, NULL)) != -1) {
		if (load_option(c, o))
			continue;
		switch (c) {
		case 'd':
			o->dir = optarg;
			break;
		case 's':
			seconds = args_number("--seconds", optarg, 1, SECONDS_MAX);
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
	if (!o->readers && !o->writers)
		die(EXIT_USAGE, "-r 0 -w 0: nobody is left to work");
	return seconds;
}

/* Readable when somebody asks us to stop. */
static int stop_signals(void)
{
	sigset_t set;
	int fd;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC);
	if (fd < 0)
		die(EXIT_FAILED, "signalfd: %s", strerror(errno));
	return fd;
}

static void report(const struct load *load, double seconds)
{
	unsigned int i;

	for (i = 0; i < load->count; i++) {
		const struct crew_slot *slot = &load->crew.page->slot[i];
		bool syncs = i >= load->o->readers + load->o->writers;
		u64 bytes = syncs ? 0 : load64(&slot->value);

		json_open();
		json_text("worker", load_worker(load->o, i));
		json_number("id", load_number(load->o, i));
		json_real("mbps", (double)bytes / MEGABYTE / seconds);
		json_number("bytes", bytes);
		json_number("passes", slot->rounds);
		json_real("seconds", seconds);
		json_close();
	}
}

int main(int argc, char **argv)
{
	struct load_options o = load_defaults();
	struct load load;
	u64 seconds, begin;
	double took;
	int stop;

	args_init("wrais-load");
	seconds = parse(argc, argv, &o);
	load_prepare(&o);
	stop = stop_signals();
	begin = now_ns();
	load_start(&load, &o);
	load_watch(&load, stop, begin + seconds * NSEC_PER_SEC);
	took = (double)(now_ns() - begin) / NSEC_PER_SEC;
	report(&load, took);
	load_stop(&load);
	return EXIT_GOOD;
}
