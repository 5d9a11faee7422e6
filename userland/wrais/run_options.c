// SPDX-License-Identifier: GPL-2.0
/* run_options.c - wrais-run: the command line. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "run.h"

#define SECONDS_MAX	86400U
#define MS_MAX		(SECONDS_MAX * 1000U)
#define BYTES_MAX	(1024 * 1024 * MIB)

static const char usage[] =
"Usage: wrais-run --disk DEV --dir DIR [options] [-- COMMAND [ARGUMENT...]]\n"
"\n"
"Measure how long an application takes to start while others use the disk: in\n"
"each repeat, write everything back, drop the caches, start the load, wait until\n"
"it works, start the probe (or COMMAND), stop the load. A JSON line a repeat.\n"
"\n"
"the disk:\n"
"  -D, --disk DEV        its scheduler and queue are changed\n"
"  -d, --dir DIR         where all files are: probe, probe.out, read.N and write.N\n"
"                        there are overwritten\n"
"      --mount           mount the disk there (ext4), and unmount it at the end\n"
"      --mount-options OPTIONS   (data=ordered)\n"
"      --sched NAME      I/O scheduler: bfq, mq-deadline, kyber, none (as it is)\n"
"      --slice-idle US   of bfq\n"
"      --tune NAME=VALUE an attribute of the disk's queue or of its scheduler\n"
"      --dirty-bytes N, --dirty-background-bytes N   vm.dirty_*\n"
"the load:\n"
LOAD_USAGE
"      --load-class CLASS    its I/O priority: none, rt (level 0), be, idle (inherited)\n"
"the probe:\n"
"      --probe KIND      a kind of lprobe: see its page\n"
"      --pages N         of 4 KiB (52800)\n"
"      --endless SECONDS how long the endless one reads (60)\n"
"      --class CLASS     I/O priority: none, rt, be, idle (rt with --wrais, else\n"
"      --level N         as inherited); 0..7 (0)\n"
"  -n, --noprio          no I/O priority at all\n"
"      --groups W,W      the probe is in a cgroup with this io.bfq.weight, and the load\n"
"                        in another with that (1..1000)\n"
"      --member          io.wrais of the probe's cgroup is 1\n"
"      --wrais PARTS     switch the kernel's parts: all, none, dirty,tags, or\n"
"                    all,-tags\n"
"      --knob NAME=VALUE one of the kernel's numbers beside the parts\n"
"the measurement:\n"
"  -k, --repeats N       (1)\n"
"      --phase MS        wait so long between load and probe (0), ...\n"
"      --phase-step MS   ... and so much longer each repeat (0)\n"
"      --limit SECONDS   kill a probe that takes longer (120); the exit status is 1\n"
"      --window SECONDS  show the least that the load has in any row of these\n"
"      --expect COUNTERS fail unless these of wrais stat grow in each repeat; with a\n"
"                        - in front, unless they do not: inherits,-dirty_naps\n"
"      --share PERCENT   fail unless the load has this share of what the device does\n"
"                        in each repeat, and each of its workers something of it\n"
"      --share-max PERCENT   fail if it has more\n"
"      --longest MS      fail if an operation of the probe takes longer\n"
"  -c, --drop-caches     page cache, dentries and inodes are dropped (yes)\n"
"      --keep-caches     only what the probe reads is dropped\n"
"  -l, --label TEXT      goes into each line\n"
"the trace:\n"
"  -t, --trace TRACER    of the kernel's tracers; blk traces this disk\n"
"      --trace-events LIST   GROUP or GROUP:EVENT, separated by commas\n"
"      --trace-filter GLOB   of the functions that a tracer follows, as bfq_*\n"
"      --trace-start MS  behind the start of the probe (0)\n"
"      --trace-stop MS   how long (1000)\n"
"      --trace-buffer KIB    (50000)\n"
"      --trace-file FILE .1, .2 ... for each repeat (/tmp/wrais-run.trace)\n"
"      --tracers         list the kernel's tracers\n"
"      --json            no effect, the output is always JSON\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_MOUNT = 256, OPT_MOUNT_OPTIONS, OPT_SCHED, OPT_SLICE_IDLE, OPT_TUNE, OPT_DIRTY,
	OPT_DIRTY_BACKGROUND, OPT_PROBE, OPT_PAGES, OPT_ENDLESS, OPT_WRAIS, OPT_KNOB,
	OPT_EXPECT, OPT_PHASE, OPT_PHASE_STEP, OPT_LIMIT, OPT_KEEP_CACHES, OPT_EVENTS,
	OPT_FILTER, OPT_START, OPT_STOP, OPT_BUFFER, OPT_FILE, OPT_TRACERS, OPT_JSON,
	OPT_GROUPS, OPT_MEMBER, OPT_LONGEST, OPT_SHARE, OPT_SHARE_MAX, OPT_LOAD_CLASS, OPT_WINDOW,
};

static const struct option longs[] = {
	{ "disk", required_argument, NULL, 'D' },
	{ "dir", required_argument, NULL, 'd' },
	{ "mount", no_argument, NULL, OPT_MOUNT },
	{ "mount-options", required_argument, NULL, OPT_MOUNT_OPTIONS },
	{ "sched", required_argument, NULL, OPT_SCHED },
	{ "slice-idle", required_argument, NULL, OPT_SLICE_IDLE },
	{ "tune", required_argument, NULL, OPT_TUNE },
	{ "dirty-bytes", required_argument, NULL, OPT_DIRTY },
	{ "dirty-background-bytes", required_argument, NULL, OPT_DIRTY_BACKGROUND },
	{ "readers", required_argument, NULL, 'r' },
	{ "writers", required_argument, NULL, 'w' },
	{ "read-size", required_argument, NULL, OPT_READ_SIZE },
	{ "write-size", required_argument, NULL, OPT_WRITE_SIZE },
	{ "pass", required_argument, NULL, OPT_PASS },
	{ "block", required_argument, NULL, OPT_BLOCK },
	{ "stagger", required_argument, NULL, OPT_STAGGER },
	{ "sync", required_argument, NULL, OPT_SYNC },
	{ "load-class", required_argument, NULL, OPT_LOAD_CLASS },
	{ "probe", required_argument, NULL, OPT_PROBE },
	{ "pages", required_argument, NULL, OPT_PAGES },
	{ "endless", required_argument, NULL, OPT_ENDLESS },
	{ "class", required_argument, NULL, OPT_IO_CLASS },
	{ "level", required_argument, NULL, OPT_IO_LEVEL },
	{ "noprio", no_argument, NULL, 'n' },
	{ "groups", required_argument, NULL, OPT_GROUPS },
	{ "member", no_argument, NULL, OPT_MEMBER },
	{ "wrais", required_argument, NULL, OPT_WRAIS },
	{ "knob", required_argument, NULL, OPT_KNOB },
	{ "repeats", required_argument, NULL, 'k' },
	{ "phase", required_argument, NULL, OPT_PHASE },
	{ "phase-step", required_argument, NULL, OPT_PHASE_STEP },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "window", required_argument, NULL, OPT_WINDOW },
	{ "expect", required_argument, NULL, OPT_EXPECT },
	{ "longest", required_argument, NULL, OPT_LONGEST },
	{ "share", required_argument, NULL, OPT_SHARE },
	{ "share-max", required_argument, NULL, OPT_SHARE_MAX },
	{ "drop-caches", no_argument, NULL, 'c' },
	{ "keep-caches", no_argument, NULL, OPT_KEEP_CACHES },
	{ "label", required_argument, NULL, 'l' },
	{ "trace", required_argument, NULL, 't' },
	{ "trace-events", required_argument, NULL, OPT_EVENTS },
	{ "trace-filter", required_argument, NULL, OPT_FILTER },
	{ "trace-start", required_argument, NULL, OPT_START },
	{ "trace-stop", required_argument, NULL, OPT_STOP },
	{ "trace-buffer", required_argument, NULL, OPT_BUFFER },
	{ "trace-file", required_argument, NULL, OPT_FILE },
	{ "tracers", no_argument, NULL, OPT_TRACERS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static const char *disk_name(const char *text)
{
	const char *slash = strrchr(text, '/');

	if (slash)
		text = slash + 1;
	if (!*text || *text == '.')
		die(EXIT_USAGE, "--disk: bad value '%s': a block device is allowed", text);
	return text;
}

static void add_setting(const char *option, const char *text, const char *settings[TUNES_MAX],
			unsigned int *count)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1] || memchr(text, '/', (size_t)(equals - text)))
		die(EXIT_USAGE, "%s: bad value '%s': NAME=VALUE is allowed", option, text);
	if (*count == TUNES_MAX)
		die(EXIT_USAGE, "%s: more than %u of them", option, TUNES_MAX);
	settings[(*count)++] = text;
}

/* The words of @text stay where they are: it is an argument of main(). */
static void add_expectations(struct run_options *o, char *text)
{
	char *word, *rest;

	for (word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		bool grows = *word != '-';

		if (o->nr_expected == EXPECTED_MAX)
			die(EXIT_USAGE, "--expect: more than %u counters", EXPECTED_MAX);
		o->expected[o->nr_expected++] = (struct expectation){ word + !grows, grows };
	}
}

