// SPDX-License-Identifier: GPL-2.0
/* send.c - the workers. */
#include <errno.h>
#include <linux/net_tstamp.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "files.h"
#include "schedule.h"
#include "udprate.h"

/* A worker's socket and how its packets get out. */

#ifndef UDP_SEGMENT
#define UDP_SEGMENT	103
#endif

#define TXTIME_SPACE	CMSG_SPACE(sizeof(u64))

u64 cpu_of_process_ns(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (u64)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * NSEC_PER_SEC +
	       (u64)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * NSEC_PER_USEC;
}

static bool has_gso(int fd)
{
	int none = 0;

	return !setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &none, sizeof(none));
}

static void choose_method(struct transmitter *t)
{
	if (t->method == METHOD_AUTO)
		t->method = has_gso(t->fd) ? METHOD_GSO : METHOD_MMSG;
	else if (t->method == METHOD_GSO && !has_gso(t->fd))
		die(EXIT_UNSUPPORTED, "--method: this kernel lacks UDP_SEGMENT");
	/* each packet has a time of its own */
	if (t->txtime)
		t->method = METHOD_MMSG;
}

static void ask_for_txtime(struct transmitter *t)
{
	struct sock_txtime how = {
		.clockid = t->txtime == TXTIME_ETF ? CLOCK_TAI : CLOCK_MONOTONIC,
	};

	if (setsockopt(t->fd, SOL_SOCKET, SO_TXTIME, &how, sizeof(how)))
		die(errno == EPERM ? EXIT_FAILED : EXIT_UNSUPPORTED, "--txtime: SO_TXTIME: %s",
		    strerror(errno));
}

/* What the network answers, and what a queue of this machine drops (ENOBUFS). */
static void ask_for_errors(struct transmitter *t, const struct address *to)
{
	bool v6 = to->any.sa_family == AF_INET6;
	int one = 1;

	if (setsockopt(t->fd, v6 ? IPPROTO_IPV6 : IPPROTO_IP, v6 ? IPV6_RECVERR : IP_RECVERR,
		       &one, sizeof(one)))
		die(EXIT_UNSUPPORTED, "IP_RECVERR: %s", strerror(errno));
}

void transmit_open(struct transmitter *t, const struct options *o,
		   const struct address *to)
{
	*t = (struct transmitter){ .method = o->method, .txtime = o->txtime };
	t->fd = address_socket(to, SOCK_DGRAM);
	t->buffer = xcalloc(1, BATCH_BYTES_MAX);
	if (connect(t->fd, &to->any, to->length))
		die(EXIT_FAILED, "cannot send there: %s", strerror(errno));
	ask_for_errors(t, to);
	choose_method(t);
	if (t->txtime)
		ask_for_txtime(t);
}

void transmit_close(struct transmitter *t)
{
	close(t->fd);
	free(t->buffer);
}

/* Each has come with the error that the next send returned; they take memory. */
static void drain_errors(int fd)
{
	struct msghdr message = { };

	while (recvmsg(fd, &message, MSG_ERRQUEUE | MSG_DONTWAIT) >= 0)
		message = (struct msghdr){ };
}

/*
 * An answer to an earlier packet is reported by the next send, which has to be repeated;
 * otherwise @packets were not sent.
 */
static bool try_again(struct transmitter *t, u32 packets, bool again)
{
	switch (errno) {
	case EINTR:
		return true;
	case ECONNREFUSED:
	case EHOSTUNREACH:
	case ENETUNREACH:
	case EPROTO:
		t->refused++;
		drain_errors(t->fd);
		return !again;
	case ENOBUFS:
		t->dropped += packets;
		return false;
	}
	t->failed += packets;
	return false;
}

