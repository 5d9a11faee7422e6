// SPDX-License-Identifier: GPL-2.0
/* run_options.c - livelock-run: the command line. */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "run.h"

#define PPS_MAX		10000000U
#define MS_MAX		600000U
#define DRIFT_MAX	100000U
#define RING_MIN	16U
#define RING_MAX	4096U
#define RCVBUF_MAX	1000000000U
#define FRAMES_MAX	100000000U
#define BUSY_MAX_US	100000U
#define SIZE_MIN	66U
#define SIZE_MAX	1514U

static const char usage[] =
"Usage: livelock-run [options] RATE...\n"
"\n"
"Send RATE frames a second (all ports together) to applications behind network\n"
"cards, and measure what arrives, how late, and what is left of the CPU. One\n"
"measurement, and one JSON line, for each RATE. The first half of the machine's\n"
"cards (82540EM, 82574L, virtio) receives, the second half (82540EM) sends.\n"
"\n"
"the receivers:\n"
"  -D, --driver NAME     of the cards (e1000)\n"
"  -n, --ports N         cards and applications, 1..8 (1)\n"
"      --set ATTRIBUTE=VALUE  of each interface, below /sys/class/net/NAME\n"
"      --ring N          receive descriptors, 16..4096 (driver's choice)\n"
"      --rcvbuf BYTES    of each socket (kernel's choice)\n"
"      --busy-poll US    of each socket: an empty one is polled for so long (0)\n"
"      --nice N          of the threads of threaded NAPI, -20..19 (0)\n"
"      --no-gro          without generic receive offload\n"
"      --hog-idle        the process beside them that wants the CPU gets only what nobody\n"
"                        else wants (SCHED_IDLE): it costs every frame the same\n"
"      --no-hog          there is no such process\n"
"      --never-idle      nor is the CPU idle before and after; emulated by instruction\n"
"                        counts, with idle=poll, a run then repeats exactly\n"
"the frames:\n"
"  -f, --function NAME   constant, poisson, normal, peaks, ramp (constant)\n"
"      --sd PERMILLE     normal: deviation of the gap (250)\n"
"      --on MS, --off MS peaks: how long frames are sent, and none (10, 10)\n"
"      --depth PERMILLE  ramp: how far the rate goes up and down (900)\n"
"      --period MS       ramp: up and down (200)\n"
"      --seed N          of the random functions (1)\n"
"  -t, --duration MS     how long frames are sent (1000)\n"
"      --frames N        longer at low rates, until N are due after the warm-up (0)\n"
"      --warmup MS       what of it is not measured (200)\n"
"      --lag MS          waited for what is still on its way (100)\n"
"      --soon MS         from setting a run up to its start (100); more, if that is too soon\n"
"      --drift PPM       send so much slower, so that frames which would meet the timer\n"
"                        tick always in the same phase pass through all phases (1000)\n"
"      --tick US         frames that are due within it leave together (50)\n"
"      --size BYTES      of a frame, 66..1514 (66)\n"
"      --malformed KIND  truncated, length, checksum, ip-checksum, oversized, or stray:\n"
"                        for a socket that nobody reads (none)\n"
"      --every N         of N frames the last one is (10)\n"
"the output:\n"
"  -l, --label TEXT      goes into each line\n"
"      --least PPS       a check: at no rate above may less be received, at lower\n"
"                        rates all but 1 %\n"
"      --require FIGURE>=N, FIGURE<=N  a check: a member of each line has to be so\n"
"      --stats           with the counters of the driver and of the governor\n"
"      --json            no effect, the output is always JSON\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_SET = 256, OPT_RING, OPT_RCVBUF, OPT_BUSY_POLL, OPT_NICE, OPT_NO_GRO, OPT_NO_HOG,
	OPT_HOG_IDLE,
	OPT_NEVER_IDLE, OPT_SD,
	OPT_ON, OPT_OFF, OPT_DEPTH, OPT_PERIOD, OPT_SEED, OPT_FRAMES, OPT_WARMUP, OPT_LAG,
	OPT_SOON, OPT_DRIFT, OPT_TICK, OPT_SIZE, OPT_MALFORMED, OPT_EVERY, OPT_LEAST,
	OPT_REQUIRE, OPT_STATS, OPT_JSON,
};

