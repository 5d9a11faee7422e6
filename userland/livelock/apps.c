// SPDX-License-Identifier: GPL-2.0
/* apps.c - the receiving applications, and a process that wants the CPU. */
#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <linux/sock_diag.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "apps.h"
#include "args.h"
#include "clock.h"
#include "files.h"
#include "histogram.h"
#include "idle_hog.h"
#include "stamp.h"

#define GATHER_NS	(30 * NSEC_PER_SEC)
#define FRAME_MAX	2048

/* The memory that all processes share. */
struct apps_page {
	struct apps_window window;
	struct app_hog hog;
	struct app app[APPS_MAX];
	u32 latency_ns[];
};

static bool within(u64 now, const struct apps_window *window)
{
	return now >= window->begin_ns && now < window->end_ns;
}

/* The stack should have dropped it. */
static bool is_bad(const struct apps *apps, u64 seq)
{
	return apps->every && (seq + 1) % apps->every == 0;
}

static void take(const struct apps *apps, struct app *app, const struct nll_stamp *stamp,
		 u64 now)
{
	u64 latency = now - be64toh(stamp->sent_ns), seq = be64toh(stamp->seq);

	app->disorder += seq < app->next_seq;
	app->next_seq = seq + 1;
	if (is_bad(apps, seq)) {
		store64(&app->bad, app->bad + 1);
		return;
	}
	if (within(now, &apps->page->window)) {
		app->windowed++;
		if (app->latencies < apps->room)
			app->latency_ns[app->latencies++] =
				latency < UINT32_MAX ? (u32)latency : UINT32_MAX;
	}
	store64(&app->received, app->received + 1);
}

/* A CREW_FN: an ordinary server, a frame a call; it is killed at the end. */
static CREW_FN(serve)
{
	const struct apps *apps = arg;
	struct app *app = &apps->page->app[i];
	u8 bytes[FRAME_MAX];
	ssize_t length;

	(void)crew;
	prctl(PR_SET_NAME, "application");
	while ((length = recv(apps->fd[i], bytes, sizeof(bytes), 0)) >= 0) {
		const struct nll_stamp *stamp = (const struct nll_stamp *)bytes;
		u64 now = now_ns();

		if ((size_t)length < sizeof(*stamp) ||
		    be32toh(stamp->magic) != NLL_STAMP_MAGIC || be32toh(stamp->port) != i)
			store64(&app->strange, app->strange + 1);
		else
			take(apps, app, stamp, now);
	}
	return EXIT_FAILED;
}

static struct app_charge charge_now(const struct crew *crew, const struct apps *apps, u64 now)
{
	struct app_charge charge = { .now_ns = now, .hog_ns = thread_cpu_ns() };
	unsigned int i;

	for (i = 0; i < apps->ports; i++)
		charge.apps_ns += process_cpu_ns(crew->pid[i]);
	return charge;
}

/*
 * A CREW_FN: count rounds of the same length. What takes time from it, be it an
 * interrupt, makes a round longer, and there are fewer.
 */
static CREW_FN(want_cpu)
{
	const struct apps *apps = arg;
	const struct apps_window *window = &apps->page->window;
	struct app_hog *hog = &apps->page->hog;
	u64 last = now_ns();

	(void)i;
	prctl(PR_SET_NAME, "hog");
	if (apps->hog_idle)
		idle_hog_become();
	while (!load(&crew->page->stop)) {
		u64 now, step;

		spin_a_little();
		now = now_ns();
		step = now - last;
		last = now;
		if (step < hog->least_ns)
			hog->least_ns = step;
		hog->rounds += within(now, window);
		if (!hog->begin.now_ns && now >= window->begin_ns)
			hog->begin = charge_now(crew, apps, now);
		if (!hog->end.now_ns && now >= window->end_ns)
			hog->end = charge_now(crew, apps, now);
	}
	return EXIT_GOOD;
}

static int open_socket(u16 port, const struct apps_options *o)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int size = (int)o->rcvbuf, busy_us = (int)o->busy_us;

	if (fd < 0)
		die(EXIT_FAILED, "socket: %s", strerror(errno));
	if (size && setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)))
		die(EXIT_FAILED, "rcvbuf %d: %s", size, strerror(errno));
	if (busy_us && setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &busy_us, sizeof(busy_us)))
		die(EXIT_UNSUPPORTED, "busy-poll %d: %s", busy_us, strerror(errno));
	if (bind(fd, (struct sockaddr *)&address, sizeof(address)))
		die(EXIT_FAILED, "port %u: %s", port, strerror(errno));
	return fd;
}

