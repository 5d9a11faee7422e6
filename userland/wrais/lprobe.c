// SPDX-License-Identifier: GPL-2.0
/* lprobe.c - the latency probe: how long an application takes to start. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "diskfile.h"
#include "ioprio.h"
#include "json.h"
#include "probe.h"

#define SECONDS_MAX	86400U
#define THINK_MAX_US	60000000U
#define BYTES_MAX	(1024 * 1024 * MIB)
#define STALL_MAX_MS	3600000U

static const char usage[] =
"Usage: lprobe [options] FILE\n"
"\n"
"Do what an application does that starts: read FILE page by page, write a page\n"
"now and then. Report how long that took and each operation that stalled. The\n"
"result is one JSON line on standard output, stalls go to standard error.\n"
"\n"
"  -o, --output FILE     what is written (FILE.out); it is truncated at the start\n"
"      --probe KIND      lprobe, or one that is harder: fsync (every 20 writes),\n"
"                        write70 (70 MB), think (3 ms per 64 KiB), random; for 60 s\n"
"                        endless, endless-random, endless-write, endless-fsync; for\n"
"                        40 s append, commit (10 ms a page); start-ups of several\n"
"                        threads app-uring, app-direct, app-mmap, app-aio, app-pread;\n"
"                        options behind it change its values\n"
"      --pages N         pages of 4 KiB to read (52800)\n"
"      --write-every N   a write every N reads, 0: none (10)\n"
"      --write BYTES     written in all (a page a time)\n"
"      --fsync N         fsync every N writes, 0: never (0)\n"
"      --think USEC      sleep so long ...\n"
"      --every BYTES     ... whenever so many bytes were read\n"
"      --random          read the pages in random order, without readahead\n"
"      --seed N          of that order (1)\n"
"      --endless SECONDS read so long, again and again, instead of once\n"
"      --stall-ms MS     what to report as a stall (300)\n"
"      --class CLASS     I/O priority, set before the first request: none, rt, be,\n"
"      --level N         idle (as inherited); 0..7, 0 comes first (4)\n"
"      --json            no effect, the output is always JSON\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_PROBE = 256, OPT_PAGES, OPT_WRITE_EVERY, OPT_WRITE, OPT_FSYNC, OPT_THINK,
	OPT_EVERY, OPT_RANDOM, OPT_SEED, OPT_ENDLESS, OPT_STALL, OPT_JSON,
};

static const struct option longs[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "probe", required_argument, NULL, OPT_PROBE },
	{ "pages", required_argument, NULL, OPT_PAGES },
	{ "write-every", required_argument, NULL, OPT_WRITE_EVERY },
	{ "write", required_argument, NULL, OPT_WRITE },
	{ "fsync", required_argument, NULL, OPT_FSYNC },
	{ "think", required_argument, NULL, OPT_THINK },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "random", no_argument, NULL, OPT_RANDOM },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "endless", required_argument, NULL, OPT_ENDLESS },
	{ "stall-ms", required_argument, NULL, OPT_STALL },
	{ "class", required_argument, NULL, OPT_IO_CLASS },
	{ "level", required_argument, NULL, OPT_IO_LEVEL },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

struct options {
	struct probe_options probe;
	struct ioprio_options prio;
};

/* What the probe does; false for another option. */
static bool parse_probe(int c, struct probe_options *o)
{
	switch (c) {
	case 'o':
		o->output = optarg;
		return true;
	case OPT_PROBE:
		probe_set_kind(o, args_choice("--probe", optarg, probe_kinds));
		return true;
	case OPT_PAGES:
		o->pages = (u32)args_number("--pages", optarg, 1, PROBE_PAGES_MAX);
		return true;
	case OPT_WRITE_EVERY:
		o->write_every = (u32)args_number("--write-every", optarg, 0, PROBE_PAGES_MAX);
		return true;
	case OPT_WRITE:
		o->write_bytes = args_number("--write", optarg, 1, BYTES_MAX);
		return true;
	case OPT_FSYNC:
		o->fsync_every = (u32)args_number("--fsync", optarg, 0, PROBE_PAGES_MAX);
		return true;
	case OPT_THINK:
		o->think_us = args_number("--think", optarg, 0, THINK_MAX_US);
		return true;
	case OPT_EVERY:
		o->think_every = args_number("--every", optarg, 1, BYTES_MAX);
		return true;
	case OPT_RANDOM:
		o->random = true;
		return true;
	case OPT_SEED:
		o->seed = args_number("--seed", optarg, 0, ~0ULL);
		return true;
	case OPT_ENDLESS:
		probe_set_endless(o, args_number("--endless", optarg, 1, SECONDS_MAX) *
				     NSEC_PER_SEC);
		return true;
	case OPT_STALL:
		o->stall_ns = args_number("--stall-ms", optarg, 1, STALL_MAX_MS) * NSEC_PER_MSEC;
		return true;
	}
	return false;
}

static void check(const struct options *o)
{
	const struct probe_options *p = &o->probe;

	if (!strcmp(p->file, p->output))
		die(EXIT_USAGE, "--output: bad value '%s': it is what is read", p->output);
	if (!p->think_us != !p->think_every)
		die(EXIT_USAGE, "--think and --every go together");
	if (!p->write_every && (p->write_bytes || p->fsync_every))
		die(EXIT_USAGE, "--write and --fsync need writes: --write-every is 0");
	ioprio_check(&o->prio);
}

static void parse(int argc, char **argv, struct options *o)
{
	static char output[4096];
	int c;

	while ((c = getopt_long(argc, argv, ":o:hV", longs, NULL)) != -1) {
		if (parse_probe(c, &o->probe) || ioprio_option(c, &o->prio))
			continue;
		switch (c) {
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
	if (optind == argc)
		die(EXIT_USAGE, "the FILE to read is missing, try --help");
	o->probe.file = argv[optind];
	args_no_more(argc, argv, optind + 1);
	if (snprintf(output, sizeof(output), "%s.out", o->probe.file) >= (int)sizeof(output))
		die(EXIT_USAGE, "FILE: its name is too long");
	if (!o->probe.output)
		o->probe.output = output;
	check(o);
}

int main(int argc, char **argv)
{
	struct options o = { .probe = probe_defaults() };
	struct probe_result result;

	args_init("lprobe");
	parse(argc, argv, &o);
	ioprio_take(&o.prio);
	probe_run(&o.probe, &result);
	json_open();
	probe_json(&result);
	json_close();
	return EXIT_GOOD;
}
