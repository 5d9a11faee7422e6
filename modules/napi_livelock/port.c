// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port: up and down, its interrupts, NAPI, and the switch between them.
 *
 * Under the port's lock the following holds at all times: receive interrupts
 * are enabled if, and only if, the port is up, is not polled, and its NAPI is
 * not scheduled; and the port is in the poller's list if, and only if, it is up
 * and polled. After they were enabled the ring is looked into: what came
 * before raises no interrupt if its cause has been read meanwhile.
 */

#include <linux/interrupt.h>
#include <linux/percpu.h>
#include <linux/rtnetlink.h>
#include <linux/sched/clock.h>

#include "nll.h"
#include "trace.h"

/* All ports on a CPU share its window: it is the CPU's time that is limited. */
static DEFINE_PER_CPU(struct nll_window, nll_windows);

const char * const nll_mode_names[NLL_MODES] = {
	[NLL_INTERRUPT] = "interrupt",
	[NLL_POLL] = "poll",
	[NLL_NAPI] = "napi",
	[NLL_HYBRID] = "hybrid",
};

/**
 * nll_charge() - count time spent with receiving on this CPU
 * @now: when it ended, by local_clock()
 * @ns: how long it was
 */
void nll_charge(u64 now, u64 ns)
{
	unsigned long flags;

	local_irq_save(flags);
	nll_window_charge(this_cpu_ptr(&nll_windows), now, ns);
	local_irq_restore(flags);
}

/* Interrupts are off. */
static bool nll_port_over_limit(struct nll_port *port, u64 now, u64 ahead)
{
	return !nll_window_open(this_cpu_ptr(&nll_windows), now, port->params.limit, ahead);
}

/**
 * nll_port_held() - what the stack has of a port
 * @port: whose lock is held
 *
 * Return: small buffers, or as many as would take the same memory.
 */
unsigned int nll_port_held(struct nll_port *port)
{
	lockdep_assert_held(&port->lock);
	return nll_pool_out(&port->small) + NLL_LARGE_COUNTS * nll_pool_out(&port->large);
}

static bool nll_port_by_napi(struct nll_port *port)
{
	return port->strategy.mode == NLL_NAPI ||
	       (port->strategy.mode == NLL_HYBRID && !port->strategy.polling);
}

/* Receive in the way that the strategy says. The port is up. */
static void nll_port_begin(struct nll_port *port)
{
	lockdep_assert_held(&port->lock);
	port->waits = false;
	if (port->strategy.polling) {
		nll_polled_add(port);
		return;
	}
	nll_write(port, NLL_IMS, NLL_INT_RX);
	if (nll_rx_filled(port, 1))
		nll_write(port, NLL_ICS, NLL_INT_RXT0);
}

/* Do not receive. */
static void nll_port_end(struct nll_port *port)
{
	lockdep_assert_held(&port->lock);
	nll_write(port, NLL_IMC, NLL_INT_RX);
	nll_polled_remove(port);
}

static void nll_port_sample(struct nll_port *port, u64 now, struct nll_sample *sample)
{
	const struct nll_params *params = &port->params;
	unsigned int held = 100 * nll_port_held(port);
	unsigned int count = port->rx.count;

	sample->now = now;
	sample->drops = port->drops;
	sample->held_high = port->rx.stuck || held >= params->high * params->buffers;
	sample->ring_high = nll_rx_filled(port, params->high * count / 100);
	sample->over_limit = nll_port_over_limit(port, now, NLL_WINDOW_NS);
	sample->calm = port->strategy.polling && held <= params->low * params->buffers &&
		       !nll_rx_filled(port, params->low * count / 100);
}

/* Look at the port, and switch if that is due. The port is up. */
static void nll_port_step(struct nll_port *port, u64 now)
{
	u64 hold = port->params.hold_us * (u64)NSEC_PER_USEC;
	struct nll_sample sample;
	enum nll_reason reason;

	lockdep_assert_held(&port->lock);
	nll_port_sample(port, now, &sample);
	reason = nll_strategy_step(&port->strategy, &sample, hold);
	if (reason == NLL_STAY)
		return;
	nll_port_end(port);
	port->drops = 0;
	port->counters.switches[reason]++;
	trace_nll_switch(port, reason);
	nll_port_begin(port);
}

/* Frames that the stack dropped so far on this CPU, instead of handing them on. */
static unsigned long nll_port_drops(struct nll_port *port)
{
	struct net_device_core_stats __percpu *stats = READ_ONCE(port->netdev->core_stats);

	return stats ? this_cpu_read(stats->rx_dropped) : 0;
}

