// SPDX-License-Identifier: GPL-2.0
/* options.c - the command line of udprate. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "opts.h"
#include "schedule.h"
#include "udprate.h"

#define MBPS_MAX	100000ULL
#define QUANTUM_MAX_US	100000U
#define TIME_USUAL_NS	(10 * NSEC_PER_SEC)

static struct options o;

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

static void take_rate(const struct opt *row, const char *text)
{
	(void)row;
	o.plan.bytes_per_s = rate_argument(text) / 8;
}

static void __noreturn refuse_iperf(const struct opt *row, const char *text)
{
	(void)text;
	die(EXIT_USAGE, "unknown option '-%c': -r RATE HOST sends, --receive receives",
	    row->letter);
}

/* The options of a receiver: any other one is refused with --receive, not ignored. */
#define RECEIVED	1

/* The first option that is not for a receiver. */
static const char *not_for_receiver;

static void note(const struct opt *row)
{
	if (row->tag != RECEIVED && !not_for_receiver)
		not_for_receiver = row->name;
}

#define SECONDS(d)	DECIMAL(d, 1000, RUN_MAX_S * MICRO, 0, NSEC_PER_USEC, "0.001..86400 s")
#define MICROSECONDS(d, least, most, usual_) \
	SCALED(d, least, most, usual_, NSEC_PER_USEC)
#define PHASE_MAX_US	(NLL_RATE_PHASE_MAX_NS / NSEC_PER_USEC)

static const struct opt rows[] = {
	OPT('r', "--rate", "RATE", CALL(take_rate),
	    "of payload, all workers together: Mbit/s (0.001..100000), or\n"
	    "with K, M or G behind it"),
	OPT('t', "--time", "SECONDS", SECONDS(o.time_ns), "how long (0.001..86400; 10)",
	    .tag = RECEIVED),
	OPT('w', "--workers", "N", NUMBER(o.plan.workers, 1, WORKERS_MAX, 0),
	    "sending processes (as many as the rate needs; up to 64)"),
	OPT('i', "--interval", "SECONDS", SECONDS(o.interval_ns),
	    "\nreport on the way that often, also of the receiver (0.001..86400)",
	    .tag = RECEIVED),
	OPT('s', "--size", "BYTES", NUMBER(o.plan.size, PACKET_MIN, PACKET_MAX, 0),
	    "of a packet's payload, the most (1472, IPv6 1452; %r)"),
	OPT('p', "--port", "PORT", NUMBER(o.port, 1, 65535, 32000), "of the receiver (%d)",
	    .tag = RECEIVED),
	OPT(0, "--receive", NULL, FLAG(o.receive),
	    "receive from any number of senders, and tell each what arrived;\n"
	    "with -t, of one, for so long after its first packet", .tag = RECEIVED),
	OPT(0, "--wait", "SECONDS", SCALED(o.wait_ns, 1, RUN_MAX_S, 10, NSEC_PER_SEC),
	    "for the first packet, with --receive and -t (%d)", .tag = RECEIVED),
	OPT(0, "--loop", NULL, FLAG(o.loop),
	    "send to a receiver of our own on the loopback, report both"),
	OPT(0, "--blind", NULL, FLAG(o.blind),
	    "send to what is no udprate: what arrived is not known"),
	OPT(0, "--shape", "SHAPE", CHOICE(o.plan.rate.shape, nll_rate_names, 0), "%r (%d)"),
	OPT(0, "--sd", "PERMILLE", NUMBER(o.plan.rate.sd_permille, 0, NLL_RATE_SD_MAX, 100),
	    "of normal: of the mean gap (%d; %r)"),
	OPT(0, "--on", "USEC", MICROSECONDS(o.plan.rate.on_ns, 1, PHASE_MAX_US, 100000),
	    "of peaks: how long it sends (%d) ..."),
	OPT(0, "--off", "USEC", MICROSECONDS(o.plan.rate.off_ns, 1, PHASE_MAX_US, 100000),
	    "... and how long it does not (%d)"),
	OPT(0, "--depth", "PERMILLE",
	    NUMBER(o.plan.rate.depth_permille, 1, NLL_RATE_DEPTH_MAX, 500),
	    "of ramp: up and down from the mean rate (%d; %r)"),
	OPT(0, "--period", "USEC", MICROSECONDS(o.plan.rate.period_ns, 1, PHASE_MAX_US, 1000000),
	    "of ramp: up and down again (%d)"),
	OPT(0, "--seed", "N", NUMBER(o.plan.rate.seed, 0, ~0ULL, 1), "of the random shapes (%d)"),
	OPT(0, "--quantum", "USEC", MICROSECONDS(o.plan.quantum_ns, 0, QUANTUM_MAX_US, 500),
	    "no two batches of a worker are closer (%d); 0: packets alone"),
	OPT(0, "--spin", "USEC", MICROSECONDS(o.spin_ns, 0, SPIN_MAX_US, 0),
	    "the most that is spun before a deadline (a part of the gap)", .given = &o.spin_set),
	OPT(0, "--method", "METHOD", CHOICE(o.method, methods, 0),
	    "%r: how a batch is sent (%d)"),
	OPT(0, "--txtime", "QDISC", CHOICE(o.txtime, qdiscs, 0),
	    "%r: the kernel sends each packet at its time (SO_TXTIME)", .min = TXTIME_FQ),
	OPT(0, "--naive", NULL, FLAG(o.naive),
	    "sleep the computed gap after each packet, as a comparison"),
	OPT(0, "--best-effort", NULL, FLAG(o.best_effort),
	    "send what can be sent when that is less than the rate, and when\n"
	    "no receiver answers"),
	OPT(0, "--strict", NULL, FLAG(o.strict),
	    "a packet lost, out of order or twice, 0.1 % less than the rate, or\n"
	    "1 ms too long is an error", .tag = RECEIVED),
	OPT(0, "--policy", "POLICY", CALL_TO(policy_option, o.policy), POLICY_FORMS " (%d)",
	    .text = "other", .names = policy_words, .tag = RECEIVED),
	OPT(0, "--hogs", "N", NUMBER(o.hogs, 0, HOGS_MAX, 0),
	    "CPU-bound processes run meanwhile (%d; up to 64) ..."),
	OPT(0, "--hog-tickets", "N", NUMBER(o.hog_tickets, 1, 1000000, 0),
	    "... as lottery tasks with N tickets each"),
	OPT(0, "--samples", "FILE", TEXT(o.samples_path, NULL), "the bytes of each second, CSV"),
	OPT(0, "--json", NULL, FLAG(o.json), "one JSON object", .tag = RECEIVED),
	OPT(0, "--buckets", NULL, FLAG(o.buckets), "with all gaps and delays in it",
	    .tag = RECEIVED),
	OPT('u', "", NULL, CALL(refuse_iperf), NULL),
	OPT('b', "", NULL, CALL(refuse_iperf), NULL),
	OPT('c', "", NULL, CALL(refuse_iperf), NULL),
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: udprate -r RATE [-t SECONDS] [options] [ADDRESS]\n"
"       udprate --receive [-t SECONDS] [options] [ADDRESS]\n"
"\n"
"Send UDP packets to ADDRESS (127.0.0.1) at exactly the rate that was asked for, or\n"
"receive them and see what is missing. With --receive ADDRESS is the one to listen on:\n"
"any of this machine if none is given. It may be IPv4, IPv6 or a host's name.\n"
"\n",
	.rows = rows,
	.operands = 1,
	.operand = "HOST",
	.seen = note,
};

