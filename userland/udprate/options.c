// SPDX-License-Identifier: GPL-2.0
/* options.c - the command line of udprate. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "hog.h"
#include "schedule.h"
#include "udprate.h"

#define MBPS_MAX	100000ULL
#define QUANTUM_MAX_US	100000U
#define PORT_USUAL	32000
#define TIME_USUAL_NS	(10 * NSEC_PER_SEC)

static const char usage[] =
"Usage: udprate -r RATE [-t SECONDS] [options] [ADDRESS]\n"
"       udprate --receive [-t SECONDS] [options] [ADDRESS]\n"
"\n"
"Send UDP packets to ADDRESS (127.0.0.1) at exactly the rate that was asked for, or\n"
"receive them and see what is missing. With --receive ADDRESS is the one to listen on:\n"
"any of this machine if none is given. It may be IPv4, IPv6 or a host's name.\n"
"\n"
"  -r, --rate RATE       of payload, all workers together: Mbit/s (0.001..100000), or\n"
"                        with K, M or G behind it\n"
"  -t, --time SECONDS    how long (0.001..86400; 10)\n"
"  -w, --workers N       sending processes (as many as the rate needs; up to 64)\n"
"  -i, --interval SECONDS\n"
"                        report on the way that often, also of the receiver (0.001..86400)\n"
"  -s, --size BYTES      of a packet's payload, the most (1472, IPv6 1452; 64..65507)\n"
"  -p, --port PORT       of the receiver (32000)\n"
"      --receive         receive from any number of senders, and tell each what arrived;\n"
"                        with -t, of one, for so long after its first packet\n"
"      --wait SECONDS    for the first packet, with --receive and -t (10)\n"
"      --loop            send to a receiver of our own on the loopback, report both\n"
"      --blind           send to what is no udprate: what arrived is not known\n"
"      --shape SHAPE     constant, poisson, normal, peaks, ramp (constant)\n"
"      --sd PERMILLE     of normal: of the mean gap (100; 0..333)\n"
"      --on USEC         of peaks: how long it sends (100000) ...\n"
"      --off USEC        ... and how long it does not (100000)\n"
"      --depth PERMILLE  of ramp: up and down from the mean rate (500; 1..1000)\n"
"      --period USEC     of ramp: up and down again (1000000)\n"
"      --seed N          of the random shapes (1)\n"
"      --quantum USEC    no two batches of a worker are closer (500); 0: packets alone\n"
"      --spin USEC       the most that is spun before a deadline (a part of the gap)\n"
"      --method METHOD   auto, gso, mmsg, send: how a batch is sent (auto)\n"
"      --txtime QDISC    fq, etf: the kernel sends each packet at its time (SO_TXTIME)\n"
"      --naive           sleep the computed gap after each packet, as a comparison\n"
"      --best-effort     send what can be sent when that is less than the rate, and when\n"
"                        no receiver answers\n"
"      --strict          a packet lost, out of order or twice, 0.1 % less than the rate, or\n"
"                        1 ms too long is an error\n"
"      --policy POLICY   " POLICY_FORMS " (other)\n"
"      --hogs N          CPU-bound processes beside it (0; up to 64) ...\n"
"      --hog-tickets N   ... as lottery tasks with N tickets each\n"
"      --samples FILE    the bytes of each second, CSV\n"
"      --json            one JSON object\n"
"      --buckets         with all gaps and delays in it\n"
"  -h, --help            this text\n"
"  -V, --version         the version\n";

enum {
	OPT_RECEIVE = 256, OPT_WAIT, OPT_LOOP, OPT_BLIND, OPT_SHAPE,
	OPT_SD, OPT_ON, OPT_OFF, OPT_DEPTH,
	OPT_PERIOD, OPT_SEED, OPT_QUANTUM, OPT_SPIN, OPT_METHOD, OPT_TXTIME, OPT_NAIVE,
	OPT_BEST_EFFORT, OPT_STRICT, OPT_POLICY, OPT_HOGS, OPT_HOG_TICKETS, OPT_SAMPLES, OPT_JSON,
	OPT_BUCKETS,
};

static const struct option longs[] = {
	{ "rate", required_argument, NULL, 'r' },
	{ "time", required_argument, NULL, 't' },
	{ "workers", required_argument, NULL, 'w' },
	{ "size", required_argument, NULL, 's' },
	{ "port", required_argument, NULL, 'p' },
	{ "receive", no_argument, NULL, OPT_RECEIVE },
	{ "wait", required_argument, NULL, OPT_WAIT },
	{ "loop", no_argument, NULL, OPT_LOOP },
	{ "blind", no_argument, NULL, OPT_BLIND },
	{ "interval", required_argument, NULL, 'i' },
	{ "shape", required_argument, NULL, OPT_SHAPE },
	{ "sd", required_argument, NULL, OPT_SD },
	{ "on", required_argument, NULL, OPT_ON },
	{ "off", required_argument, NULL, OPT_OFF },
	{ "depth", required_argument, NULL, OPT_DEPTH },
	{ "period", required_argument, NULL, OPT_PERIOD },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "quantum", required_argument, NULL, OPT_QUANTUM },
	{ "spin", required_argument, NULL, OPT_SPIN },
	{ "method", required_argument, NULL, OPT_METHOD },
	{ "txtime", required_argument, NULL, OPT_TXTIME },
	{ "naive", no_argument, NULL, OPT_NAIVE },
	{ "best-effort", no_argument, NULL, OPT_BEST_EFFORT },
	{ "strict", no_argument, NULL, OPT_STRICT },
	{ "policy", required_argument, NULL, OPT_POLICY },
	{ "hogs", required_argument, NULL, OPT_HOGS },
	{ "hog-tickets", required_argument, NULL, OPT_HOG_TICKETS },
	{ "samples", required_argument, NULL, OPT_SAMPLES },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "buckets", no_argument, NULL, OPT_BUCKETS },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ }
};

const char *const methods[] = { "auto", "gso", "mmsg", "send", NULL };
const char *const qdiscs[] = { "fq", "etf", NULL };

/* Bit/s: Mbit/s, or as the letter says. */
static u64 rate_argument(const char *text)
{
	static const char allowed[] = "0.001..100000 Mbit/s, or with K, M or G behind it";
	size_t length = strlen(text);
	char number[32];
	u64 unit = MICRO, value;

	if (!length || length >= sizeof(number))
		die(EXIT_USAGE, "--rate: bad value '%s': allowed %s", text, allowed);
	memcpy(number, text, length + 1);
	if (strchr("KMGkmg", number[length - 1])) {
		unit = strchr("Kk", number[length - 1]) ? MICRO / 1000 :
		       strchr("Gg", number[length - 1]) ? MICRO * 1000 : MICRO;
		number[length - 1] = '\0';
	}
	/* in millionths of the unit: one of K is a thousandth of a bit */
	if (!parse_decimal(number, &value) ||
	    (__uint128_t)value * unit < 1000 * MICRO ||
	    (__uint128_t)value * unit > (__uint128_t)MBPS_MAX * MICRO * MICRO)
		die(EXIT_USAGE, "--rate: bad value '%s': allowed %s", text, allowed);
	return (u64)((__uint128_t)value * unit / MICRO);
}

