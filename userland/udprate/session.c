// SPDX-License-Identifier: GPL-2.0
/* session.c - the receiver's senders: which they are, what came of them, and when to say so. */
#include "session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "memory.h"
#include "udprate.h"

/* After the end, packets that are under way: until none comes for this long ... */
#define QUIET_NS	(300 * NSEC_PER_MSEC)
/* ... and no longer than this. */
#define UNDER_WAY_NS	(10 * NSEC_PER_SEC)
/* A connection that says nothing is closed. */
#define HELLO_NS	(2 * NSEC_PER_SEC)
#define REPORT_BYTES	(256 * 1024)

struct session *session_add(struct receiver *rx, int fd, const struct address *peer)
{
	struct session *s;
	u32 i;

	for (i = 0; i < SESSIONS_MAX && rx->session[i]; i++)
		continue;
	if (i == SESSIONS_MAX)
		return NULL;
	s = xcalloc(1, sizeof(*s));
	s->fd = fd;
	s->peer = *peer;
	s->last_ns = rx->now_ns;
	rx->session[i] = s;
	return s;
}

static void session_drop(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];

	if (s->fd >= 0)
		close(s->fd);
	free(s);
	rx->session[i] = NULL;
}

static void begin_run(struct receiver *rx, struct session *s, u64 run)
{
	s->run = run;
	s->number = ++rx->began;
	s->began = time(NULL);
	s->state = SESSION_RUNS;
	if (!rx->one_run)
		report_run(rx->o, s);
}

struct session *session_of(struct receiver *rx, u64 run, const struct address *from)
{
	struct session *s;
	u32 i, used = 0;

	for (i = 0; i < SESSIONS_MAX; i++) {
		s = rx->session[i];
		if (!s || s->state == SESSION_HELLO)
			continue;
		if (s->run == run)
			goto found;
		used++;
	}
	/* with a time of its own, it also takes a sender that does not talk */
	if (used || rx->ended || !rx->o->time_ns)
		return NULL;
	s = session_add(rx, -1, from);
	if (!s)
		return NULL;
	begin_run(rx, s, run);
found:
	if (!rx->first_ns)
		rx->first_ns = rx->now_ns;
	s->last_ns = rx->now_ns;
	return s;
}

void session_see(struct session *s, const struct header *header, u32 bytes, u64 stamp_ns)
{
	struct received *r = &s->received;
	u32 worker = header->worker;
	u64 next = r->worker[worker].next;

	if (!sequence_see(&r->worker[worker], &s->window[worker], header->number))
		return;
	if (!s->first_stamp_ns)
		s->first_stamp_ns = stamp_ns;
	if (header->number > next)
		holes_open(&r->holes, worker, next, header->number - next,
			   stamp_ns - s->first_stamp_ns);
	else if (header->number < next)
		holes_fill(&r->holes, worker, header->number);
	if (worker >= r->workers)
		r->workers = worker + 1;
	r->packets++;
	r->bytes += bytes;
	/* stamps of several CPUs may be out of order */
	if (stamp_ns < s->last_stamp_ns)
		stamp_ns = s->last_stamp_ns;
	if (s->last_stamp_ns)
		histogram_add(&r->gap, stamp_ns - s->last_stamp_ns);
	s->last_stamp_ns = stamp_ns;
}

static void answer(int fd, enum answer_code code)
{
	struct answer said = { .magic = MAGIC, .code = code };

	/* a peer that does not take it has gone, which is heard of */
	send(fd, &said, sizeof(said), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void session_accept(struct receiver *rx)
{
	struct address from = { .length = sizeof(from.v6) };
	int fd = accept4(rx->senders, &from.any, &from.length, SOCK_NONBLOCK | SOCK_CLOEXEC);
	int room = REPORT_BYTES;

	if (fd < 0)
		return;
	/* the report has to fit, so that a slow sender stops no other */
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room));
	if (session_add(rx, fd, &from))
		return;
	answer(fd, ANSWER_BUSY);
	close(fd);
}

/* What the span from the first to the last packet leaves out. */
static u64 period_of(const struct session *s, u64 span_ns)
{
	if (s->period_ns)
		return s->period_ns;
	return s->received.packets > 1 ? span_ns / (s->received.packets - 1) : 0;
}

/* Numbers that were sent, and after which nothing has come, are lost as well. */
static void add_tails(struct session *s)
{
	struct received *r = &s->received;
	u32 i;

	for (i = 0; i < WORKERS_MAX; i++) {
		u64 sent = s->said.ask.numbered[i], next = r->worker[i].next;

		if (sent <= next)
			continue;
		holes_open(&r->holes, i, next, sent - next, s->last_stamp_ns - s->first_stamp_ns);
		r->worker[i].next = sent;
		if (i >= r->workers)
			r->workers = i + 1;
	}
}