static u32 send_gso(struct transmitter *t, const struct batch *b)
{
	union {
		char space[CMSG_SPACE(sizeof(u16))];
		struct cmsghdr align;
	} control = { };
	struct iovec part = { .iov_base = t->buffer, .iov_len = (size_t)b->packets * b->size };
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *c = &control.align;
	u16 size = (u16)b->size;
	bool again = false;

	if (b->packets > 1) {
		c->cmsg_level = IPPROTO_UDP;
		c->cmsg_type = UDP_SEGMENT;
		c->cmsg_len = CMSG_LEN(sizeof(size));
		memcpy(CMSG_DATA(c), &size, sizeof(size));
		message.msg_control = &control;
		message.msg_controllen = sizeof(control);
	}
	while (sendmsg(t->fd, &message, 0) < 0) {
		if (!try_again(t, b->packets, again))
			return 0;
		again = true;
	}
	return b->packets;
}

static u32 send_one_by_one(struct transmitter *t, const struct batch *b)
{
	u32 i, out = 0;

	for (i = 0; i < b->packets; i++) {
		const u8 *packet = t->buffer + (size_t)i * b->size;
		bool again = false;
		ssize_t done;

		while ((done = send(t->fd, packet, b->size, 0)) < 0 && try_again(t, 1, again))
			again = true;
		out += done >= 0;
	}
	return out;
}

/* How far the clock of the packets' own times is ahead: each time, as it may be set. */
static u64 ahead_ns(struct transmitter *t)
{
	struct timespec tai;
	u64 before;

	if (t->txtime != TXTIME_ETF)
		return 0;
	before = now_ns();
	clock_gettime(CLOCK_TAI, &tai);
	wall_learn(&t->tai, before, ns_of(&tai), now_ns());
	return t->tai.ahead_ns;
}

static u32 send_mmsg(struct transmitter *t, const struct batch *b, u64 begin_ns)
{
	union {
		char space[TXTIME_SPACE];
		struct cmsghdr align;
	} control[BATCH_MAX] = { };
	struct mmsghdr message[BATCH_MAX] = { };
	struct iovec part[BATCH_MAX];
	u32 i, done = 0, out = 0;
	bool again = false;

	begin_ns += ahead_ns(t);

	for (i = 0; i < b->packets; i++) {
		struct msghdr *m = &message[i].msg_hdr;
		u64 when = begin_ns + i * b->gap_ns;
		struct cmsghdr *c = &control[i].align;

		part[i] = (struct iovec){ t->buffer + (size_t)i * b->size, b->size };
		m->msg_iov = &part[i];
		m->msg_iovlen = 1;
		if (!t->txtime)
			continue;
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SO_TXTIME;
		c->cmsg_len = CMSG_LEN(sizeof(when));
		memcpy(CMSG_DATA(c), &when, sizeof(when));
		m->msg_control = c;
		m->msg_controllen = TXTIME_SPACE;
	}
	while (done < b->packets) {
		int sent = sendmmsg(t->fd, message + done, b->packets - done, 0);

		if (sent > 0) {
			done += (u32)sent;
			out += (u32)sent;
		} else if (!try_again(t, 1, again)) {
			done++;
		}
		again = sent <= 0;
	}
	return out;
}

u32 transmit(struct transmitter *t, const struct batch *b, const struct header *first,
	     u64 begin_ns)
{
	struct header header = *first;
	u32 i;

	for (i = 0; i < b->packets; i++, header.number++)
		memcpy(t->buffer + (size_t)i * b->size, &header, sizeof(header));
	if (t->method == METHOD_GSO)
		return send_gso(t, b);
	if (t->method == METHOD_SEND)
		return send_one_by_one(t, b);
	return send_mmsg(t, b, begin_ns);
}

/* From the release of the workers to the first deadline. */
#define LEAD_NS		(20 * NSEC_PER_MSEC)
/* A batch that is less late than this at the end is still sent. */
#define GRACE_NS	(900 * NSEC_PER_USEC)
/* How early packets with a time of their own are given to the kernel. */
#define AHEAD_NS	(2 * NSEC_PER_MSEC)
#define WAIT_NS		(60 * NSEC_PER_SEC)

