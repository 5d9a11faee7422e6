// SPDX-License-Identifier: GPL-2.0
/* udprate.c - send UDP packets at exactly the rate that was asked for. */
#include <math.h>
#include <stdlib.h>

#include "args.h"
#include "clock.h"
#include "document.h"
#include "hog.h"
#include "memory.h"
#include "udprate.h"

/* What is too long with --strict. */
#define STRICT_S	0.001
/* A shorter run's rate at the receiver says more of its edges. */
#define RATE_NS		NSEC_PER_SEC

/* What --strict allows none of: false when it is said. */
static bool all_in_order(const struct fates *f)
{
	if (f->lost)
		complain("%llu packets were lost", f->lost);
	else if (f->late)
		complain("%llu packets came out of order", f->late);
	else if (f->duplicates)
		complain("%llu packets were duplicates", f->duplicates);
	else
		return true;
	return false;
}

static int receive(struct options *o)
{
	struct receiver *rx = xcalloc(1, sizeof(*rx));
	int code = EXIT_GOOD;

	rx->o = o;
	policy_take(&o->policy);
	receive_open(rx, &o->to);
	report_listening(o);
	receive_all(rx);
	if (o->time_ns && !rx->first_ns && !interrupted()) {
		complain("no packet on port %u within %llu s", address_port(&o->to),
			 o->wait_ns / NSEC_PER_SEC);
		code = EXIT_FAILED;
	} else if (o->strict && !all_in_order(&rx->fates)) {
		code = EXIT_FAILED;
	}
	free(rx);
	return code;
}

/* What did not get there: false when it is said. */
static bool all_arrived(const struct options *o, const struct outcome *out)
{
	const struct received *r = &out->received;
	const struct summary *s = &out->sent;
	double most = o->strict ? 0 : MISS_PCT;
	struct fates f = { };

	fates_add(&f, r);
	if (!out->known) {
		if (out->asked)
			complain("the receiver went away: what arrived is not known");
		return !out->asked;
	}
	if ((double)f.lost * 100 > most * (double)s->numbered)
		complain("%llu of %llu packets were lost: %.3f Mbit/s arrived", f.lost,
			 s->numbered, arrived_mbps(r));
	else if (o->strict && !all_in_order(&f))
		return false;
	else if (o->time_ns >= RATE_NS && !interrupted() &&
		 o->plan.rate.shape == NLL_RATE_CONSTANT &&
		 arrived_mbps(r) < s->requested_mbps * (1 - MISS_PCT / 100))
		complain("%.3f Mbit/s arrived", arrived_mbps(r));
	else
		return true;
	return false;
}

static int verdict(const struct options *o, const struct outcome *out)
{
	/* a random shape has another mean each time */
	bool random = o->plan.rate.shape != NLL_RATE_CONSTANT;
	const struct summary *s = &out->sent;
	double most = o->strict ? STRICT_PCT : MISS_PCT;
	double too_long_s = s->elapsed_s - (double)o->time_ns / NSEC_PER_SEC;

	if (o->best_effort || o->naive)
		return EXIT_GOOD;
	if (s->dropped || s->failed)
		complain("%llu packets were dropped by a queue here, %llu could not be sent",
			 s->dropped, s->failed);
	else if (!s->numbered && !interrupted())
		complain("no packet was due in %.3f s", (double)o->time_ns / NSEC_PER_SEC);
	else if (random || interrupted() ? s->skipped > 0 : fabs(s->error_pct) > most)
		complain("did not hold %.3f Mbit/s: it was %.3f, %llu packets were not sent",
			 s->requested_mbps, s->achieved_mbps, s->skipped);
	else if (s->refused)
		complain("%llu sends were refused: nothing receives there", s->refused);
	else if (!all_arrived(o, out))
		return EXIT_FAILED;
	else if (o->strict && too_long_s > STRICT_S)
		complain("ended %.6f s too late", too_long_s);
	else
		return EXIT_GOOD;
	return EXIT_FAILED;
}

static int send_and_report(struct options *o)
{
	struct run run = { .o = o };
	static struct outcome out;

	measure(&run, &out);
	run.o = o;
	report_sent(o, &out);
	if (o->samples)
		write_samples(&run);
	return verdict(o, &out);
}

int main(int argc, char **argv)
{
	struct options o;
	struct crew hogs;
	int code;

	args_init("udprate");
	parse_options(argc, argv, &o);
	document_begin();
	interrupt_watch();
	if (o.receive)
		return receive(&o);
	policy_try(&o.policy);
	hogs_start(&hogs, o.hogs, o.hog_tickets);
	trial(&o);
	code = send_and_report(&o);
	hogs_stop(&hogs);
	return code;
}
