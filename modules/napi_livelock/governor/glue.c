// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receive governor between NAPI and its decisions.
 *
 * Locking: the state of an instance belongs to the owner of its NAPI_STATE_SCHED, except
 * for its mode, which is set under RTNL. That of a CPU is changed on that CPU with
 * softirqs off. The timer only reads.
 */

#include <kunit/visibility.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/sched/clock.h>
#include <linux/sched/rt.h>
#include <linux/sched/stat.h>
#include <net/sock.h>

#include <linux/rxgov/governor.h>

#include "compat.h"
#include "cost.h"
#include "decide.h"
#include "hot.h"
#include "trace.h"

/* The least time a backlog waits, and the time between two tests. */
#define RXGOV_BACKLOG_MIN_NS	(50 * NSEC_PER_USEC)
#define RXGOV_BACKLOG_LOOK_NS	NSEC_PER_MSEC

DEFINE_STATIC_KEY_FALSE(rxgov_key);
EXPORT_SYMBOL_IF_KUNIT(rxgov_key);

/*
 * The account of a CPU's governed instances; @counted: the frames of the running poll are
 * counted; @alone: one task was runnable when the round began, before it woke readers.
 */
struct rxgov_cpu {
	struct rxgov_cost cost;
	bool counted;
	bool alone;
};

DEFINE_PER_CPU(struct napi_struct *, rxgov_polls);
static DEFINE_PER_CPU(struct rxgov_cpu, rxgov_cpu);

static const struct rxgov_params *rxgov_params_of(const struct napi_struct *n)
{
	/* The backlog of a CPU has no device, and no mode but off: see rxgov_backlog_waits(). */
	return READ_ONCE(n->governed.mode) ? &n->dev->governor : NULL;
}

/* The CPU is idle, or runs a task that yields to all others. */
static bool rxgov_is_free(void)
{
	return is_idle_task(current) || current->policy == SCHED_IDLE;
}

/* The handler of some cards, of all with threadirqs, is a thread: its softirq is executed there. */
static bool rxgov_is_irq_thread(void)
{
	return current->flags & PF_KTHREAD && rt_task(current);
}

/* Does another task than receiving want the CPU? */
static bool rxgov_is_wanted(const struct rxgov_cpu *cpu, const struct napi_struct *n)
{
	if (current == n->thread || current == this_cpu_ksoftirqd() || rxgov_is_irq_thread())
		return !cpu->alone;
	return !rxgov_is_free();
}

/* See rxgov_poll_begin(). */
void __rxgov_poll_begin(struct napi_struct *n)
{
	unsigned int mode = READ_ONCE(n->governed.mode);
	const struct rxgov_params *p;

	if (mode != n->governed.governing)
		rxgov_set_mode(&n->governed, mode);
	if (!mode) {
		if (!n->dev) {
			n->governed.began = local_clock();
			this_cpu_write(rxgov_cpu.alone, single_task_running());
		}
		return;
	}
	p = &n->dev->governor;
	if (READ_ONCE(rxgov_hot_nr) && !rxgov_hot_begin(READ_ONCE(p->low)))
		n->governed.weight = 0;
	this_cpu_write(rxgov_polls, n);
	this_cpu_write(rxgov_cpu.counted, false);
	n->governed.began = local_clock();
	if (!n->governed.work) {
		n->governed.round_began = n->governed.began;
		this_cpu_write(rxgov_cpu.alone, single_task_running());
	}
}

static void rxgov_charge(struct rxgov_cpu *cpu, struct napi_struct *n, u64 now, unsigned int limit)
{
	if ((s64)(now - n->governed.began) > 0)
		rxgov_cost_charge(&cpu->cost, now, now - n->governed.began, limit);
	n->governed.began = now;
}

/* What is known at the end of a round. */
static struct rxgov_seen rxgov_look(struct rxgov_cpu *cpu, struct napi_struct *n,
				    unsigned int limit)
{
	struct rxgov_seen seen = {
		.now = local_clock(),
		.wanted = rxgov_is_wanted(cpu, n),
	};

	rxgov_charge(cpu, n, seen.now, limit);
	if (!seen.wanted)
		rxgov_cost_clear(&cpu->cost, seen.now);
	seen.deficit = rxgov_cost_deficit(&cpu->cost, seen.now);
	return seen;
}

/* See rxgov_round_over(). */
bool __rxgov_round_over(struct napi_struct *n, int work)
{
	struct rxgov_cpu *cpu = this_cpu_ptr(&rxgov_cpu);
	const struct rxgov_params *p = rxgov_params_of(n);
	u64 began = n->governed.began;
	struct rxgov_seen seen;

	if (!p || this_cpu_read(rxgov_polls) != n)
		return false;
	seen = rxgov_look(cpu, n, READ_ONCE(p->limit));
	if (work >= n->weight)
		rxgov_note_poll(&n->governed, seen.now - began);
	rxgov_count(&n->governed, work, seen.now);
	cpu->counted = true;
	return seen.wanted && (seen.deficit || rxgov_round_is_full(&n->governed, p, seen.now) ||
			       rxgov_is_hot(&n->governed, seen.now));
}

