// SPDX-License-Identifier: GPL-2.0
/* lprobe.c - the latency probe: how long an application takes to start. */
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "diskfile.h"
#include "json.h"
#include "opts.h"
#include "probe.h"

#define SECONDS_MAX	86400U
#define THINK_MAX_US	60000000U
#define BYTES_MAX	(1024 * 1024 * MIB)
#define STALL_MAX_MS	3600000U

static struct probe_options probe;
static struct ioprio_options prio;

static void take_kind(const struct opt *row, const char *text)
{
	probe_set_kind(&probe, args_choice(row->name, text, row->names));
}

static void take_endless(const struct opt *row, const char *text)
{
	probe_set_endless(&probe, args_number(row->name, text, 1, SECONDS_MAX) * NSEC_PER_SEC);
}

static const struct opt rows[] = {
	OPT('o', "--output", "FILE", TEXT(probe.output, NULL),
	    "what is written (FILE.out); it is truncated at the start"),
	OPT(0, "--probe", "KIND", CALL(take_kind),
	    "lprobe, or one that is harder: fsync (every 20 writes),\n"
	    "write70 (70 MB), think (3 ms per 64 KiB), random; for 60 s\n"
	    "endless, endless-random, endless-write, endless-fsync; for\n"
	    "40 s append, commit (10 ms a page); start-ups of several\n"
	    "threads app-uring, app-direct, app-mmap, app-aio, app-pread;\n"
	    "options behind it change its values", .names = probe_kinds),
	OPT(0, "--pages", "N", NUMBER(probe.pages, 1, PROBE_PAGES_MAX, PROBE_PAGES),
	    "pages of 4 KiB to read (%d)"),
	OPT(0, "--write-every", "N", NUMBER(probe.write_every, 0, PROBE_PAGES_MAX, 0),
	    "a write every N reads, 0: none (10)"),
	OPT(0, "--write", "BYTES", NUMBER(probe.write_bytes, 1, BYTES_MAX, 0),
	    "written in all (a page a time)"),
	OPT(0, "--fsync", "N", NUMBER(probe.fsync_every, 0, PROBE_PAGES_MAX, 0),
	    "fsync every N writes, 0: never (%d)"),
	OPT(0, "--think", "USEC", NUMBER(probe.think_us, 0, THINK_MAX_US, 0), "sleep so long ..."),
	OPT(0, "--every", "BYTES", NUMBER(probe.think_every, 1, BYTES_MAX, 0),
	    "... whenever so many bytes were read"),
	OPT(0, "--random", NULL, FLAG(probe.random),
	    "read the pages in random order, without readahead"),
	OPT(0, "--seed", "N", NUMBER(probe.seed, 0, ~0ULL, 1), "of that order (%d)"),
	OPT(0, "--endless", "SECONDS", CALL(take_endless),
	    "read so long, again and again, instead of once"),
	OPT(0, "--stall-ms", "MS", SCALED(probe.stall_ns, 1, STALL_MAX_MS, STALL_MS, NSEC_PER_MSEC),
	    "what to report as a stall (%d)"),
	OPT(0, "--class", "CLASS", CHOICE(prio.prio.class, ioprio_classes, 0),
	    "I/O priority, set before the first request: %r\n(as inherited)",
	    .given = &prio.class_set),
	OPT(0, "--level", "N", NUMBER(prio.prio.level, 0, IOPRIO_LEVEL_MAX, 0),
	    "and its level, %r, 0 comes first (4)", .given = &prio.level_set),
	JSON_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: lprobe [options] FILE\n"
"\n"
"Do what an application does that starts: read FILE page by page, write a page\n"
"now and then. Report how long that took and each operation that stalled. The\n"
"result is one JSON line on standard output, stalls go to standard error.\n"
"\n",
	.rows = rows,
	.operands = 1,
	.operand = "FILE",
};

static void check(void)
{
	if (!strcmp(probe.file, probe.output))
		die(EXIT_USAGE, "--output: bad value '%s': it is what is read", probe.output);
	if (!probe.think_us != !probe.think_every)
		die(EXIT_USAGE, "--think and --every go together");
	if (!probe.write_every && (probe.write_bytes || probe.fsync_every))
		die(EXIT_USAGE, "--write and --fsync need writes: --write-every is 0");
	ioprio_check(&prio);
}

static void parse(int argc, char **argv)
{
	static char output[4096];

	probe = probe_defaults();
	probe.file = argv[opts_parse(&opts, argc, argv)];
	if (!probe.file)
		die(EXIT_USAGE, "the FILE to read is missing, try --help");
	if (snprintf(output, sizeof(output), "%s.out", probe.file) >= (int)sizeof(output))
		die(EXIT_USAGE, "FILE: its name is too long");
	if (!probe.output)
		probe.output = output;
	check();
}

int main(int argc, char **argv)
{
	struct probe_result result;

	args_init("lprobe");
	parse(argc, argv);
	ioprio_take(&prio);
	probe_run(&probe, &result);
	json_open();
	probe_json(&result);
	json_close();
	return EXIT_GOOD;
}