struct sent *sent_of(const struct run *run, u32 worker)
{
	return (struct sent *)(run->results + run->stride * worker);
}

/* Returns the time: @due_ns or later, or earlier when the run was interrupted. */
static u64 await(struct pace *pace, u64 due_ns)
{
	u64 now = now_ns(), wake = pace_sleep_until(pace, due_ns);

	if (now < wake) {
		if (!sleep_or_interrupt(wake))
			return now_ns();
		now = now_ns();
		pace_woke(pace, now);
	}
	while (now < due_ns) {
		cpu_relax();
		now = now_ns();
	}
	return now;
}

struct worker {
	struct run *run;
	struct sent *sent;
	struct transmitter transmitter;
	struct header header;
	u64 stop_ns;
	u64 last_ns;
};

static void send_batch(struct worker *w, const struct batch *b, u64 now)
{
	u64 start = w->run->start_ns, second = (now - start) / NSEC_PER_SEC;
	struct sent *sent = w->sent;
	u32 i, out = transmit(&w->transmitter, b, &w->header, start + b->begin_ns);

	w->header.number += b->packets;
	sent->packets += out;
	store64(&sent->bytes, sent->bytes + (u64)out * b->size);
	/* what is late at the very end belongs to the last second */
	if (second >= w->run->seconds)
		second = w->run->seconds - 1;
	sent->second[second] += (u64)out * b->size;
	if (w->last_ns)
		histogram_add(&sent->gap, now - w->last_ns);
	for (i = 1; i < b->packets; i++)
		histogram_add(&sent->gap, 0);
	w->last_ns = now;
}

static void run_paced(struct worker *w, struct schedule *schedule)
{
	const struct options *o = w->run->o;
	u64 start = w->run->start_ns, ahead = o->txtime ? AHEAD_NS : 0, now;
	u64 period = schedule_period(schedule), row = 0;
	struct pace pace;
	struct batch b;

	pace_init(&pace, o->spin_set ? o->spin_ns : pace_auto_spin(period));
	while (schedule_next(schedule, &b)) {
		u64 due = start + (ahead ? b.begin_ns : b.due_ns) - ahead;

		now = await(&pace, due);
		if (interrupted())
			return;
		if (now > w->stop_ns + GRACE_NS) {
			w->sent->skipped += b.packets;
			continue;
		}
		histogram_add(&w->sent->late, now - due);
		row = now - due < period ? 0 : row + b.packets;
		if (row > w->sent->catch_up)
			w->sent->catch_up = row;
		send_batch(w, &b, now);
	}
}

/* As the reference does: a packet, then a sleep as long as the gap. */
static void run_naive(struct worker *w, struct schedule *schedule)
{
	struct timespec gap = timespec_of(schedule_full_gap(schedule));
	struct batch b = { .packets = 1, .size = w->run->o->plan.size };
	u64 now;

	for (;;) {
		now = now_ns();
		if (now >= w->stop_ns || interrupted())
			return;
		send_batch(w, &b, now);
		nanosleep(&gap, NULL);
	}
}

static CREW_FN(worker)
{
	struct run *run = *(struct run *const *)arg;
	struct worker w = { .run = run, .sent = sent_of(run, i) };
	struct plan plan = run->o->plan;
	struct schedule schedule;
	u64 cpu;

	plan.worker = i;
	schedule_init(&schedule, &plan);
	transmit_open(&w.transmitter, run->o, &run->o->to);
	w.header = (struct header){ .magic = MAGIC, .worker = i, .run = run->o->run };
	policy_take(&run->o->policy);
	/* the kernel may wake others 50 us late, so as to wake several at once */
	prctl(PR_SET_TIMERSLACK, 1);
	run->start_ns = load64(&crew->page->slot[0].value);
	w.stop_ns = run->start_ns + plan.stop_ns;
	sleep_until_ns(run->start_ns - NSEC_PER_MSEC);
	cpu = cpu_of_process_ns();
	if (run->o->naive) {
		sleep_until_ns(run->start_ns);
		run_naive(&w, &schedule);
	} else {
		run_paced(&w, &schedule);
	}
	w.sent->end_ns = now_ns() - run->start_ns;
	w.sent->cpu_ns = cpu_of_process_ns() - cpu;
	w.sent->numbered = w.header.number;
	w.sent->refused = w.transmitter.refused;
	w.sent->dropped = w.transmitter.dropped;
	w.sent->failed = w.transmitter.failed;
	transmit_close(&w.transmitter);
	return EXIT_GOOD;
}

