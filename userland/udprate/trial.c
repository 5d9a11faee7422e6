// SPDX-License-Identifier: GPL-2.0
/* trial.c - what this machine can do: a short burst that is not received. */
#include <arpa/inet.h>
#include <errno.h>
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

/* A socket that is not read: what does not fit is dropped. */
static int open_sink(struct sockaddr_in *at)
{
	socklen_t length = sizeof(*at);
	int fd = udp_socket();

	*at = (struct sockaddr_in){ .sin_family = AF_INET };
	at->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (bind(fd, (struct sockaddr *)at, sizeof(*at)) ||
	    getsockname(fd, (struct sockaddr *)at, &length))
		die(EXIT_FAILED, "cannot try out the rate: %s", strerror(errno));
	return fd;
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
	u64 start, now;
	struct transmitter t;
	struct schedule schedule;
	struct sockaddr_in sink;
	struct batch b = { };
	int fd = open_sink(&sink);

	plain.txtime = TXTIME_NONE;
	transmit_open(&t, &plain, &sink);
	schedule_init(&schedule, &o->plan);
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

double trial(const struct options *o)
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