static u64 microseconds(const char *what, const char *text, u64 min, u64 max)
{
	return args_number(what, text, min, max) * NSEC_PER_USEC;
}

static bool parse_shape(int c, struct nll_rate_params *rate)
{
	const u64 longest = NLL_RATE_PHASE_MAX_NS / NSEC_PER_USEC;

	switch (c) {
	case OPT_SHAPE:
		rate->shape = args_choice("--shape", optarg, nll_rate_names);
		return true;
	case OPT_SD:
		rate->sd_permille = (u32)args_number("--sd", optarg, 0, NLL_RATE_SD_MAX);
		return true;
	case OPT_ON:
		rate->on_ns = microseconds("--on", optarg, 1, longest);
		return true;
	case OPT_OFF:
		rate->off_ns = microseconds("--off", optarg, 1, longest);
		return true;
	case OPT_DEPTH:
		rate->depth_permille = (u32)args_number("--depth", optarg, 1, NLL_RATE_DEPTH_MAX);
		return true;
	case OPT_PERIOD:
		rate->period_ns = microseconds("--period", optarg, 1, longest);
		return true;
	case OPT_SEED:
		rate->seed = args_number("--seed", optarg, 0, ~0ULL);
		return true;
	}
	return false;
}

static bool parse_amount(int c, struct options *o)
{
	switch (c) {
	case 'r':
		o->plan.bytes_per_s = rate_argument(optarg) / 8;
		return true;
	case 'i':
		o->interval_ns = args_decimal("--interval", optarg, 1000, RUN_MAX_S * MICRO,
					      "0.001..86400 s") * NSEC_PER_USEC;
		return true;
	case 't':
		o->time_ns = args_decimal("--time", optarg, 1000, RUN_MAX_S * MICRO,
					  "0.001..86400 s") * NSEC_PER_USEC;
		return true;
	case 'w':
		o->plan.workers = (u32)args_number("--workers", optarg, 1, WORKERS_MAX);
		return true;
	case 's':
		o->plan.size = (u32)args_number("--size", optarg, PACKET_MIN, PACKET_MAX);
		return true;
	case 'p':
		o->port = (u16)args_number("--port", optarg, 1, 65535);
		return true;
	case OPT_WAIT:
		o->wait_ns = args_number("--wait", optarg, 1, RUN_MAX_S) * NSEC_PER_SEC;
		return true;
	case OPT_HOGS:
		o->hogs = (u32)args_number("--hogs", optarg, 0, HOGS_MAX);
		return true;
	case OPT_HOG_TICKETS:
		o->hog_tickets = (u32)args_number("--hog-tickets", optarg, 1, 1000000);
		return true;
	}
	return false;
}

