// SPDX-License-Identifier: GPL-2.0
/* schedule.c - what a worker sends when. */
#include <string.h>

#include "schedule.h"

/* The worker's bytes per packet of a batch in all of @batches, a rest carried over. */
static u64 bytes_until(const struct schedule *s, u64 batches)
{
	return (u64)((__uint128_t)batches * s->plan.bytes_per_s /
		     ((__uint128_t)s->per_s * s->plan.workers * s->packets));
}

static u64 divide_up(u64 a, u64 b)
{
	return (a + b - 1) / b;
}

static u32 batch_limit(u32 size)
{
	u32 limit = BATCH_BYTES_MAX / size;

	return limit < BATCH_MAX ? limit : BATCH_MAX;
}

/* Nanoseconds of a worker's packet if all of them are of full size. */
static u64 full_gap(const struct plan *plan)
{
	return (u64)((__uint128_t)plan->size * plan->workers * NSEC_PER_SEC / plan->bytes_per_s);
}

static struct nll_rate_params shape_of(const struct plan *plan)
{
	struct nll_rate_params rate = plan->rate;

	rate.packets = plan->bytes_per_s;
	rate.per_ns = plan->size * plan->workers * NSEC_PER_SEC;
	return rate;
}

const char *schedule_fault(const struct plan *plan)
{
	struct nll_rate_params rate;

	if (plan->bytes_per_s / plan->workers < PACKET_MIN)
		return "rate: allowed are 64 bytes a second and worker, and more";
	if (full_gap(plan) < NLL_RATE_GAP_MIN_NS)
		return "rate: allowed is a packet of each worker every 10 ns, and less";
	rate = shape_of(plan);
	return rate.shape == NLL_RATE_CONSTANT ? NULL : nll_rate_fault(&rate);
}

/* As many batches a second as the quantum allows, and whole ones. */
static void divide_seconds(struct schedule *s)
{
	const struct plan *plan = &s->plan;
	u64 gap = full_gap(plan), packets = 1, share;

	if (gap < plan->quantum_ns)
		packets = divide_up(plan->quantum_ns, gap);
	if (packets > batch_limit(plan->size))
		packets = batch_limit(plan->size);
	share = (u64)plan->size * plan->workers * packets;
	s->per_s = divide_up(plan->bytes_per_s, share);
	s->packets = (u32)packets;
}

void schedule_init(struct schedule *s, const struct plan *plan)
{
	struct nll_rate_params rate = shape_of(plan);

	*s = (struct schedule){ .plan = *plan };
	if (rate.shape == NLL_RATE_CONSTANT) {
		divide_seconds(s);
		return;
	}
	rate.seed += plan->worker;
	nll_rate_init(&s->rate, &rate);
	s->next_ns = nll_rate_next(&s->rate);
}

u64 schedule_full_gap(const struct schedule *s)
{
	return full_gap(&s->plan);
}

u64 schedule_period(const struct schedule *s)
{
	u64 gap = full_gap(&s->plan);

	if (s->plan.rate.shape == NLL_RATE_CONSTANT)
		return NSEC_PER_SEC / s->per_s;
	return gap > s->plan.quantum_ns ? gap : s->plan.quantum_ns;
}

/* A second's @part of @parts, plus whole seconds. */
static u64 time_of(u64 part, u64 parts)
{
	return part / parts * NSEC_PER_SEC +
	       (u64)((__uint128_t)(part % parts) * NSEC_PER_SEC / parts);
}

static bool next_constant(struct schedule *s, struct batch *b)
{
	u64 parts = 2 * s->per_s * s->plan.workers;
	u64 place = 2 * s->batch * s->plan.workers + 2 * s->plan.worker;

	/* workers take turns, each with the middle of its turn */
	b->due_ns = time_of(place + 1, parts);
	if (b->due_ns >= s->plan.stop_ns)
		return false;
	b->begin_ns = time_of(2 * s->batch, 2 * s->per_s);
	b->packets = s->packets;
	b->gap_ns = NSEC_PER_SEC / s->per_s / s->packets;
	b->size = (u32)(bytes_until(s, s->batch + 1) - bytes_until(s, s->batch));
	s->batch++;
	return true;
}

static bool next_shaped(struct schedule *s, struct batch *b)
{
	u64 end = s->next_ns + s->plan.quantum_ns;
	u32 limit = batch_limit(s->plan.size);

	if (s->next_ns >= s->plan.stop_ns)
		return false;
	if (end > s->plan.stop_ns)
		end = s->plan.stop_ns;
	*b = (struct batch){ .begin_ns = s->next_ns };
	do {
		b->due_ns = s->next_ns;
		b->packets++;
		s->next_ns += nll_rate_next(&s->rate);
	} while (s->next_ns < end && b->packets < limit);
	b->size = s->plan.size;
	b->gap_ns = b->packets > 1 ? (b->due_ns - b->begin_ns) / (b->packets - 1) : 0;
	return true;
}