static bool parse_disk(int c, struct run_options *o)
{
	switch (c) {
	case 'D':
		o->disk = disk_name(optarg);
		return true;
	case 'd':
		o->dir = optarg;
		return true;
	case OPT_MOUNT:
		o->mount = true;
		return true;
	case OPT_MOUNT_OPTIONS:
		o->mount_options = optarg;
		return true;
	case OPT_SCHED:
		o->scheduler = optarg;
		return true;
	case OPT_SLICE_IDLE:
		o->slice_idle_us = args_number("--slice-idle", optarg, 0, 1000000);
		o->slice_idle_set = true;
		return true;
	case OPT_TUNE:
		add_setting("--tune", optarg, o->tune, &o->tunes);
		return true;
	case OPT_DIRTY:
		o->dirty_bytes = args_number("--dirty-bytes", optarg, 8192, BYTES_MAX);
		return true;
	case OPT_DIRTY_BACKGROUND:
		o->dirty_background_bytes =
			args_number("--dirty-background-bytes", optarg, 1, BYTES_MAX);
		return true;
	}
	return false;
}

static bool parse_probe(int c, struct run_options *o)
{
	switch (c) {
	case OPT_PROBE:
		o->kind = args_choice("--probe", optarg, probe_kinds);
		probe_set_kind(&o->probe, o->kind);
		return true;
	case OPT_LOAD_CLASS:
		o->load.prio.class = args_choice("--load-class", optarg, ioprio_classes);
		o->load.prio.level = o->load.prio.class == IO_BE ? IOPRIO_LEVEL_USUAL : 0;
		o->load.prio_set = true;
		return true;
	case OPT_PAGES:
		o->probe.pages = (u32)args_number("--pages", optarg, 1, PROBE_PAGES_MAX);
		return true;
	case OPT_ENDLESS:
		if (!o->probe.endless_ns)
			o->kind = args_choice("--probe", "endless", probe_kinds);
		probe_set_endless(&o->probe, args_number("--endless", optarg, 1, SECONDS_MAX) *
					     NSEC_PER_SEC);
		return true;
	case 'n':
		o->no_priority = true;
		return true;
	case OPT_GROUPS:
		groups_parse(optarg, o);
		return true;
	case OPT_MEMBER:
		o->member = true;
		return true;
	case OPT_WRAIS:
		o->wrais = wrais_choose("--wrais", optarg);
		o->wrais_set = true;
		return true;
	case OPT_KNOB:
		add_setting("--knob", optarg, o->knob, &o->knobs);
		return true;
	}
	return false;
}

