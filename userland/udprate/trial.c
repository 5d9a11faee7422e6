// SPDX-License-Identifier: GPL-2.0
/* trial.c - what this machine can do: a short burst that is not received, or a rehearsal. */
#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "memory.h"
#include "udprate.h"

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
