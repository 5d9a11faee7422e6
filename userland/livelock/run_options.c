// SPDX-License-Identifier: GPL-2.0
/* run_options.c - livelock-run: the command line. */
#include <string.h>

#include "args.h"
#include "opts.h"
#include "run.h"

#define PPS_MAX		10000000U
#define MS_MAX		600000U
#define RCVBUF_MAX	1000000000U
#define FRAMES_MAX	100000000U
#define BUSY_MAX_US	100000U

static struct run_options o;

static const char *const malformed[] = {
	"none", "truncated", "length", "checksum", "ip-checksum", "oversized", "stray", NULL
};

static void take_nice(const struct opt *row, const char *text)
{
	bool minus = *text == '-';
	int value = (int)args_number(row->name, text + minus, 0, minus ? 20 : 19);

	o.nice = minus ? -value : value;
}

static void add_set(const struct opt *row, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || strstr(text, "..") || *text == '/')
		die(EXIT_USAGE, "%s '%s': allowed is ATTRIBUTE=VALUE", row->name, text);
	if (o.sets == RUN_SETS)
		die(EXIT_USAGE, "%s '%s': allowed are %u of them", row->name, text, RUN_SETS);
	o.set[o.sets++] = text;
}

static void take_malformed(const struct opt *row, const char *text)
{
	o.malformed = malformed[args_choice(row->name, text, malformed)];
}

static void take_requirement(const struct opt *row, const char *text)
{
	(void)row;
	run_require(text);
}

static const struct opt rows[] = {
	HEADING("the receivers:"),
	OPT('D', "--driver", "NAME", TEXT(o.driver, "e1000"), "of the cards (%d)"),
	OPT('n', "--ports", "N", NUMBER(o.ports, 1, SOURCE_TARGETS, 1),
	    "cards and applications, %r (%d)"),
	OPT(0, "--set", "ATTRIBUTE=VALUE", CALL(add_set),
	    "of each interface, below /sys/class/net/NAME"),
	OPT(0, "--ring", "N", NUMBER(o.ring, 16, 4096, 0),
	    "receive descriptors, %r (driver's choice)"),
	OPT(0, "--rcvbuf", "BYTES", NUMBER(o.rcvbuf, 1, RCVBUF_MAX, 0),
	    "of each socket (kernel's choice)"),
	OPT(0, "--busy-poll", "US", NUMBER(o.busy_us, 0, BUSY_MAX_US, 0),
	    "of each socket: an empty one is polled for so long (%d)"),
	OPT(0, "--nice", "N", CALL(take_nice), "of the threads of threaded NAPI, -20..19 (0)"),
	OPT(0, "--no-gro", NULL, FLAG(o.no_gro), "without generic receive offload"),
	OPT(0, "--hog-idle", NULL, FLAG(o.hog_idle),
	    "the process that wants the CPU gets only the time that no other\n"
	    "task wants (SCHED_IDLE): it costs every frame the same"),
	OPT(0, "--no-hog", NULL, FLAG(o.no_hog), "there is no such process"),
	OPT(0, "--never-idle", NULL, FLAG(o.never_idle),
	    "nor is the CPU idle before and after; emulated by instruction\n"
	    "counts, with idle=poll, a run then repeats exactly"),
	HEADING("the frames:"),
	OPT('f', "--function", "NAME", CHOICE(o.rate.shape, nll_rate_names, 0), "%r (%d)"),
	OPT(0, "--sd", "PERMILLE", NUMBER(o.rate.sd_permille, 0, NLL_RATE_SD_MAX, 250),
	    "normal: deviation of the gap (%d)"),
	OPT(0, "--on", "MS", SCALED(o.rate.on_ns, 1, MS_MAX, 10, NSEC_PER_MSEC),
	    "peaks: how long frames are sent (%d), ..."),
	OPT(0, "--off", "MS", SCALED(o.rate.off_ns, 1, MS_MAX, 10, NSEC_PER_MSEC),
	    "... and none (%d)"),
	OPT(0, "--depth", "PERMILLE", NUMBER(o.rate.depth_permille, 1, NLL_RATE_DEPTH_MAX, 900),
	    "ramp: how far the rate goes up and down (%d)"),
	OPT(0, "--period", "MS", SCALED(o.rate.period_ns, 1, MS_MAX, 200, NSEC_PER_MSEC),
	    "ramp: up and down (%d)"),
	OPT(0, "--seed", "N", NUMBER(o.rate.seed, 0, 1ULL << 62, 1),
	    "of the random functions (%d)"),
	OPT('t', "--duration", "MS", NUMBER(o.duration_ms, 1, MS_MAX, 1000),
	    "how long frames are sent (%d)"),
	OPT(0, "--frames", "N", NUMBER(o.frames, 0, FRAMES_MAX, 0),
	    "longer at low rates, until N are due after the warm-up (%d)"),
	OPT(0, "--warmup", "MS", NUMBER(o.warmup_ms, 0, MS_MAX, 200),
	    "what of it is not measured (%d)"),
	OPT(0, "--lag", "MS", NUMBER(o.lag_ms, 0, MS_MAX, 100),
	    "waited for what is still on its way (%d)"),
	OPT(0, "--soon", "MS", NUMBER(o.soon_ms, 1, MS_MAX, 100),
	    "from setting a run up to its start (%d); more, if that is too soon"),
	OPT(0, "--drift", "PPM", NUMBER(o.drift_ppm, 0, 100000, 1000),
	    "send so much slower, so that frames which would meet the timer\n"
	    "tick always in the same phase pass through all phases (%d)"),
	OPT(0, "--tick", "US", NUMBER(o.tick_us, 1, 1000000, 50),
	    "frames that are due within it leave together (%d)"),
	OPT(0, "--size", "BYTES", NUMBER(o.size, 66, 1514, 66), "of a frame, %r (%d)"),
	OPT(0, "--malformed", "KIND", CALL(take_malformed),
	    "%r (%d);\nstray is for a socket without a reader", .names = malformed,
	    .text = "none"),
	OPT(0, "--every", "N", NUMBER(o.every, 1, 1000000, 10), "of N frames the last one is (%d)"),
	HEADING("the output:"),
	OPT('l', "--label", "TEXT", TEXT(o.label, NULL), "goes into each line"),
	OPT(0, "--least", "PPS", NUMBER(o.least_pps, 1, PPS_MAX, 0),
	    "a check: at no rate above may less be received, at lower\nrates all but 1 %"),
	OPT(0, "--require", "FIGURE>=N, FIGURE<=N", CALL(take_requirement),
	    "a check: a member of each line has to be so"),
	OPT(0, "--stats", NULL, FLAG(o.stats),
	    "with the counters of the driver and of the governor"),
	JSON_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: livelock-run [options] RATE...\n"
"\n"
"Send RATE frames a second (all ports together) to applications behind network\n"
"cards, and measure what arrives, how late, and what is left of the CPU. One\n"
"measurement, and one JSON line, for each RATE. The first half of the machine's\n"
"cards (82540EM, 82574L, virtio) receives, the second half (82540EM) sends.\n"
"\n",
	.rows = rows,
	.operands = OPERANDS_ANY,
};