static bool parse_measurement(int c, struct run_options *o)
{
	switch (c) {
	case 'k':
		o->repeats = (u32)args_number("--repeats", optarg, 1, 10000);
		return true;
	case OPT_PHASE:
		o->phase_ms = args_number("--phase", optarg, 0, MS_MAX);
		return true;
	case OPT_PHASE_STEP:
		o->phase_step_ms = args_number("--phase-step", optarg, 0, MS_MAX);
		return true;
	case OPT_LIMIT:
		o->limit_s = args_number("--limit", optarg, 1, SECONDS_MAX);
		return true;
	case OPT_WINDOW:
		o->window_s = (u32)args_number("--window", optarg, 1, SECONDS_MAX);
		return true;
	case OPT_EXPECT:
		add_expectations(o, optarg);
		return true;
	case OPT_LONGEST:
		o->longest_ns = args_number("--longest", optarg, 1, MS_MAX) * NSEC_PER_MSEC;
		return true;
	case OPT_SHARE:
		o->share = (u32)args_number("--share", optarg, 1, 100);
		return true;
	case OPT_SHARE_MAX:
		o->share_max = (u32)args_number("--share-max", optarg, 1, 100);
		return true;
	case 'c':
		o->keep_caches = false;
		return true;
	case OPT_KEEP_CACHES:
		o->keep_caches = true;
		return true;
	case 'l':
		o->label = optarg;
		return true;
	}
	return false;
}