u64 schedule_bytes(const struct schedule *s)
{
	u64 workers = s->plan.workers, turns = 2 * workers;
	/* in half turns, as in next_constant(): up to and without this one */
	u64 end = (u64)(((__uint128_t)s->plan.stop_ns * s->per_s * turns + NSEC_PER_SEC - 1) /
			NSEC_PER_SEC);
	u64 bytes = 0, i;

	for (i = 0; i < workers; i++)
		bytes += s->packets * bytes_until(s, (end + 2 * (workers - i) - 2) / turns);
	return bytes;
}

bool schedule_next(struct schedule *s, struct batch *batch)
{
	if (s->plan.rate.shape == NLL_RATE_CONSTANT)
		return next_constant(s, batch);
	return next_shaped(s, batch);
}

/* When to go to sleep until, so as to be awake in time. */

/* Nine of ten deadlines shall be met: a miss weighs nine times a hit. */
#define STEP_NS		100U
#define MISS_WEIGHT	9U

void pace_init(struct pace *p, u64 spin_ns)
{
	*p = (struct pace){ .spin_ns = spin_ns };
}

u64 pace_auto_spin(u64 period_ns)
{
	u64 part = period_ns / SPIN_AUTO_PART;

	return part < SPIN_AUTO_NS ? part : SPIN_AUTO_NS;
}

u64 pace_sleep_until(struct pace *p, u64 due_ns)
{
	p->woken_ns = due_ns > p->early_ns ? due_ns - p->early_ns : 0;
	return p->woken_ns;
}

/* The quantile of the wake-up's delay that is missed as seldom as wanted. */
void pace_woke(struct pace *p, u64 now_ns)
{
	u64 late = now_ns > p->woken_ns ? now_ns - p->woken_ns : 0;

	if (late > p->early_ns)
		p->early_ns += MISS_WEIGHT * STEP_NS;
	else
		p->early_ns -= p->early_ns < STEP_NS ? p->early_ns : STEP_NS;
	if (p->early_ns > p->spin_ns)
		p->early_ns = p->spin_ns;
}

/* What became of numbered packets on their way. */

static void forget(struct window *w, u64 from, u64 until)
{
	if (until - from >= SEQUENCE_WINDOW) {
		memset(w, 0, sizeof(*w));
		return;
	}
	for (; from < until; from++)
		w->seen[from / 64 % ARRAY_SIZE(w->seen)] &= ~(1ULL << from % 64);
}

/* Whether it has come before. */
static bool note(struct window *w, u64 number)
{
	u64 *word = &w->seen[number / 64 % ARRAY_SIZE(w->seen)], bit = 1ULL << number % 64;
	bool before = *word & bit;

	*word |= bit;
	return before;
}

bool sequence_see(struct sequence *s, struct window *w, u64 number)
{
	bool newest = number >= s->next, old = !newest && s->next - number > SEQUENCE_WINDOW;

	if (newest) {
		forget(w, s->next, number + 1);
		s->next = number + 1;
	}
	if (!old && note(w, number)) {
		s->duplicates++;
		return false;
	}
	s->late += !newest;
	s->received += !old;
	return !old;
}

u64 sequence_lost(const struct sequence *s)
{
	return s->next > s->received ? s->next - s->received : 0;
}

/* Where packets are missing. */

void holes_open(struct holes *h, u32 worker, u64 first, u64 size, u64 at_ns)
{
	if (h->count == HOLES_MAX) {
		h->unnamed++;
		return;
	}
	h->hole[h->count++] = (struct hole){
		.first = first, .size = size, .missing = size, .at_ns = at_ns, .worker = worker,
	};
}

void holes_fill(struct holes *h, u32 worker, u64 number)
{
	u32 i;

	for (i = 0; i < h->count; i++) {
		struct hole *hole = &h->hole[i];

		if (hole->worker != worker || number - hole->first >= hole->size)
			continue;
		if (--hole->missing)
			return;
		/* the order of the others is that of their times */
		for (h->count--; i < h->count; i++)
			h->hole[i] = h->hole[i + 1];
		return;
	}
}

/* A clock that may be set, against CLOCK_MONOTONIC. */

/* A clock may show less than CLOCK_MONOTONIC: it counts modulo 2^64. */
static u64 clamp(u64 value, u64 low, u64 high)
{
	if ((s64)(value - low) < 0)
		return low;
	return (s64)(value - high) > 0 ? high : value;
}

void wall_learn(struct wall *w, u64 before_ns, u64 wall_ns, u64 after_ns)
{
	w->ahead_ns = clamp(w->ahead_ns, wall_ns - after_ns, wall_ns - before_ns);
}

u64 wall_time(const struct wall *w, u64 wall_ns, u64 earliest_ns, u64 latest_ns)
{
	return clamp(wall_ns - w->ahead_ns, earliest_ns, latest_ns);
}
