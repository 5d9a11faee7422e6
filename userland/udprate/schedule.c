// SPDX-License-Identifier: GPL-2.0
/* schedule.c - what a worker sends when. */
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
