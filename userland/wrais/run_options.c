// SPDX-License-Identifier: GPL-2.0
/* run_options.c - wrais-run: the command line. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "opts.h"
#include "run.h"

#define SECONDS_MAX	86400U
#define MS_MAX		(SECONDS_MAX * 1000U)
#define BYTES_MAX	(1024 * 1024 * MIB)
#define MIB_MAX		1048576U

static struct run_options o;

static void take_disk(const struct opt *row, const char *text)
{
	const char *slash = strrchr(text, '/');

	o.disk = slash ? slash + 1 : text;
	if (!*o.disk || *o.disk == '.')
		die(EXIT_USAGE, "%s: bad value '%s': a block device is allowed", row->name,
		    o.disk);
}

/* To the array and the count of the row. */
static void add_setting(const struct opt *row, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || !equals[1] || memchr(text, '/', (size_t)(equals - text)))
		die(EXIT_USAGE, "%s: bad value '%s': NAME=VALUE is allowed", row->name, text);
	if (*row->count == TUNES_MAX)
		die(EXIT_USAGE, "%s: more than %u of them", row->name, TUNES_MAX);
	((const char **)row->to)[(*row->count)++] = text;
}

/* The words are kept to the end. */
static void add_expectations(const struct opt *row, const char *text)
{
	char *word, *rest, *words = xstrdup(text);

	for (word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
		bool grows = *word != '-';

		if (o.nr_expected == EXPECTED_MAX)
			die(EXIT_USAGE, "%s: more than %u counters", row->name, EXPECTED_MAX);
		o.expected[o.nr_expected++] = (struct expectation){ word + !grows, grows };
	}
}

static void take_kind(const struct opt *row, const char *text)
{
	o.kind = args_choice(row->name, text, probe_kinds);
	probe_set_kind(&o.probe, o.kind);
}

static void take_endless(const struct opt *row, const char *text)
{
	if (!o.probe.endless_ns)
		o.kind = args_choice("--probe", "endless", probe_kinds);
	probe_set_endless(&o.probe, args_number(row->name, text, 1, SECONDS_MAX) * NSEC_PER_SEC);
}

static void take_groups(const struct opt *row, const char *text)
{
	(void)row;
	groups_parse(text, &o);
}

static void take_wrais(const struct opt *row, const char *text)
{
	o.wrais = wrais_choose(row->name, text);
}

static void list_tracers(const struct opt *row, const char *text)
{
	(void)row;
	(void)text;
	trace_list();
	finish_output();
	exit(EXIT_GOOD);
}

