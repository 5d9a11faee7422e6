// SPDX-License-Identifier: GPL-2.0
/* udprate.c - send UDP packets at exactly the rate that was asked for. */
#include <arpa/inet.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "args.h"
#include "clock.h"
#include "hog.h"
#include "memory.h"
#include "udprate.h"

/* What is refused, per cent: a rate that is missed by more. */
#define MISS_PCT	1.0
/* The same, and what is too long, with --strict. */
#define STRICT_PCT	0.1
#define STRICT_S	0.001
#define TRIALS		3U
#define RECEIVER_NS	(60 * NSEC_PER_SEC)

static struct received *make_received(void)
{
	void *page = xshared(sizeof(struct received));

	return page;
}

static int receive(struct options *o)
{
	struct received *r = make_received();
	int fd = receive_open(&o->to);

	if (!receive_all(fd, o, r))
		die(EXIT_FAILED, "no packet on port %u within %llu s", ntohs(o->to.sin_port),
		    o->wait_ns / NSEC_PER_SEC);
	report_received(o, r);
	return EXIT_GOOD;
}

/* Nothing has been sent to anybody yet. */
static void refuse_too_much(const struct options *o)
{
	double wanted = (double)o->plan.bytes_per_s * 8 / 1e6, can = 0;
	unsigned int i;

	if (o->best_effort || o->naive)
		return;
	for (i = 0; i < TRIALS; i++) {
		can = fmax(can, trial(o));
		if (can * (1 - MISS_PCT / 100) >= wanted)
			return;
	}
	die(EXIT_FAILED,
	    "cannot hold %.3f Mbit/s: %u x %u bytes can do %.0f here; --best-effort sends that",
	    wanted, o->plan.workers, o->plan.size, can);
}

static int verdict(const struct options *o, const struct summary *s, const struct received *r)
{
	/* a random shape has another mean each time */
	bool random = o->plan.rate.shape != NLL_RATE_CONSTANT;
	double most = o->strict ? STRICT_PCT : MISS_PCT;
	double too_long_s = s->elapsed_s - (double)o->time_ns / NSEC_PER_SEC;

	if (o->best_effort || o->naive)
		return EXIT_GOOD;
	if (random ? s->skipped > 0 : s->error_pct < -most)
		complain("did not hold %.3f Mbit/s: it was %.3f, %llu packets were not sent",
			 s->requested_mbps, s->achieved_mbps, s->skipped);
	else if (o->strict && r && lost_of(r))
		complain("%llu packets were lost", lost_of(r));
	else if (o->strict && too_long_s > STRICT_S)
		complain("ended %.6f s too late", too_long_s);
	else
		return EXIT_GOOD;
	return EXIT_FAILED;
}

static int send_and_report(struct options *o)
{
	struct received *r = o->loop ? make_received() : NULL;
	struct run run = { .o = o };
	static struct summary s;
	pid_t receiver = 0;

	if (o->loop) {
		o->to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
		o->to.sin_port = 0;
		receiver = receive_start(o, r, &o->to);
	}
	send_all(&run);
	summarize(&run, &s);
	if (receiver && wait_child(receiver, now_ns() + RECEIVER_NS))
		die(EXIT_FAILED, "the receiver failed");
	report_sent(o, &s, r);
	if (o->samples)
		write_samples(&run, o->samples);
	return verdict(o, &s, r);
}

int main(int argc, char **argv)
{
	struct options o;
	struct crew hogs;
	int code;

	args_init("udprate");
	parse_options(argc, argv, &o);
	if (o.receive)
		return receive(&o);
	policy_try(&o.policy);
	hogs_start(&hogs, o.hogs, o.hog_tickets);
	refuse_too_much(&o);
	code = send_and_report(&o);
	hogs_stop(&hogs);
	return code;
}