static bool parse_way(int c, struct options *o)
{
	switch (c) {
	case OPT_RECEIVE:
		o->receive = true;
		return true;
	case OPT_LOOP:
		o->loop = true;
		return true;
	case OPT_BLIND:
		o->blind = true;
		return true;
	case OPT_QUANTUM:
		o->plan.quantum_ns = microseconds("--quantum", optarg, 0, QUANTUM_MAX_US);
		return true;
	case OPT_SPIN:
		o->spin_ns = microseconds("--spin", optarg, 0, SPIN_MAX_US);
		o->spin_set = true;
		return true;
	case OPT_METHOD:
		o->method = args_choice("--method", optarg, methods);
		return true;
	case OPT_TXTIME:
		o->txtime = args_choice("--txtime", optarg, qdiscs) + TXTIME_FQ;
		return true;
	case OPT_NAIVE:
		o->naive = true;
		return true;
	case OPT_BEST_EFFORT:
		o->best_effort = true;
		return true;
	case OPT_STRICT:
		o->strict = true;
		return true;
	case OPT_POLICY:
		o->policy = policy_argument("--policy", optarg);
		return true;
	case OPT_SAMPLES:
		o->samples_path = optarg;
		return true;
	case OPT_JSON:
		o->json = true;
		return true;
	case OPT_BUCKETS:
		o->buckets = true;
		return true;
	}
	return false;
}

/* Whatever a receiver would not look at is refused, not ignored. */
static bool for_receiver(int c)
{
	static const int allowed[] = {
		't', 'p', 'i', 'h', 'V', '?', ':', OPT_RECEIVE, OPT_WAIT, OPT_STRICT, OPT_POLICY,
		OPT_JSON, OPT_BUCKETS,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(allowed); i++)
		if (c == allowed[i])
			return true;
	return false;
}

static void __noreturn refuse_receiver(int c)
{
	unsigned int i;

	for (i = 0; longs[i].val != c; i++)
		continue;
	die(EXIT_USAGE, "--receive does not go with --%s", longs[i].name);
}

static void take_address(const char *host, struct options *o)
{
	if (host)
		address_resolve(&o->to, host, o->port);
	else if (o->receive)
		address_everywhere(&o->to, o->port);
	else
		address_resolve(&o->to, "127.0.0.1", o->port);
	/* what fits a frame of 1500 bytes */
	if (!o->plan.size)
		o->plan.size = o->to.any.sa_family == AF_INET6 ? 1452 : 1472;
}

