// SPDX-License-Identifier: GPL-2.0
/* send.c - the workers. */
#include <errno.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>

#include "args.h"
#include "clock.h"
#include "memory.h"
#include "pace.h"
#include "tsc.h"
#include "udprate.h"

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

/* Returns the time: @due_ns or later. */
static u64 await(struct pace *pace, u64 due_ns)
{
	u64 now = now_ns(), wake = pace_sleep_until(pace, due_ns);

	if (now < wake) {
		sleep_until_ns(wake);
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
	u32 i;

	transmit(&w->transmitter, b, &w->header, start + b->begin_ns);
	w->header.number += b->packets;
	sent->packets += b->packets;
	sent->bytes += (u64)b->packets * b->size;
	/* what is late at the very end belongs to the last second */
	if (second >= w->run->seconds)
		second = w->run->seconds - 1;
	sent->second[second] += (u64)b->packets * b->size;
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
	struct pace pace;
	struct batch b;

	pace_init(&pace, o->spin_set ? o->spin_ns : pace_auto_spin(schedule_period(schedule)));
	while (schedule_next(schedule, &b)) {
		u64 due = start + (ahead ? b.begin_ns : b.due_ns) - ahead;

		now = await(&pace, due);
		if (now > w->stop_ns + GRACE_NS) {
			w->sent->skipped += b.packets;
			continue;
		}
		histogram_add(&w->sent->late, now - due);
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
		if (now >= w->stop_ns)
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
	w.sent->refused = w.transmitter.refused;
	w.sent->failed = w.transmitter.failed;
	transmit_close(&w.transmitter);
	return EXIT_GOOD;
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
	if (crew_reap(&crew, o->time_ns + WAIT_NS))
		die(EXIT_FAILED, "a worker failed");
	crew_destroy(&crew);
	/* the last batch goes out a little before the end */
	sleep_until_ns(run->start_ns + o->time_ns);
}
