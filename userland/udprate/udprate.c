// SPDX-License-Identifier: GPL-2.0
/* udprate.c - send UDP packets at exactly the rate that was asked for. */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "document.h"
#include "files.h"
#include "udprate.h"

/* SIGINT and SIGTERM end a run early. */

/* A process that was not sent the signal itself looks this often. */
#define SLICE_NS	(20 * NSEC_PER_MSEC)

/* Shared: a signal to the launcher alone stops the workers as well. */
static u32 *flag;

static void note(int signal)
{
	(void)signal;
	store(flag, 1);
}

void interrupt_watch(void)
{
	struct sigaction act = { .sa_handler = note, .sa_flags = SA_RESTART };

	flag = xshared(sizeof(*flag));
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
}

bool interrupted(void)
{
	return load(flag);
}

bool sleep_or_interrupt(u64 when_ns)
{
	u64 now = now_ns();

	/* the last part is slept in one go, so that it ends on time */
	while (now + 2 * SLICE_NS < when_ns && !interrupted()) {
		sleep_until_ns(now + SLICE_NS);
		now = now_ns();
	}
	if (interrupted())
		return false;
	sleep_until_ns(when_ns);
	return true;
}

/* What this machine can do: a short burst that is not received, or a rehearsal. */

/* Three windows: the best one counts, as others may have had the CPU in one. */
#define WINDOW_NS	(15 * NSEC_PER_MSEC)
#define WINDOWS		3U
#define WAIT_NS		(60 * NSEC_PER_SEC)
#define TRIALS		3U
#define REHEARSAL_NS	(200 * NSEC_PER_MSEC)
/* A rehearsal with fewer packets says nothing of a miss of 1 %. */
#define REHEARSAL_MIN	100U

/* A socket that is not read: what does not fit is dropped. */
static int open_sink(struct address *at)
{
	int fd;

	address_loopback(at);
	fd = address_socket(at, SOCK_DGRAM);
	if (bind(fd, &at->any, at->length) || getsockname(fd, &at->any, &at->length))
		die(EXIT_FAILED, "cannot try out the rate: %s", strerror(errno));
	return fd;
}

/* A bare network namespace has none. */
static bool has_loopback(void)
{
	struct address at;
	bool has;
	int fd;

	address_loopback(&at);
	fd = address_socket(&at, SOCK_DGRAM);
	has = !bind(fd, &at.any, at.length) && !getsockname(fd, &at.any, &at.length) &&
	      !connect(fd, &at.any, at.length);
	close(fd);
	return has;
}

struct tried {
	const struct options *o;
	u64 (*bytes)[WINDOWS];		/* of each worker, shared */
};

static CREW_FN(burst)
{
	const struct tried *tried = arg;
	const struct options *o = tried->o;
	struct header header = { .magic = MAGIC, .worker = i };
	struct options plain = *o;
	struct plan endless = o->plan;
	u64 start, now;
	struct transmitter t;
	struct schedule schedule;
	struct address sink;
	struct batch b = { };
	int fd = open_sink(&sink);

	plain.txtime = TXTIME_NONE;
	transmit_open(&t, &plain, &sink);
	endless.stop_ns = ~0ULL;
	schedule_init(&schedule, &endless);
	policy_take(&o->policy);
	start = load64(&crew->page->slot[0].value);
	sleep_until_ns(start);
	while ((now = now_ns()) < start + WINDOWS * WINDOW_NS) {
		schedule_next(&schedule, &b);
		transmit(&t, &b, &header, 0);
		tried->bytes[i][(now - start) / WINDOW_NS] += (u64)b.packets * b.size;
	}
	transmit_close(&t);
	close(fd);
	return EXIT_GOOD;
}

/* Mbit/s that all workers together can send, to sockets that are not read. */
static double try_burst(const struct options *o)
{
	size_t size = o->plan.workers * sizeof(u64[WINDOWS]);
	struct tried tried = { .o = o };
	struct crew crew;
	u64 best = 0;
	u32 i, window;

	tried.bytes = xshared(size);
	crew_create(&crew, o->plan.workers);
	for (i = 0; i < o->plan.workers; i++)
		crew_fork(&crew, burst, &tried);
	crew_gather(&crew, WAIT_NS);
	store64(&crew.page->slot[0].value, now_ns() + NSEC_PER_MSEC);
	crew_release(&crew);
	if (crew_reap(&crew, WAIT_NS))
		die(EXIT_FAILED, "cannot try out the rate");
	for (window = 0; window < WINDOWS; window++) {
		u64 sum = 0;

		for (i = 0; i < o->plan.workers; i++)
			sum += tried.bytes[i][window];
		if (sum > best)
			best = sum;
	}
	crew_destroy(&crew);
	munmap(tried.bytes, size);
	return (double)best * 8 * 1e3 / (double)WINDOW_NS;
}

static u64 rehearsal_ns(const struct options *o)
{
	return o->time_ns < REHEARSAL_NS ? o->time_ns : REHEARSAL_NS;
}

static bool can_rehearse(const struct options *o)
{
	return o->loop && o->plan.bytes_per_s * rehearsal_ns(o) / NSEC_PER_SEC >=
			  (u64)REHEARSAL_MIN * o->plan.size;
}

/*
 * Mbit/s that arrive when a receiver of our own takes part of this machine, as it will:
 * a short run of the real thing.
 */
static double try_with_receiver(const struct options *o)
{
	struct options part = *o;
	struct run run = { .o = &part };
	static struct outcome out;
	double share;

	part.time_ns = rehearsal_ns(o);
	part.plan.stop_ns = part.time_ns;
	part.interval_ns = 0;
	measure(&run, &out);
	run_free(&run);
	/* of a random shape another number is due each time */
	share = (double)out.received.packets / (double)(out.sent.numbered + out.sent.skipped);
	return share * out.sent.requested_mbps;
}

static bool can_hold(const struct options *o, double *can)
{
	double wanted = (double)o->plan.bytes_per_s * 8 / 1e6;
	unsigned int i;

	for (i = 0; i < TRIALS && !interrupted(); i++) {
		*can = fmax(*can, can_rehearse(o) ? try_with_receiver(o) : try_burst(o));
		if (*can >= wanted * (1 - MISS_PCT / 100))
			return true;
	}
	return false;
}

static u32 cpus(void)
{
	long count = sysconf(_SC_NPROCESSORS_ONLN);

	if (count < 1)
		return 1;
	return count < WORKERS_MAX ? (u32)count : WORKERS_MAX;
}

void trial(struct options *o)
{
	u32 most = o->plan.workers ?: cpus();
	double can = 0;

	if (!o->plan.workers)
		o->plan.workers = 1;
	if (o->loop && !has_loopback())
		die(EXIT_FAILED, "--loop: there is no loopback: ip link set lo up");
	if (o->best_effort || o->naive)
		return;
	if (!has_loopback()) {
		complain("the rate is not tried out: there is no loopback");
		return;
	}
	while (!can_hold(o, &can)) {
		struct plan more = o->plan;

		more.workers = 2 * more.workers < most ? 2 * more.workers : most;
		if (interrupted())
			die(EXIT_FAILED, "interrupted before anything was sent");
		if (o->plan.workers == most || schedule_fault(&more))
			die(EXIT_FAILED,
			    "cannot hold %.3f Mbit/s: %u x %u bytes can do %.0f here; "
			    "--best-effort sends that", (double)o->plan.bytes_per_s * 8 / 1e6,
			    o->plan.workers, o->plan.size, can);
		o->plan = more;
	}
}

/* One run: the workers, the receiver, and what both say. */

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
	o = parse_options(argc, argv);
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