/* Touched now, so that no page fault gets into a latency. */
static void make_page(struct apps *apps)
{
	unsigned int i;

	apps->size = sizeof(*apps->page) + apps->ports * apps->room * sizeof(u32);
	apps->page = mmap(NULL, apps->size, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	if (apps->page == MAP_FAILED)
		die(EXIT_FAILED, "no memory for %llu latencies", apps->ports * apps->room);
	apps->page->hog.least_ns = ~0ULL;
	for (i = 0; i < apps->ports; i++)
		apps->page->app[i].latency_ns = apps->page->latency_ns + i * apps->room;
}

void apps_start(struct apps *apps, const struct apps_options *options)
{
	unsigned int i;

	*apps = (struct apps){
		.ports = options->ports, .hog = options->hog, .hog_idle = options->hog_idle,
		.room = options->frames_max, .every = options->every, .strays = options->strays,
	};
	make_page(apps);
	for (i = 0; i < apps->ports; i++) {
		apps->fd[i] = open_socket((u16)(options->first_port + i), options);
		if (apps->strays)
			apps->stray[i] = open_socket((u16)(options->first_port + i +
							   APPS_STRAY_PORTS), options);
	}
	crew_create(&apps->crew, apps->ports + 1);
	for (i = 0; i < apps->ports; i++)
		crew_fork(&apps->crew, serve, apps);
	if (apps->hog)
		crew_fork(&apps->crew, want_cpu, apps);
	crew_gather(&apps->crew, GATHER_NS);
}

void apps_release(struct apps *apps, struct apps_window window)
{
	apps->window = window;
	apps->page->window = window;
	if (apps->hog)
		idle_hog_pause();
	crew_release(&apps->crew);
}

void apps_stop(struct apps *apps)
{
	unsigned int i;

	if (apps->hog)
		idle_hog_resume();
	crew_destroy(&apps->crew);
	for (i = 0; i < apps->ports; i++) {
		close(apps->fd[i]);
		if (apps->strays)
			close(apps->stray[i]);
	}
	munmap(apps->page, apps->size);
}

const struct app *apps_of(const struct apps *apps, unsigned int port)
{
	return &apps->page->app[port];
}

const struct app_hog *apps_hog(const struct apps *apps)
{
	return &apps->page->hog;
}

/* The sum over the applications of what lies at @place in struct app. */
static u64 sum(const struct apps *apps, size_t place)
{
	unsigned int i;
	u64 total = 0;

	for (i = 0; i < apps->ports; i++)
		total += load64((const u64 *)((const char *)&apps->page->app[i] + place));
	return total;
}

u64 apps_received(const struct apps *apps)
{
	return sum(apps, offsetof(struct app, received));
}

u64 apps_bad(const struct apps *apps)
{
	return sum(apps, offsetof(struct app, bad));
}

u64 apps_strange(const struct apps *apps)
{
	return sum(apps, offsetof(struct app, strange));
}

u64 apps_disorder(const struct apps *apps)
{
	return sum(apps, offsetof(struct app, disorder));
}

static u64 drops_of(int fd)
{
	u32 memory[SK_MEMINFO_VARS];
	socklen_t length = sizeof(memory);

	if (getsockopt(fd, SOL_SOCKET, SO_MEMINFO, memory, &length))
		die(EXIT_FAILED, "SO_MEMINFO: %s", strerror(errno));
	return memory[SK_MEMINFO_DROPS];
}

u64 apps_socket_losses(struct apps *apps)
{
	u8 bytes[FRAME_MAX];
	unsigned int i;
	u64 sum = 0;

	for (i = 0; i < apps->ports; i++) {
		sum += drops_of(apps->fd[i]);
		if (!apps->strays)
			continue;
		while (recv(apps->stray[i], bytes, sizeof(bytes), MSG_DONTWAIT) >= 0)
			apps->left++;
		sum += drops_of(apps->stray[i]);
	}
	return sum + apps->left;
}

static double hog_ns(const struct app_hog *hog)
{
	return hog->rounds ? (double)hog->rounds * (double)hog->least_ns : 0;
}

double apps_hog_share(const struct apps *apps)
{
	u64 length = apps->window.end_ns - apps->window.begin_ns;

	return hog_ns(apps_hog(apps)) / (double)length;
}

double apps_share(const struct apps *apps)
{
	const struct app_charge *begin = &apps_hog(apps)->begin, *end = &apps_hog(apps)->end;
	double real;

	if (end->hog_ns <= begin->hog_ns || end->now_ns <= begin->now_ns)
		return 0;
	real = hog_ns(apps_hog(apps)) / (double)(end->hog_ns - begin->hog_ns);
	return real * (double)(end->apps_ns - begin->apps_ns) /
		(double)(end->now_ns - begin->now_ns);
}

double *apps_latencies(const struct apps *apps, size_t *count)
{
	double *samples;
	unsigned int i;
	size_t used = 0;
	u64 k;

	for (i = 0; i < apps->ports; i++)
		used += apps_of(apps, i)->latencies;
	samples = xmalloc((used + 1) * sizeof(*samples));
	*count = used;
	for (used = 0, i = 0; i < apps->ports; i++)
		for (k = 0; k < apps_of(apps, i)->latencies; k++)
			samples[used++] = apps_of(apps, i)->latency_ns[k] / 1000.0;
	sort_samples(samples, used);
	return samples;
}