/* A part of a second may end in the middle of a batch, which is sent or not. */
static void check_time(const struct options *o, const struct plan *plan)
{
	double seconds = (double)o->time_ns / NSEC_PER_SEC, off_pct;
	double most_pct = o->strict ? STRICT_PCT : MISS_PCT;
	struct schedule s;

	if (o->best_effort || o->naive || plan->rate.shape != NLL_RATE_CONSTANT)
		return;
	schedule_init(&s, plan);
	off_pct = 100 * ((double)schedule_bytes(&s) / (double)plan->bytes_per_s / seconds - 1);
	if (fabs(off_pct) <= most_pct)
		return;
	/* half a batch at the most */
	die(EXIT_USAGE,
	    "--time: what is due in %.3f s is %+.1f %% off: allowed whole seconds, %.3f.. s",
	    seconds, off_pct, 100 / most_pct / 2 / (double)(s.per_s * plan->workers));
}

static void check(struct options *o)
{
	const char *fault;
	struct plan plan;

	if (o->buckets && !o->json)
		die(EXIT_USAGE, "--buckets needs --json");
	if (o->receive)
		return;
	if (!o->time_ns)
		o->time_ns = TIME_USUAL_NS;
	o->plan.stop_ns = o->time_ns;
	if (!o->plan.bytes_per_s)
		die(EXIT_USAGE, "-r is missing: how many Mbit/s, try --help");
	if (o->loop && o->blind)
		die(EXIT_USAGE, "--loop does not go with --blind");
	if (o->naive && (o->plan.rate.shape != NLL_RATE_CONSTANT || o->txtime))
		die(EXIT_USAGE, "--naive knows no --shape and no --txtime");
	if (o->strict && (o->best_effort || o->naive))
		die(EXIT_USAGE, "--strict does not go with --best-effort and --naive");
	if (o->strict && o->blind)
		die(EXIT_USAGE, "--strict does not go with --blind");
	if (o->hog_tickets && !o->hogs)
		die(EXIT_USAGE, "--hog-tickets needs --hogs");
	plan = o->plan;
	if (!plan.workers)
		plan.workers = 1;
	fault = schedule_fault(&plan);
	if (fault)
		die(EXIT_USAGE, "--%s", fault);
	check_time(o, &plan);
}

/* Now, so that no run is lost for want of a place. */
static void open_samples(struct options *o)
{
	if (!o->samples_path)
		return;
	o->samples = fopen(o->samples_path, "w");
	if (!o->samples)
		die(EXIT_USAGE, "--samples: cannot write '%s': %s", o->samples_path,
		    strerror(errno));
}

void parse_options(int argc, char **argv, struct options *o)
{
	int c, not_for_receiver = 0;

	*o = (struct options){
		.plan = { .quantum_ns = 500 * NSEC_PER_USEC },
		.port = PORT_USUAL,
		.wait_ns = 10 * NSEC_PER_SEC,
		.run = now_ns() ^ (u64)getpid() << 48,
	};
	o->plan.rate = (struct nll_rate_params){
		.sd_permille = 100, .depth_permille = 500, .seed = 1,
		.on_ns = 100 * NSEC_PER_MSEC, .off_ns = 100 * NSEC_PER_MSEC,
		.period_ns = NSEC_PER_SEC,
	};
	while ((c = getopt_long(argc, argv, ":r:t:w:s:p:i:hV", longs, NULL)) != -1) {
		if (!not_for_receiver && !for_receiver(c))
			not_for_receiver = c;
		if (parse_amount(c, o) || parse_way(c, o) || parse_shape(c, &o->plan.rate))
			continue;
		if (c == 'h')
			args_help(usage);
		if (c == 'V')
			args_version();
		if (c == '?' && optopt && strchr("ubc", optopt))
			die(EXIT_USAGE,
			    "unknown option '-%c': -r RATE HOST sends, --receive receives", optopt);
		args_refuse(c, argv);
	}
	args_no_more(argc, argv, optind + (optind < argc));
	if (o->receive && not_for_receiver)
		refuse_receiver(not_for_receiver);
	if (o->loop && optind < argc)
		die(EXIT_USAGE, "--loop does not go with ADDRESS '%s'", argv[optind]);
	take_address(argv[optind], o);
	check(o);
	open_samples(o);
}