static void finish(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];
	struct received *r = &s->received;
	u64 span = s->last_stamp_ns - s->first_stamp_ns;

	if (s->state == SESSION_ENDS)
		add_tails(s);
	r->elapsed_ns = span + period_of(s, span);
	r->strangers = rx->strangers;
	fates_add(&rx->fates, r);
	rx->ended++;
	if (s->state == SESSION_ENDS &&
	    send(s->fd, r, sizeof(*r), MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof(*r))
		complain("a sender did not take its report");
	if (!rx->one_run)
		report_received(rx->o, s);
	session_drop(rx, i);
}

static bool all_came(const struct session *s)
{
	u32 i;

	for (i = 0; i < WORKERS_MAX; i++)
		if (s->received.worker[i].received < s->said.ask.numbered[i])
			return false;
	return true;
}

static void greet(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];
	const struct hello *hello = &s->said.hello;

	if (hello->magic != MAGIC || hello->version != CONTROL_VERSION) {
		answer(s->fd, ANSWER_VERSION);
		session_drop(rx, i);
		return;
	}
	s->period_ns = hello->period_ns;
	begin_run(rx, s, hello->run);
	s->got = 0;
	memset(&s->said, 0, sizeof(s->said));
	answer(s->fd, ANSWER_READY);
}

static void answer_so_far(const struct session *s)
{
	struct so_far said = { .bytes = s->received.bytes, .lost = lost_of(&s->received) };

	send(s->fd, &said, sizeof(said), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void session_hear(struct receiver *rx, u32 i)
{
	struct session *s = rx->session[i];
	size_t size = s->state == SESSION_HELLO ? sizeof(s->said.hello) : sizeof(s->said.ask);
	ssize_t done = recv(s->fd, (u8 *)&s->said + s->got, size - s->got, 0);

	if (done < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	/* gone, or it speaks out of turn: what came is reported here alone */
	if (done <= 0 || s->state == SESSION_ENDS) {
		if (s->state == SESSION_HELLO) {
			session_drop(rx, i);
			return;
		}
		s->state = SESSION_RUNS;
		complain("a sender went away before the end");
		finish(rx, i);
		return;
	}
	s->got += (size_t)done;
	if (s->got < size)
		return;
	if (s->state == SESSION_HELLO) {
		greet(rx, i);
		return;
	}
	if (!s->said.ask.over) {
		answer_so_far(s);
		s->got = 0;
		return;
	}
	s->state = SESSION_ENDS;
	s->end_ns = rx->now_ns;
	s->last_ns = rx->now_ns;
}

static void tell(struct receiver *rx, struct session *s)
{
	const struct received *r = &s->received;

	if (!s->told_ns) {
		s->told_ns = s->first_stamp_ns;
		s->tell_ns = s->first_stamp_ns + rx->o->interval_ns;
	}
	if (!s->told_ns || rx->now_ns < s->tell_ns)
		return;
	report_on_the_way(rx->o, s, rx->now_ns);
	s->told_ns = rx->now_ns;
	s->told_bytes = r->bytes;
	s->tell_ns += (rx->now_ns - s->tell_ns) / rx->o->interval_ns * rx->o->interval_ns +
		      rx->o->interval_ns;
}

void sessions_tell(struct receiver *rx)
{
	u32 i;

	if (!rx->o->interval_ns || rx->one_run)
		return;
	for (i = 0; i < SESSIONS_MAX; i++)
		if (rx->session[i] && rx->session[i]->state == SESSION_RUNS)
			tell(rx, rx->session[i]);
}

void sessions_end(struct receiver *rx)
{
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = rx->session[i];

		if (!s)
			continue;
		if (s->state == SESSION_HELLO && rx->now_ns - s->last_ns > HELLO_NS)
			session_drop(rx, i);
		else if (s->state == SESSION_ENDS &&
			 (all_came(s) || rx->now_ns - s->last_ns > QUIET_NS ||
			  rx->now_ns - s->end_ns > UNDER_WAY_NS))
			finish(rx, i);
	}
}

bool sessions_talking(const struct receiver *rx)
{
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++)
		if (rx->session[i] && rx->session[i]->fd >= 0)
			return true;
	return false;
}

void sessions_close(struct receiver *rx)
{
	u32 i;

	for (i = 0; i < SESSIONS_MAX; i++) {
		struct session *s = rx->session[i];

		if (s && s->state != SESSION_HELLO)
			finish(rx, i);
		else if (s)
			session_drop(rx, i);
	}
}