static const struct option longs[] = {
	{ "driver", required_argument, NULL, 'D' },
	{ "ports", required_argument, NULL, 'n' },
	{ "set", required_argument, NULL, OPT_SET },
	{ "ring", required_argument, NULL, OPT_RING },
	{ "rcvbuf", required_argument, NULL, OPT_RCVBUF },
	{ "busy-poll", required_argument, NULL, OPT_BUSY_POLL },
	{ "nice", required_argument, NULL, OPT_NICE },
	{ "no-gro", no_argument, NULL, OPT_NO_GRO },
	{ "no-hog", no_argument, NULL, OPT_NO_HOG },
	{ "hog-idle", no_argument, NULL, OPT_HOG_IDLE },
	{ "never-idle", no_argument, NULL, OPT_NEVER_IDLE },
	{ "function", required_argument, NULL, 'f' },
	{ "sd", required_argument, NULL, OPT_SD },
	{ "on", required_argument, NULL, OPT_ON },
	{ "off", required_argument, NULL, OPT_OFF },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "period", required_argument, NULL, OPT_PERIOD },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "duration", required_argument, NULL, 't' },
	{ "frames", required_argument, NULL, OPT_FRAMES },
	{ "warmup", required_argument, NULL, OPT_WARMUP },
	{ "lag", required_argument, NULL, OPT_LAG },
	{ "soon", required_argument, NULL, OPT_SOON },
	{ "drift", required_argument, NULL, OPT_DRIFT },
	{ "tick", required_argument, NULL, OPT_TICK },
	{ "size", required_argument, NULL, OPT_SIZE },
	{ "malformed", required_argument, NULL, OPT_MALFORMED },
	{ "every", required_argument, NULL, OPT_EVERY },
	{ "label", required_argument, NULL, 'l' },
	{ "least", required_argument, NULL, OPT_LEAST },
	{ "require", required_argument, NULL, OPT_REQUIRE },
	{ "stats", no_argument, NULL, OPT_STATS },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

static const char *const malformed[] = {
	"none", "truncated", "length", "checksum", "ip-checksum", "oversized", "stray", NULL
};

static u64 milliseconds(const char *what, const char *text)
{
	return args_number(what, text, 1, MS_MAX) * NSEC_PER_MSEC;
}

static int nice_of(const char *text)
{
	bool minus = *text == '-';
	int value = (int)args_number("nice", text + minus, 0, minus ? 20 : 19);

	return minus ? -value : value;
}

static void add_set(struct run_options *o, const char *text)
{
	const char *equals = strchr(text, '=');

	if (!equals || equals == text || strstr(text, "..") || *text == '/')
		die(EXIT_USAGE, "set '%s': allowed is ATTRIBUTE=VALUE", text);
	if (o->sets == RUN_SETS)
		die(EXIT_USAGE, "set '%s': allowed are %u of them", text, RUN_SETS);
	o->set[o->sets++] = text;
}

static bool parse_receivers(int c, struct run_options *o)
{
	switch (c) {
	case 'D':
		o->driver = optarg;
		return true;
	case 'n':
		o->ports = (unsigned int)args_number("ports", optarg, 1, SOURCE_TARGETS);
		return true;
	case OPT_SET:
		add_set(o, optarg);
		return true;
	case OPT_RING:
		o->ring = (u32)args_number("ring", optarg, RING_MIN, RING_MAX);
		return true;
	case OPT_RCVBUF:
		o->rcvbuf = args_number("rcvbuf", optarg, 1, RCVBUF_MAX);
		return true;
	case OPT_BUSY_POLL:
		o->busy_us = (unsigned int)args_number("busy-poll", optarg, 0, BUSY_MAX_US);
		return true;
	case OPT_NICE:
		o->nice = nice_of(optarg);
		return true;
	case OPT_NO_GRO:
		o->no_gro = true;
		return true;
	case OPT_NO_HOG:
		o->no_hog = true;
		return true;
	case OPT_HOG_IDLE:
		o->hog_idle = true;
		return true;
	case OPT_NEVER_IDLE:
		o->never_idle = true;
		return true;
	}
	return false;
}

static bool parse_rate(int c, struct nll_rate_params *rate)
{
	switch (c) {
	case 'f':
		rate->shape = args_choice("function", optarg, nll_rate_names);
		return true;
	case OPT_SD:
		rate->sd_permille = (u32)args_number("sd", optarg, 0, NLL_RATE_SD_MAX);
		return true;
	case OPT_ON:
		rate->on_ns = milliseconds("on", optarg);
		return true;
	case OPT_OFF:
		rate->off_ns = milliseconds("off", optarg);
		return true;
	case OPT_DEPTH:
		rate->depth_permille = (u32)args_number("depth", optarg, 1, NLL_RATE_DEPTH_MAX);
		return true;
	case OPT_PERIOD:
		rate->period_ns = milliseconds("period", optarg);
		return true;
	case OPT_SEED:
		rate->seed = args_number("seed", optarg, 0, 1ULL << 62);
		return true;
	}
	return false;
}