/*
 * Give frames to the stack. Returns how many of them it dropped at once. As long
 * as there is little to do they come one by one, and a list would only be a
 * detour on the way to the application.
 */
static unsigned long nll_port_deliver(struct nll_port *port, struct list_head *frames)
{
	unsigned long before = nll_port_drops(port);

	if (list_is_singular(frames)) {
		struct sk_buff *skb = list_first_entry(frames, struct sk_buff, list);

		skb_list_del_init(skb);
		netif_receive_skb(skb);
	} else {
		netif_receive_skb_list(frames);
	}
	return nll_port_drops(port) - before;
}

/* The ordinary way, frame by frame. */
static void nll_port_deliver_gro(struct napi_struct *napi, struct list_head *frames)
{
	struct sk_buff *skb, *next;

	list_for_each_entry_safe(skb, next, frames, list) {
		skb_list_del_init(skb);
		napi_gro_receive(napi, skb);
	}
}

/* Without NAPI: the stack's backlog takes frames, or does not. */
static void nll_port_interrupt(struct nll_port *port)
{
	struct sk_buff *skb, *next;
	unsigned int drops = 0;
	unsigned long flags;
	LIST_HEAD(frames);

	spin_lock_irqsave(&port->lock, flags);
	if (port->up && port->strategy.mode == NLL_INTERRUPT)
		nll_rx_collect(port, &frames, port->rx.count, false);
	spin_unlock_irqrestore(&port->lock, flags);

	list_for_each_entry_safe(skb, next, &frames, list) {
		skb_list_del_init(skb);
		drops += netif_rx(skb) == NET_RX_DROP;
	}
	if (!drops)
		return;
	spin_lock_irqsave(&port->lock, flags);
	port->counters.backlog_drops += drops;
	spin_unlock_irqrestore(&port->lock, flags);
}

/*
 * Whether NAPI is to be scheduled, by the caller. Only with the lock: a change to
 * plain interrupts between the look at the mode and the mask would leave them
 * masked for good.
 */
static bool nll_port_claim(struct nll_port *port)
{
	unsigned long flags;
	bool claimed;

	spin_lock_irqsave(&port->lock, flags);
	claimed = port->up && nll_port_by_napi(port) && napi_schedule_prep(&port->napi);
	if (claimed && port->strategy.mode == NLL_HYBRID) {
		port->irq_began = local_clock();
		port->irq_task = current;
	}
	if (claimed)
		nll_write(port, NLL_IMC, NLL_INT_RX);
	spin_unlock_irqrestore(&port->lock, flags);
	return claimed;
}

static irqreturn_t nll_port_irq(int irq, void *data)
{
	struct nll_port *port = data;
	u32 causes;

	causes = nll_read(port, NLL_ICR);
	if (!causes)
		return IRQ_NONE;
	if (!READ_ONCE(port->up))
		return IRQ_HANDLED;
	if (causes & NLL_INT_LSC)
		nll_port_carrier(port);
	if (causes & NLL_INT_TXDW)
		napi_schedule(&port->tx_napi);
	if (!(causes & NLL_INT_RX))
		return IRQ_HANDLED;

	/* Only here, and never twice at a time. */
	port->counters.interrupts++;
	if (READ_ONCE(port->strategy.mode) == NLL_INTERRUPT)
		nll_port_interrupt(port);
	else if (nll_port_claim(port))
		__napi_schedule(&port->napi);
	return IRQ_HANDLED;
}

/* What it cost to deliver frames. */
static void nll_port_account(struct nll_port *port, u64 now, u64 ns, unsigned long drops)
{
	lockdep_assert_held(&port->lock);
	nll_window_charge(this_cpu_ptr(&nll_windows), now, ns);
	port->counters.rx_ns += ns;
	port->counters.backlog_drops += drops;
	port->drops += drops;
}

/*
 * Since when NAPI has worked for a hybrid port. The interrupt's time counts, but
 * not how long a thread waited for the CPU to go on with it: nothing came between
 * if this still interrupts the same task.
 */
static u64 nll_port_began(struct nll_port *port)
{
	struct task_struct *task = port->irq_task;

	port->irq_task = NULL;
	return task == current ? port->irq_began : local_clock();
}