/* See rxgov_next_round(). */
u64 __rxgov_next_round(struct napi_struct *n)
{
	struct rxgov_cpu *cpu = this_cpu_ptr(&rxgov_cpu);
	const struct rxgov_params *p = rxgov_params_of(n);
	u64 switches = n->governed.switches, delay;
	struct rxgov_seen seen;

	/* Not in busy polling, nor by netpoll. */
	if (!p || this_cpu_read(rxgov_polls) != n)
		return 0;
	/* No other task wants the CPU, now or recently: there is nothing to decide. */
	if (n->governed.governing == RXGOV_AUTO && rxgov_is_free() &&
	    rxgov_is_at_rest(&n->governed)) {
		rxgov_rest(&n->governed);
		return 0;
	}
	seen = rxgov_look(cpu, n, READ_ONCE(p->limit));
	if (!cpu->counted)
		rxgov_count(&n->governed, n->governed.handed, seen.now);
	delay = rxgov_decide(&n->governed, p, &seen);
	if (n->governed.switches != switches)
		trace_rxgov_switch(n, delay);
	return delay;
}

/* See rxgov_wait_on(). In the interrupt of the timer. */
bool __rxgov_wait_on(struct napi_struct *n)
{
	const struct rxgov_params *p = rxgov_params_of(n);
	enum rxgov_why why = READ_ONCE(n->governed.why);
	u64 now, delay;

	if (!p || (why != RXGOV_WHY_HOT && why != RXGOV_WHY_LIMIT) || napi_disable_pending(n) ||
	    rxgov_is_free())
		return false;
	now = local_clock();
	if (now >= READ_ONCE(n->governed.not_before) && rxgov_hot_any_cold(READ_ONCE(p->low)))
		return false;
	delay = rxgov_wait_ns(&n->governed, p, now);
	/* Not forwarded: the present owner of the instance may have started it. */
	if (delay)
		hrtimer_start(&n->timer, ns_to_ktime(delay), HRTIMER_MODE_REL_PINNED);
	return delay;
}

/* See rxgov_refuse(). */
bool __rxgov_refuse(struct sk_buff *skb)
{
	struct napi_struct *n = this_cpu_read(rxgov_polls);
	bool full;

	if (!n)
		return false;
	if (!rxgov_hot_is_for(skb, &full)) {
		n->governed.other++;
		return false;
	}
	n->governed.hot++;
	if (!full)
		return false;
	n->governed.dropped++;
	rxgov_note_full(&n->governed);
	return true;
}

/* See rxgov_filled(). The mark is that of the device; on the CPU of a backlog the default. */
void __rxgov_filled(struct sock *sk)
{
	struct napi_struct *n = this_cpu_read(rxgov_polls);
	unsigned int high;

	/* Most frames of a flood are for a known socket. */
	if (n && rxgov_hot_is_last(sk))
		return;
	high = n ? rxgov_high_mark(&n->governed, &n->dev->governor) : RXGOV_HIGH_DEFAULT;
	if (100 * (u64)atomic_read(&sk->sk_rmem_alloc) >= (u64)high * READ_ONCE(sk->sk_rcvbuf))
		rxgov_hot_add(sk);
}

/*
 * See rxgov_refused(). If a copy of a frame is refused, the other receivers are unknown. A socket
 * that is never hot, of a group or a tunnel, would not open the card when it has room again.
 */
void __rxgov_refused(struct sock *sk, const struct sk_buff *skb)
{
	struct napi_struct *n = this_cpu_read(rxgov_polls);

	if (!n || skb->pkt_type != PACKET_HOST)
		return;
	rxgov_note_full(&n->governed);
	if (sk)
		__rxgov_filled(sk);
	if (!sk || READ_ONCE(rxgov_hot_nr))
		n->governed.hot++;
}

/* The CPU may become free meanwhile: test again after a while. */
static ktime_t rxgov_backlog_wait(u64 deficit)
{
	return ns_to_ktime(clamp(deficit, RXGOV_BACKLOG_MIN_NS, RXGOV_BACKLOG_LOOK_NS));
}

/*
 * The backlog of a CPU holds frames from other CPUs (RPS) and from itself. It has no
 * interrupt that could be masked: the CPU that queues a frame schedules it. So the only
 * decision is whether it has to wait for the deficit of receiving here. Frames that find it
 * full meanwhile cost the sending CPU.
 */
bool __rxgov_backlog_waits(struct napi_struct *n, unsigned int limit)
{
	struct rxgov_seen seen;

	/*
	 * A thread competes like others; and a poll before the key was on has no recorded
	 * begin.
	 */
	if (n->thread || !n->governed.began)
		return false;
	seen = rxgov_look(this_cpu_ptr(&rxgov_cpu), n, limit);
	n->governed.began = 0;
	if (!seen.deficit || !seen.wanted)
		return false;
	n->governed.why = RXGOV_WHY_LIMIT;
	n->governed.rounds[RXGOV_WHY_LIMIT]++;
	trace_rxgov_backlog(smp_processor_id(), seen.deficit);
	hrtimer_start(&n->timer, rxgov_backlog_wait(seen.deficit), HRTIMER_MODE_REL_PINNED);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(__rxgov_backlog_waits);

/* In the interrupt of the timer, which is on another CPU when that of @n is offline. */
static enum hrtimer_restart rxgov_backlog_timer(struct hrtimer *timer)
{
	struct napi_struct *n = container_of(timer, struct napi_struct, timer);
	u64 deficit;

	if (n != this_cpu_ptr(&softnet_data.backlog))
		return HRTIMER_NORESTART;
	deficit = rxgov_cost_deficit(this_cpu_ptr(&rxgov_cpu.cost), local_clock());
	if (deficit && !rxgov_is_free()) {
		hrtimer_forward_now(timer, rxgov_backlog_wait(deficit));
		return HRTIMER_RESTART;
	}
	n->governed.why = RXGOV_WHY_NONE;
	__napi_schedule_irqoff(n);
	return HRTIMER_NORESTART;
}

/* Prepare the backlog of a CPU for waiting. */
void __init rxgov_backlog_init(struct napi_struct *n)
{
	hrtimer_setup(&n->timer, rxgov_backlog_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED);
}