static bool parse_frames(int c, struct run_options *o)
{
	switch (c) {
	case 't':
		o->duration_ms = (u32)args_number("duration", optarg, 1, MS_MAX);
		return true;
	case OPT_FRAMES:
		o->frames = args_number("frames", optarg, 0, FRAMES_MAX);
		return true;
	case OPT_WARMUP:
		o->warmup_ms = (u32)args_number("warmup", optarg, 0, MS_MAX);
		return true;
	case OPT_SOON:
		o->soon_ms = (u32)args_number("soon", optarg, 1, MS_MAX);
		return true;
	case OPT_LAG:
		o->lag_ms = (u32)args_number("lag", optarg, 0, MS_MAX);
		return true;
	case OPT_DRIFT:
		o->drift_ppm = (u32)args_number("drift", optarg, 0, DRIFT_MAX);
		return true;
	case OPT_TICK:
		o->tick_us = (u32)args_number("tick", optarg, 1, 1000000);
		return true;
	case OPT_SIZE:
		o->size = (u32)args_number("size", optarg, SIZE_MIN, SIZE_MAX);
		return true;
	case OPT_MALFORMED:
		o->malformed = malformed[args_choice("malformed", optarg, malformed)];
		return true;
	case OPT_EVERY:
		o->every = (u32)args_number("every", optarg, 1, 1000000);
		return true;
	}
	return parse_rate(c, &o->rate);
}

static bool parse_output(int c, struct run_options *o)
{
	switch (c) {
	case 'l':
		o->label = optarg;
		return true;
	case OPT_LEAST:
		o->least_pps = args_number("least", optarg, 1, PPS_MAX);
		return true;
	case OPT_REQUIRE:
		run_require(optarg);
		return true;
	case OPT_STATS:
		o->stats = true;
		return true;
	case OPT_JSON:
		return true;
	}
	return false;
}

static void check_rate(const struct run_options *o, u64 pps)
{
	struct nll_rate_params rate = o->rate;
	const char *fault;

	rate.packets = pps;
	rate.per_ns = run_span_ns(o);
	fault = nll_rate_fault(&rate);
	if (fault)
		die(EXIT_USAGE, "rate %llu: %s", pps, fault);
}

u32 run_duration_ms(const struct run_options *o, u64 pps)
{
	u64 enough = o->warmup_ms + (1000 * o->frames + pps - 1) / pps;

	return enough > o->duration_ms ? (u32)enough : o->duration_ms;
}

static void parse_rates(int argc, char **argv, struct run_options *o)
{
	if (optind == argc)
		die(EXIT_USAGE, "RATE: at least one is needed (--help)");
	for (; optind < argc; optind++) {
		if (o->rates == RUN_RATES)
			die(EXIT_USAGE, "rate '%s': allowed are %u of them", argv[optind],
			    RUN_RATES);
		o->pps[o->rates] = args_number("rate", argv[optind], 1, PPS_MAX);
		if (o->warmup_ms + 1000 * o->frames / o->pps[o->rates] >= MS_MAX)
			die(EXIT_USAGE, "rate %s: %llu frames take longer than %u ms", argv[optind],
			    o->frames, MS_MAX);
		check_rate(o, o->pps[o->rates++]);
	}
}

void run_parse(int argc, char **argv, struct run_options *o)
{
	int c;

	*o = (struct run_options){
		.driver = "e1000", .ports = 1, .duration_ms = 1000, .warmup_ms = 200,
		.lag_ms = 100, .soon_ms = 100, .drift_ppm = 1000, .tick_us = 50, .size = SIZE_MIN,
		.malformed = malformed[0], .every = 10,
		.rate = {
			.sd_permille = 250, .depth_permille = 900, .seed = 1,
			.on_ns = 10 * NSEC_PER_MSEC, .off_ns = 10 * NSEC_PER_MSEC,
			.period_ns = 200 * NSEC_PER_MSEC,
		},
	};
	while ((c = getopt_long(argc, argv, ":D:n:f:t:l:hV", longs, NULL)) != -1) {
		if (parse_receivers(c, o) || parse_frames(c, o) || parse_output(c, o))
			continue;
		switch (c) {
		case 'h':
			args_help(usage);
		case 'V':
			args_version();
		default:
			args_refuse(c, argv);
		}
	}
	if (o->warmup_ms >= o->duration_ms)
		die(EXIT_USAGE, "warmup %u: allowed is less than the duration, %u ms",
		    o->warmup_ms, o->duration_ms);
	if (!strcmp(o->malformed, malformed[0]))
		o->every = 0;
	parse_rates(argc, argv, o);
}