static int nll_port_napi_poll(struct napi_struct *napi, int budget)
{
	struct nll_port *port = container_of(napi, struct nll_port, napi);
	bool hybrid = READ_ONCE(port->strategy.mode) == NLL_HYBRID;
	u64 began = hybrid ? nll_port_began(port) : 0;
	unsigned long drops = 0;
	bool complete = false;
	unsigned long flags;
	LIST_HEAD(frames);
	int done = 0;

	spin_lock_irqsave(&port->lock, flags);
	if (port->up && nll_port_by_napi(port)) {
		done = nll_rx_collect(port, &frames, budget, true);
		port->counters.polls++;
	}
	spin_unlock_irqrestore(&port->lock, flags);

	if (hybrid)
		drops = nll_port_deliver(port, &frames);
	else
		nll_port_deliver_gro(napi, &frames);
	if (done < budget)
		complete = napi_complete_done(napi, done);

	spin_lock_irqsave(&port->lock, flags);
	if (hybrid) {
		u64 now = local_clock();

		nll_port_account(port, now, now - began, drops);
		if (port->up)
			nll_port_step(port, now);
	}
	if (complete && port->up && nll_port_by_napi(port))
		nll_write(port, NLL_IMS, NLL_INT_RX);
	spin_unlock_irqrestore(&port->lock, flags);
	return done;
}

/*
 * Once applications are behind, nothing is taken until they have caught up: to
 * top their buffers up while they run would take the time from their slices.
 */
static bool nll_port_waits(struct nll_port *port)
{
	const struct nll_params *params = &port->params;

	if (!port->waits)
		return false;
	if (100 * nll_port_held(port) <= params->low * params->buffers ||
	    time_after(jiffies, port->waits_since + msecs_to_jiffies(NLL_POOL_STALE_MS)))
		port->waits = false;
	return port->waits;
}

/*
 * How many frames a port may take now. One whose limit is below what others use
 * up must not starve: a few in every window it always gets.
 */
static unsigned int nll_port_allowed(struct nll_port *port, u64 now, u64 interval)
{
	bool limited = nll_port_over_limit(port, now, interval);
	u64 window = this_cpu_ptr(&nll_windows)->start;
	unsigned int quota = port->params.quota;

	if (!port->is_polled || nll_port_waits(port))
		return 0;
	port->counters.limited += limited;
	if (limited)
		quota = port->fed == window ? 0 : min(quota, NLL_QUOTA_LEAST);
	port->fed = window;
	return quota;
}

/**
 * nll_port_round() - a port's turn in a round of polling
 * @port: that was in the poller's list when the round began
 * @interval: from one round to the next, ns
 *
 * Return: there may be more frames, and time for them.
 */
bool nll_port_round(struct nll_port *port, u64 interval)
{
	u64 now = local_clock(), began;
	unsigned int quota, done = 0;
	unsigned long flags, drops;
	LIST_HEAD(frames);

	spin_lock_irqsave(&port->lock, flags);
	quota = nll_port_allowed(port, now, interval);
	if (quota)
		done = nll_rx_collect(port, &frames, quota, true);
	port->counters.turns += done > 0;
	if (done < quota && port->rx.stuck) {
		port->waits = true;
		port->waits_since = jiffies;
	}
	spin_unlock_irqrestore(&port->lock, flags);
	if (!done)
		return false;

	began = now;
	drops = nll_port_deliver(port, &frames);
	spin_lock_irqsave(&port->lock, flags);
	now = local_clock();
	nll_port_account(port, now, now - began, drops);
	spin_unlock_irqrestore(&port->lock, flags);
	return done == quota;
}

/**
 * nll_port_round_end() - the end of a round for a port
 * @port: that was in the poller's list when the round began
 */
void nll_port_round_end(struct nll_port *port)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	port->counters.rounds++;
	if (port->is_polled)
		nll_port_step(port, local_clock());
	spin_unlock_irqrestore(&port->lock, flags);
}

/**
 * nll_port_set_mode() - receive in another way
 * @port: up or down
 * @mode: the new way
 */
void nll_port_set_mode(struct nll_port *port, enum nll_mode mode)
{
	unsigned long flags;

	spin_lock_irqsave(&port->lock, flags);
	if (port->up)
		nll_port_end(port);
	nll_strategy_set(&port->strategy, mode, local_clock());
	port->counters.switches[NLL_ASKED]++;
	trace_nll_switch(port, NLL_ASKED);
	if (port->up)
		nll_port_begin(port);
	spin_unlock_irqrestore(&port->lock, flags);
}