static void take_address(const char *host)
{
	if (host)
		address_resolve(&o.to, host, o.port);
	else if (o.receive)
		address_everywhere(&o.to, o.port);
	else
		address_resolve(&o.to, "127.0.0.1", o.port);
	/* what fits a frame of 1500 bytes */
	if (!o.plan.size)
		o.plan.size = o.to.any.sa_family == AF_INET6 ? 1452 : 1472;
}

/* A part of a second may end in the middle of a batch, which is sent or not. */
static void check_time(const struct plan *plan)
{
	double seconds = (double)o.time_ns / NSEC_PER_SEC, off_pct;
	double most_pct = o.strict ? STRICT_PCT : MISS_PCT;
	struct schedule s;

	if (o.best_effort || o.naive || plan->rate.shape != NLL_RATE_CONSTANT)
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

static void check(void)
{
	const char *fault;
	struct plan plan;

	if (o.buckets && !o.json)
		die(EXIT_USAGE, "--buckets needs --json");
	if (o.receive)
		return;
	if (!o.time_ns)
		o.time_ns = TIME_USUAL_NS;
	o.plan.stop_ns = o.time_ns;
	if (!o.plan.bytes_per_s)
		die(EXIT_USAGE, "-r is missing: how many Mbit/s, try --help");
	if (o.loop && o.blind)
		die(EXIT_USAGE, "--loop does not go with --blind");
	if (o.naive && (o.plan.rate.shape != NLL_RATE_CONSTANT || o.txtime))
		die(EXIT_USAGE, "--naive knows no --shape and no --txtime");
	if (o.strict && (o.best_effort || o.naive))
		die(EXIT_USAGE, "--strict does not go with --best-effort and --naive");
	if (o.strict && o.blind)
		die(EXIT_USAGE, "--strict does not go with --blind");
	if (o.hog_tickets && !o.hogs)
		die(EXIT_USAGE, "--hog-tickets needs --hogs");
	plan = o.plan;
	if (!plan.workers)
		plan.workers = 1;
	fault = schedule_fault(&plan);
	if (fault)
		die(EXIT_USAGE, "--%s", fault);
	check_time(&plan);
}

/* Now, so that no run is lost for want of a place. */
static void open_samples(void)
{
	if (!o.samples_path)
		return;
	o.samples = fopen(o.samples_path, "w");
	if (!o.samples)
		die(EXIT_USAGE, "--samples: cannot write '%s': %s", o.samples_path,
		    strerror(errno));
}

struct options parse_options(int argc, char **argv)
{
	const char *host;

	o.run = now_ns() ^ (u64)getpid() << 48;
	host = argv[opts_parse(&opts, argc, argv)];
	if (o.receive && not_for_receiver)
		die(EXIT_USAGE, "--receive does not go with %s", not_for_receiver);
	if (o.loop && host)
		die(EXIT_USAGE, "--loop does not go with ADDRESS '%s'", host);
	take_address(host);
	check();
	open_samples();
	return o;
}
