// SPDX-License-Identifier: GPL-2.0
/* measure.c - one run: the workers, the receiver, and what both say. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "udprate.h"

#define RECEIVER_NS	(60 * NSEC_PER_SEC)

/* Between two batches of any worker; nothing that is known for a random shape. */
static u64 period_of(const struct options *o)
{
	struct schedule schedule;

	if (o->plan.rate.shape != NLL_RATE_CONSTANT || o->naive)
		return 0;
	schedule_init(&schedule, &o->plan);
	return schedule_period(&schedule) / o->plan.workers;
}

/* The receiver at the address, or -1; exits when it is missing and has to be there. */
static int call_receiver(const struct options *o)
{
	char text[ADDRESS_TEXT];
	int fd = control_connect(&o->to);

	if (fd >= 0)
		fd = control_greet(fd, o->run, period_of(o));
	if (fd < 0 && !o->best_effort && !o->naive)
		die(EXIT_FAILED, "no receiver at %s, port %u: %s; --blind sends without one",
		    address_text(&o->to, text), address_port(&o->to),
		    errno == EPROTO ? "what listens there is no udprate" : strerror(errno));
	return fd;
}

void measure(struct run *run, struct outcome *out)
{
	struct options o = *run->o;
	struct control control = { .fd = -1 };
	pid_t receiver = 0;
	struct ask ask;

	run->o = &o;
	run->control = &control;
	if (o.loop) {
		address_loopback(&o.to);
		receiver = receive_start(&o, &o.to, &control.fd);
		control.fd = control_greet(control.fd, o.run, period_of(&o));
	} else if (!o.blind) {
		control.fd = call_receiver(&o);
	}
	out->asked = control.fd >= 0;
	send_all(run);
	summarize(run, &out->sent);
	if (out->asked) {
		run_end(run, &ask);
		out->known = control_finish(&control, &ask, &out->received);
	}
	if (receiver && (!out->known || wait_child(receiver, now_ns() + RECEIVER_NS)))
		die(EXIT_FAILED, "the receiver failed");
}