/**
 * nll_port_carrier() - tell the stack whether there is a link
 * @port: that is up
 */
void nll_port_carrier(struct nll_port *port)
{
	if (nll_hw_link_up(port))
		netif_carrier_on(port->netdev);
	else
		netif_carrier_off(port->netdev);
}

/* Rings are there, nothing runs: begin. */
static void nll_port_start(struct nll_port *port)
{
	unsigned long flags;

	nll_hw_start_tx(port);
	napi_enable(&port->tx_napi);
	napi_enable(&port->napi);
	spin_lock_irqsave(&port->lock, flags);
	port->up = true;
	nll_hw_start_rx(port);
	nll_strategy_set(&port->strategy, port->strategy.mode, local_clock());
	nll_write(port, NLL_IMS, NLL_INT_OTHER);
	nll_port_begin(port);
	spin_unlock_irqrestore(&port->lock, flags);
	nll_port_carrier(port);
	netif_start_queue(port->netdev);
}

/* Stop everything that touches the rings; they stay. */
static void nll_port_stop(struct nll_port *port)
{
	unsigned long flags;

	netif_tx_disable(port->netdev);
	spin_lock_irqsave(&port->lock, flags);
	port->up = false;
	nll_write(port, NLL_IMC, ~0U);
	nll_port_end(port);
	spin_unlock_irqrestore(&port->lock, flags);
	synchronize_irq(port->pdev->irq);
	napi_disable(&port->napi);
	napi_disable(&port->tx_napi);
	/* A round may have begun before the port left the list. */
	synchronize_net();
	nll_hw_stop_rx(port);
	nll_hw_stop_tx(port);
	nll_tx_drop_all(port);
}

static void nll_port_free(struct nll_port *port)
{
	nll_rx_free(port, &port->rx);
	nll_tx_free(port, &port->tx);
	nll_pool_empty(&port->small);
	nll_pool_empty(&port->large);
}

/**
 * nll_port_up() - begin to receive and send
 * @port: that is down
 *
 * Return: 0 or -errno.
 */
int nll_port_up(struct nll_port *port)
{
	int err;

	err = nll_rx_alloc(port, &port->rx, port->rx_count);
	if (err)
		return err;
	err = nll_tx_alloc(port, &port->tx, port->tx_count);
	if (err)
		goto fail;
	err = request_irq(port->pdev->irq, nll_port_irq, IRQF_SHARED, port->netdev->name, port);
	if (err)
		goto fail;
	nll_port_start(port);
	return 0;
fail:
	nll_port_free(port);
	return err;
}

/**
 * nll_port_down() - stop receiving and sending
 * @port: that is up
 */
void nll_port_down(struct nll_port *port)
{
	nll_port_stop(port);
	netif_carrier_off(port->netdev);
	free_irq(port->pdev->irq, port);
	nll_port_free(port);
}

/**
 * nll_port_restart() - go on with rings of another length
 * @port: that is up
 * @rx_count: of the receive ring
 * @tx_count: of the transmit ring
 *
 * Return: 0; or -ENOMEM, and nothing was changed.
 */
int nll_port_restart(struct nll_port *port, unsigned int rx_count, unsigned int tx_count)
{
	struct nll_rx_ring rx;
	struct nll_tx_ring tx;
	int err;

	err = nll_rx_alloc(port, &rx, rx_count);
	if (err)
		return err;
	err = nll_tx_alloc(port, &tx, tx_count);
	if (err) {
		nll_rx_free(port, &rx);
		return err;
	}
	nll_port_stop(port);
	swap(port->rx, rx);
	swap(port->tx, tx);
	nll_port_start(port);
	nll_rx_free(port, &rx);
	nll_tx_free(port, &tx);
	return 0;
}

/**
 * nll_port_init() - what a port is before it is up for the first time
 * @port: all zero but for its devices and registers
 */
void nll_port_init(struct nll_port *port)
{
	spin_lock_init(&port->lock);
	mutex_init(&port->hw_lock);
	port->params = nll_params_default;
	nll_pool_init(&port->small, NLL_POOL_SMALL);
	nll_pool_init(&port->large, NLL_POOL_LARGE);
	nll_strategy_set(&port->strategy, NLL_HYBRID, local_clock());
	netif_napi_add(port->netdev, &port->napi, nll_port_napi_poll);
	netif_napi_add_tx(port->netdev, &port->tx_napi, nll_tx_poll);
}
