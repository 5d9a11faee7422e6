// SPDX-License-Identifier: GPL-2.0-only
/* shoot.c - the timer that sends what is due. */
#include <linux/io.h>

#include "../compat.h"
#include "source.h"

/* All frames of a shot are on the wire when the tail has been written. */
#define SHOT_MAX	(NLL_SLOTS - 1U)

static void begin_window(struct nll_source *s)
{
	unsigned int i;

	s->windowed = true;
	s->before = s->effort;
	for (i = 0; i < s->targets; i++)
		s->target[i].before = s->target[i].total;
}

static bool is_due(const struct nll_source *s, const struct nll_target *t, u64 now)
{
	return t->next_ns <= now && t->next_ns < s->end_ns;
}

static void hand_out(struct nll_source *s, struct nll_device *dev)
{
	writel(dev->tail, dev->regs + NLL_TDT);
	if (readl(dev->regs + NLL_TDH) != dev->tail)
		s->effort.busy++;
}

static void count(struct nll_target *t, unsigned int sent, u64 tail)
{
	t->seq += sent + tail;
	t->total.due += sent + tail;
	t->total.sent += sent;
	t->total.tail += tail;
	if (sent)
		t->full = false;
	if (tail && !t->full)
		t->total.full++;
	t->full |= tail > 0;
}

/* A frame that the receiver has no room for is lost, and should cost as little as possible. */
static void shoot_at(struct nll_source *s, struct nll_target *t, u64 now)
{
	u64 last = min(now, s->end_ns - 1), next = t->next_ns, tail = 0, seq = t->seq;
	unsigned int room = min(nll_target_room(t), SHOT_MAX), sent = 0;

	if (now - next > s->effort.late_max_ns)
		s->effort.late_max_ns = now - next;
	for (; next <= last && sent < room; next += nll_rate_next(&t->rate)) {
		nll_frame_put(&s->config, t, seq + sent, now);
		sent++;
	}
	/* more than a ring at once are still due: the next shot sends them */
	if (sent < SHOT_MAX)
		tail = nll_rate_skip(&t->rate, &next, last);
	t->next_ns = next;
	count(t, sent, tail);
	if (sent)
		hand_out(s, t->dev);
}

/* The time of the next shot, 0 at the end. */
static u64 next_shot(struct nll_source *s, u64 now)
{
	u64 next = s->end_ns;
	unsigned int i;

	if (s->state == NLL_LAG) {
		s->state = NLL_DONE;
		return 0;
	}
	for (i = 0; i < s->targets; i++)
		next = min(next, s->target[i].next_ns);
	if (now >= s->end_ns) {
		s->state = NLL_LAG;
		return s->end_ns + s->config.lag_ms * (u64)NSEC_PER_MSEC;
	}
	return max(next, now + s->config.tick_ns);
}

static enum hrtimer_restart shoot(struct hrtimer *timer)
{
	struct nll_source *s = container_of(timer, struct nll_source, timer);
	u64 now = ktime_get_ns(), next;
	unsigned int i;

	spin_lock(&s->lock);
	if (!s->windowed && now >= s->window_ns)
		begin_window(s);
	for (i = 0; i < s->targets; i++)
		if (is_due(s, &s->target[i], now))
			shoot_at(s, &s->target[i], now);
	next = next_shot(s, now);
	s->effort.shots++;
	s->effort.timer_ns += ktime_get_ns() - now;
	spin_unlock(&s->lock);
	if (!next)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(next));
	return HRTIMER_RESTART;
}

/* Prepare the timer. */
void nll_shoot_init(struct nll_source *s)
{
	hrtimer_setup(&s->timer, shoot, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_PINNED);
}

/* Targets begin one after the other, so that their frames do not meet. */
static int prepare(struct nll_source *s, struct nll_target *t, u64 start_ns)
{
	struct nll_rate_params rate = s->config.rate;
	u64 gap = div64_u64(rate.per_ns, rate.packets);
	int error;

	rate.seed += t->index;
	error = nll_rate_init(&t->rate, &rate);
	if (error)
		return error;
	t->seq = 0;
	t->full = false;
	t->total = (struct nll_counts){ };
	t->before = (struct nll_counts){ };
	t->next_ns = start_ns + div64_u64(gap * t->index, s->targets) + nll_rate_next(&t->rate);
	nll_frame_build(&s->config, t);
	return 0;
}

/*
 * Begin a run; the mutex is held. Return: 0, or -EINVAL without a target or if the start
 * is past.
 */
int nll_shoot_start(struct nll_source *s)
{
	u64 now = ktime_get_ns(), start_ns = s->config.start_ns ?: now;
	unsigned int i;
	int error;

	if (!s->targets || start_ns < now)
		return -EINVAL;
	for (i = 0; i < s->targets; i++) {
		error = prepare(s, &s->target[i], start_ns);
		if (error)
			return error;
	}
	s->windowed = false;
	s->window_ns = start_ns + s->config.warmup_ms * (u64)NSEC_PER_MSEC;
	s->end_ns = start_ns + s->config.duration_ns;
	s->effort = (struct nll_effort){ };
	s->before = (struct nll_effort){ };
	s->state = NLL_RUNNING;
	hrtimer_start(&s->timer, ns_to_ktime(start_ns), HRTIMER_MODE_ABS_PINNED);
	return 0;
}

/* End a run before its time. */
void nll_shoot_stop(struct nll_source *s)
{
	hrtimer_cancel(&s->timer);
	if (s->state == NLL_RUNNING || s->state == NLL_LAG)
		s->state = NLL_DONE;
}