static void check_rate(u64 pps)
{
	struct nll_rate_params rate = o.rate;
	const char *fault;

	rate.packets = pps;
	rate.per_ns = run_span_ns(&o);
	fault = nll_rate_fault(&rate);
	if (fault)
		die(EXIT_USAGE, "rate %llu: %s", pps, fault);
}

u32 run_duration_ms(const struct run_options *options, u64 pps)
{
	u64 enough = options->warmup_ms + (1000 * options->frames + pps - 1) / pps;

	return enough > options->duration_ms ? (u32)enough : options->duration_ms;
}

static void take_rate(const char *text)
{
	if (o.rates == RUN_RATES)
		die(EXIT_USAGE, "rate '%s': allowed are %u of them", text, RUN_RATES);
	o.pps[o.rates] = args_number("rate", text, 1, PPS_MAX);
	if (o.warmup_ms + 1000 * o.frames / o.pps[o.rates] >= MS_MAX)
		die(EXIT_USAGE, "rate %s: %llu frames take longer than %u ms", text, o.frames,
		    MS_MAX);
	check_rate(o.pps[o.rates++]);
}

const struct run_options *run_parse(int argc, char **argv)
{
	int i = opts_parse(&opts, argc, argv);

	if (o.warmup_ms >= o.duration_ms)
		die(EXIT_USAGE, "--warmup %u: allowed is less than the duration, %u ms",
		    o.warmup_ms, o.duration_ms);
	if (!strcmp(o.malformed, malformed[0]))
		o.every = 0;
	if (i == argc)
		die(EXIT_USAGE, "RATE: at least one is needed (--help)");
	for (; i < argc; i++)
		take_rate(argv[i]);
	return &o;
}