static bool parse_trace(int c, struct run_options *o)
{
	switch (c) {
	case 't':
		o->tracer = optarg;
		return true;
	case OPT_EVENTS:
		o->trace_events = optarg;
		return true;
	case OPT_FILTER:
		o->trace_filter = optarg;
		return true;
	case OPT_START:
		o->trace_start_ms = args_number("--trace-start", optarg, 0, MS_MAX);
		return true;
	case OPT_STOP:
		o->trace_stop_ms = args_number("--trace-stop", optarg, 1, MS_MAX);
		return true;
	case OPT_BUFFER:
		o->trace_kib = args_number("--trace-buffer", optarg, 4, 1U << 30);
		return true;
	case OPT_FILE:
		o->trace_file = optarg;
		return true;
	}
	return false;
}

static void check_priority(struct run_options *o)
{
	struct ioprio_options *prio = &o->prio;

	if (o->no_priority && (prio->class_set || prio->level_set))
		die(EXIT_USAGE, "--noprio goes without --class and --level");
	if (!prio->class_set && !o->no_priority && o->wrais.any) {
		prio->prio.class = IO_RT;
		prio->class_set = true;
	}
	ioprio_check(prio);
}

static void check(struct run_options *o)
{
	if (!o->disk || !o->dir)
		die(EXIT_USAGE, "%s is missing", o->disk ? "--dir" : "--disk");
	check_priority(o);
	if (o->slice_idle_set && o->scheduler && strcmp(o->scheduler, "bfq"))
		die(EXIT_USAGE, "--slice-idle is of bfq, not of %s", o->scheduler);
	if (o->window_s > o->limit_s)
		die(EXIT_USAGE, "--window: bad value '%u': at most --limit, %llu, is allowed",
		    o->window_s, o->limit_s);
	if (o->member && !o->probe_weight)
		die(EXIT_USAGE, "--member needs --groups");
	if (o->mount_options && !o->mount)
		die(EXIT_USAGE, "--mount-options needs --mount");
	if (o->command && o->kind)
		die(EXIT_USAGE, "--probe goes without a command");
	if (o->load.pass_size < o->load.read_size && o->load.readers)
		die(EXIT_USAGE, "--pass: less than --read-size");
	o->load.dir = o->dir;
	if (snprintf(o->file, sizeof(o->file), "%s/probe", o->dir) >= (int)sizeof(o->file) ||
	    snprintf(o->output, sizeof(o->output), "%s/probe.out", o->dir) >=
	    (int)sizeof(o->output))
		die(EXIT_USAGE, "--dir: the name is too long");
	o->probe.file = o->file;
	o->probe.output = o->output;
}

static void __noreturn list_tracers(void)
{
	trace_list();
	finish_output();
	exit(EXIT_GOOD);
}

void run_parse(int argc, char **argv, struct run_options *o)
{
	int c;

	*o = (struct run_options){
		.load = load_defaults(), .probe = probe_defaults(), .repeats = 1, .limit_s = 120,
		.trace_file = "/tmp/wrais-run.trace", .trace_stop_ms = 1000,
		.trace_kib = 50000,
	};
	while ((c = getopt_long(argc, argv, "+:D:d:nk:cl:t:hV" LOAD_SHORT_OPTIONS, longs,
				NULL)) != -1) {
		if (load_option(c, &o->load) || ioprio_option(c, &o->prio) || parse_disk(c, o) ||
		    parse_probe(c, o) || parse_measurement(c, o) || parse_trace(c, o) ||
		    c == OPT_JSON)
			continue;
		switch (c) {
		case OPT_TRACERS:
			list_tracers();
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	if (optind < argc)
		o->command = argv + optind;
	check(o);
}