static const struct opt rows[] = {
	HEADING("the disk:"),
	OPT('D', "--disk", "DEV", CALL(take_disk), "its scheduler and queue are changed"),
	OPT('d', "--dir", "DIR", TEXT(o.dir, NULL),
	    "where all files are: probe, probe.out, read.N and write.N\nthere are overwritten"),
	OPT(0, "--mount", NULL, FLAG(o.mount),
	    "mount the disk there (ext4), and unmount it at the end"),
	OPT(0, "--mount-options", "OPTIONS", TEXT(o.mount_options, NULL), "(data=ordered)"),
	OPT(0, "--sched", "NAME", TEXT(o.scheduler, NULL),
	    "I/O scheduler: bfq, mq-deadline, kyber, none (as it is)"),
	OPT(0, "--slice-idle", "US", NUMBER(o.slice_idle_us, 0, 1000000, 0), "of bfq",
	    .given = &o.slice_idle_set),
	OPT(0, "--tune", "NAME=VALUE", CALL_TO(add_setting, o.tune),
	    "an attribute of the disk's queue or of its scheduler", .count = &o.tunes),
	OPT(0, "--dirty-bytes", "N", NUMBER(o.dirty_bytes, 8192, BYTES_MAX, 0),
	    "vm.dirty_bytes, and ..."),
	OPT(0, "--dirty-background-bytes", "N",
	    NUMBER(o.dirty_background_bytes, 1, BYTES_MAX, 0), "... vm.dirty_background_bytes"),
	HEADING("the load:"),
	OPT('r', "--readers", "N", NUMBER(o.load.readers, 0, LOAD_WORKERS_MAX, 1),
	    "how many read (%d)"),
	OPT('w', "--writers", "N", NUMBER(o.load.writers, 0, LOAD_WORKERS_MAX, 1),
	    "how many write (%d)"),
	OPT(0, "--read-size", "MIB", SCALED(o.load.read_size, 1, MIB_MAX, 32, MIB),
	    "what each reader reads again and again (%d)"),
	OPT(0, "--write-size", "MIB", SCALED(o.load.write_size, 1, MIB_MAX, 96, MIB),
	    "room for what each writer writes (%d)"),
	OPT(0, "--pass", "MIB", SCALED(o.load.pass_size, 1, MIB_MAX, 512, MIB),
	    "a worker moves so much, then another process takes its\nplace (%d)"),
	/* as dd bs=1048576 */
	OPT(0, "--block", "KIB", SCALED(o.load.block_size, 4, 65536, 1024, 1024),
	    "what a worker moves at a time (%d)"),
	OPT(0, "--stagger", "MS", NUMBER(o.load.stagger_ms, 0, 1000, 0),
	    "a worker begins so long after the one before it (%d)"),
	OPT(0, "--sync", "MS", NUMBER(o.load.sync_ms, 0, MS_MAX, 0),
	    "between two sync(2) of another process, 0: none (%d)"),
	OPT(0, "--load-class", "CLASS", CHOICE(o.load.prio.class, ioprio_classes, 0),
	    "its I/O priority: none, rt (level 0), be, idle (inherited)",
	    .given = &o.load.prio_set),
	HEADING("the probe:"),
	OPT(0, "--probe", "KIND", CALL(take_kind), "a kind of lprobe: see its page",
	    .names = probe_kinds),
	OPT(0, "--pages", "N", NUMBER(o.probe.pages, 1, PROBE_PAGES_MAX, PROBE_PAGES),
	    "of 4 KiB (%d)"),
	OPT(0, "--endless", "SECONDS", CALL(take_endless), "how long the endless one reads (60)"),
	OPT(0, "--class", "CLASS", CHOICE(o.prio.prio.class, ioprio_classes, 0),
	    "I/O priority: %r (rt with --wrais, else\nas inherited)", .given = &o.prio.class_set),
	OPT(0, "--level", "N", NUMBER(o.prio.prio.level, 0, IOPRIO_LEVEL_MAX, 0),
	    "and its level, %r (%d)", .given = &o.prio.level_set),
	OPT('n', "--noprio", NULL, FLAG(o.no_priority), "no I/O priority at all"),
	OPT(0, "--groups", "W,W", CALL(take_groups),
	    "the probe is in a cgroup with this io.bfq.weight, and the load\n"
	    "in another with that (1..1000)"),
	OPT(0, "--member", NULL, FLAG(o.member), "io.wrais of the probe's cgroup is 1"),
	OPT(0, "--wrais", "PARTS", CALL(take_wrais),
	    "switch the kernel's parts: all, none, dirty,tags, or\nall,-tags",
	    .given = &o.wrais_set),
	OPT(0, "--knob", "NAME=VALUE", CALL_TO(add_setting, o.knob),
	    "a number of the kernel's, other than the parts", .count = &o.knobs),
	HEADING("the measurement:"),
	OPT('k', "--repeats", "N", NUMBER(o.repeats, 1, 10000, 1), "(%d)"),
	OPT(0, "--phase", "MS", NUMBER(o.phase_ms, 0, MS_MAX, 0),
	    "wait so long between load and probe (%d), ..."),
	OPT(0, "--phase-step", "MS", NUMBER(o.phase_step_ms, 0, MS_MAX, 0),
	    "... and so much longer each repeat (%d)"),
	OPT(0, "--limit", "SECONDS", NUMBER(o.limit_s, 1, SECONDS_MAX, 120),
	    "kill a probe that takes longer (%d); the exit status is 1"),
	OPT(0, "--window", "SECONDS", NUMBER(o.window_s, 1, SECONDS_MAX, 0),
	    "show the least that the load has in any row of these"),
	OPT(0, "--expect", "COUNTERS", CALL(add_expectations),
	    "fail unless these of wrais stat grow in each repeat; with a\n"
	    "- in front, unless they do not: inherits,-dirty_naps"),
	OPT(0, "--share", "PERCENT", NUMBER(o.share, 1, 100, 0),
	    "fail unless the load has this share of what the device does\n"
	    "in each repeat, and each of its workers something of it"),
	OPT(0, "--share-max", "PERCENT", NUMBER(o.share_max, 1, 100, 0), "fail if it has more"),
	OPT(0, "--longest", "MS", SCALED(o.longest_ns, 1, MS_MAX, 0, NSEC_PER_MSEC),
	    "fail if an operation of the probe takes longer"),
	OPT('c', "--drop-caches", NULL, SETS(o.keep_caches, false),
	    "page cache, dentries and inodes are dropped (yes)"),
	OPT(0, "--keep-caches", NULL, FLAG(o.keep_caches), "only what the probe reads is dropped"),
	OPT('l', "--label", "TEXT", TEXT(o.label, NULL), "goes into each line"),
	HEADING("the trace:"),
	OPT('t', "--trace", "TRACER", TEXT(o.tracer, NULL),
	    "of the kernel's tracers; blk traces this disk"),
	OPT(0, "--trace-events", "LIST", TEXT(o.trace_events, NULL),
	    "GROUP or GROUP:EVENT, separated by commas"),
	OPT(0, "--trace-filter", "GLOB", TEXT(o.trace_filter, NULL),
	    "of the functions that a tracer follows, as bfq_*"),
	OPT(0, "--trace-start", "MS", NUMBER(o.trace_start_ms, 0, MS_MAX, 0),
	    "behind the start of the probe (%d)"),
	OPT(0, "--trace-stop", "MS", NUMBER(o.trace_stop_ms, 1, MS_MAX, 1000), "how long (%d)"),
	OPT(0, "--trace-buffer", "KIB", NUMBER(o.trace_kib, 4, 1U << 30, 50000), "(%d)"),
	OPT(0, "--trace-file", "FILE", TEXT(o.trace_file, "/tmp/wrais-run.trace"),
	    ".1, .2 ... for each repeat (%d)"),
	OPT(0, "--tracers", NULL, CALL(list_tracers), "list the kernel's tracers"),
	JSON_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-run --disk DEV --dir DIR [options] [-- COMMAND [ARGUMENT...]]\n"
"\n"
"Measure how long an application takes to start while others use the disk: in\n"
"each repeat, write everything back, drop the caches, start the load, wait until\n"
"it works, start the probe (or COMMAND), stop the load. A JSON line a repeat.\n"
"\n",
	.rows = rows,
	.command = true,
	.operand = "COMMAND",
};