/* The bytes of all workers until now. */
static u64 sent_so_far(const struct run *run)
{
	u64 bytes = 0;
	u32 i;

	for (i = 0; i < run->o->plan.workers; i++)
		bytes += load64(&sent_of(run, i)->bytes);
	return bytes;
}

/* What was said of earlier intervals, of the sender and of the receiver. */
struct told {
	u64 sent;
	u64 arrived;
	u64 arrived_ns;
};

/* The receiver has a part of the time, so that the next interval ends in time. */
static void watch_interval(const struct run *run, u64 from, u64 until, struct told *told)
{
	u64 sent = sent_so_far(run), patience = (until - from) / 2;
	struct interval i = { .from_ns = from, .until_ns = until, .bytes = sent - told->sent };
	struct control *c = run->control;

	told->sent = sent;
	i.known = c->fd >= 0 && control_ask(c, run->start_ns + until + patience);
	if (i.known) {
		i.arrived_mbps = (double)(c->so_far.bytes - told->arrived) * 8 * 1e3 /
				 (double)(until - told->arrived_ns);
		i.lost = c->so_far.lost;
		told->arrived = c->so_far.bytes;
		told->arrived_ns = until;
	}
	report_interval(run, &i);
}

/* Report on the way, until the time is over: the last batch goes out a little before. */
static void watch(struct run *run)
{
	u64 time_ns = run->o->time_ns, step = run->o->interval_ns ?: time_ns;
	struct told told = { };
	u64 from, until;

	run->time_ns = time_ns;
	for (from = 0; from < time_ns; from = until) {
		until = from + step < time_ns ? from + step : time_ns;
		if (!sleep_or_interrupt(run->start_ns + until)) {
			u64 now = now_ns();

			run->time_ns = now > run->start_ns + 1 ? now - run->start_ns : 1;
			return;
		}
		if (run->o->interval_ns)
			watch_interval(run, from, until, &told);
	}
}

void send_all(struct run *run)
{
	const struct options *o = run->o;
	size_t room = sizeof(struct sent);
	struct crew crew;
	u32 i;

	run->seconds = (unsigned int)((o->time_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC);
	run->stride = (room + run->seconds * sizeof(u64) + 63) & ~(size_t)63;
	run->results = xshared(run->stride * o->plan.workers);
	crew_create(&crew, o->plan.workers);
	for (i = 0; i < o->plan.workers; i++)
		crew_fork(&crew, worker, &run);
	crew_gather(&crew, WAIT_NS);
	run->start_ns = now_ns() + LEAD_NS;
	store64(&crew.page->slot[0].value, run->start_ns);
	crew_release(&crew);
	watch(run);
	if (crew_reap(&crew, WAIT_NS))
		die(EXIT_FAILED, "a worker failed");
	crew_destroy(&crew);
}

void run_free(struct run *run)
{
	munmap(run->results, run->stride * run->o->plan.workers);
}

void run_end(const struct run *run, struct ask *ask)
{
	u32 i;

	*ask = (struct ask){ .over = true };
	for (i = 0; i < run->o->plan.workers; i++)
		ask->numbered[i] = sent_of(run, i)->numbered;
}