static void check_priority(void)
{
	struct ioprio_options *prio = &o.prio;

	if (o.no_priority && (prio->class_set || prio->level_set))
		die(EXIT_USAGE, "--noprio goes without --class and --level");
	if (!prio->class_set && !o.no_priority && o.wrais.any) {
		prio->prio.class = IO_RT;
		prio->class_set = true;
	}
	ioprio_check(prio);
}

static void check(void)
{
	if (!o.disk || !o.dir)
		die(EXIT_USAGE, "%s is missing", o.disk ? "--dir" : "--disk");
	check_priority();
	if (o.slice_idle_set && o.scheduler && strcmp(o.scheduler, "bfq"))
		die(EXIT_USAGE, "--slice-idle is of bfq, not of %s", o.scheduler);
	if (o.window_s > o.limit_s)
		die(EXIT_USAGE, "--window: bad value '%u': at most --limit, %llu, is allowed",
		    o.window_s, o.limit_s);
	if (o.member && !o.probe_weight)
		die(EXIT_USAGE, "--member needs --groups");
	if (o.mount_options && !o.mount)
		die(EXIT_USAGE, "--mount-options needs --mount");
	if (o.command && o.kind)
		die(EXIT_USAGE, "--probe goes without a command");
	if (o.load.pass_size < o.load.read_size && o.load.readers)
		die(EXIT_USAGE, "--pass: less than --read-size");
	o.load.dir = o.dir;
	o.load.prio.level = o.load.prio.class == IO_BE ? IOPRIO_LEVEL_USUAL : 0;
	if (snprintf(o.file, sizeof(o.file), "%s/probe", o.dir) >= (int)sizeof(o.file) ||
	    snprintf(o.output, sizeof(o.output), "%s/probe.out", o.dir) >=
	    (int)sizeof(o.output))
		die(EXIT_USAGE, "--dir: the name is too long");
	o.probe.file = o.file;
	o.probe.output = o.output;
}

const struct run_options *run_parse(int argc, char **argv)
{
	int first;

	o.probe = probe_defaults();
	first = opts_parse(&opts, argc, argv);
	if (first < argc)
		o.command = argv + first;
	check();
	return &o;
}
