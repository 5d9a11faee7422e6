// SPDX-License-Identifier: GPL-2.0-only
/*
 * A port: up and down, its interrupts, NAPI, and the modes.
 *
 * A mode changes under RTNL, in a pause without reception: interrupts are masked, their
 * handler has returned, NAPI is disabled and the timer is off. So the data path takes no
 * lock, and never sees a change.
 */

#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/rtnetlink.h>

#include "compat.h"
#include "nll.h"

/* The causes that NAPI handles, masked while it is scheduled. */
static u32 nll_port_causes(const struct nll_port *port)
{
	switch (port->mode) {
	case NLL_INTERRUPT:
		return NLL_INT_TXDW;
	case NLL_NAPI:
		return NLL_INT_TXDW | NLL_INT_RX;
	default:
		return 0;
	}
}

/*
 * Masked causes are ignored, so that another card on the line does not have NAPI poll
 * before its time; but reading has cleared them. So unmasking has to test the rings.
 */
static void nll_port_mask(struct nll_port *port, u32 causes)
{
	WRITE_ONCE(port->unmasked, port->unmasked & ~causes);
	nll_write(port, NLL_IMC, causes);
}

static void nll_port_unmask(struct nll_port *port, u32 causes)
{
	WRITE_ONCE(port->unmasked, port->unmasked | causes);
	nll_write(port, NLL_IMS, causes);
	if (causes & NLL_INT_RX && nll_rx_any(port))
		nll_write(port, NLL_ICS, NLL_INT_RXT0);
	if (causes & NLL_INT_TXDW && nll_tx_any(port))
		nll_write(port, NLL_ICS, NLL_INT_TXDW);
}

static void nll_port_carrier(struct nll_port *port)
{
	if (nll_hw_link_up(port))
		netif_carrier_on(port->netdev);
	else
		netif_carrier_off(port->netdev);
}

static irqreturn_t nll_port_irq(int irq, void *data)
{
	struct nll_port *port = data;
	u32 causes;

	causes = nll_read(port, NLL_ICR) & READ_ONCE(port->unmasked);
	if (!causes)
		return IRQ_NONE;
	/* Only here, and never twice at a time. */
	port->counters.interrupts++;
	if (causes & NLL_INT_LSC)
		nll_port_carrier(port);
	if (port->mode == NLL_INTERRUPT && causes & NLL_INT_RX)
		nll_rx_receive(port, port->rx.count);
	/* It is scheduled already: NAPI polls once more. */
	if (causes & nll_port_causes(port) && napi_schedule_prep(&port->napi)) {
		nll_port_mask(port, nll_port_causes(port));
		__napi_schedule(&port->napi);
	}
	return IRQ_HANDLED;
}

/* A turn of the mode poll. The next one begins a fixed time after its end. */
static int nll_port_turn(struct nll_port *port, int budget)
{
	ktime_t gap = ns_to_ktime(READ_ONCE(port->poll_us) * (u64)NSEC_PER_USEC);
	unsigned int quota = READ_ONCE(port->quota);
	int done;

	done = nll_rx_receive(port, min_t(unsigned int, quota, budget));
	/* All of the budget would mean that NAPI shall go on at once. */
	done = min(done, budget - 1);
	napi_complete_done(&port->napi, done);
	hrtimer_start(&port->timer, gap, HRTIMER_MODE_REL_PINNED);
	return done;
}

static int nll_port_poll(struct napi_struct *napi, int budget)
{
	struct nll_port *port = container_of(napi, struct nll_port, napi);
	int done = 0;

	nll_tx_clean(port, budget);
	/* netpoll wants no more than that. */
	if (!budget)
		return 0;
	port->counters.polls++;
	if (port->mode == NLL_POLL)
		return nll_port_turn(port, budget);
	if (port->mode == NLL_NAPI)
		done = nll_rx_receive(port, budget);
	if (done < budget && napi_complete_done(napi, done))
		nll_port_unmask(port, nll_port_causes(port));
	return done;
}

static enum hrtimer_restart nll_port_timer(struct hrtimer *timer)
{
	struct nll_port *port = container_of(timer, struct nll_port, timer);

	napi_schedule(&port->napi);
	return HRTIMER_NORESTART;
}

/* Receive according to the mode; nothing receives yet. */
static void nll_port_begin(struct nll_port *port)
{
	ASSERT_RTNL();
	napi_enable(&port->napi);
	if (port->mode == NLL_POLL) {
		nll_port_unmask(port, NLL_INT_LSC);
		hrtimer_start(&port->timer, 0, HRTIMER_MODE_REL);
	} else {
		nll_port_unmask(port, NLL_INT_LSC | NLL_INT_TXDW | NLL_INT_RX);
	}
	nll_port_carrier(port);
}

/*
 * Stop receiving and cleaning. A poll gives NAPI back before it unmasks interrupts, or
 * starts the timer: a grace period waits for its end.
 */
static void nll_port_end(struct nll_port *port)
{
	ASSERT_RTNL();
	napi_disable(&port->napi);
	synchronize_net();
	hrtimer_cancel(&port->timer);
	nll_port_mask(port, ~0U);
	nll_flush(port);
	synchronize_irq(port->irq);
}

/* Change the mode of a port that is up or down. */
void nll_port_set_mode(struct nll_port *port, enum nll_mode mode)
{
	ASSERT_RTNL();
	if (port->up)
		nll_port_end(port);
	port->mode = mode;
	if (port->up)
		nll_port_begin(port);
}

/* Rings are there, nothing runs: begin. */
static void nll_port_start(struct nll_port *port)
{
	nll_rx_reset(&port->rx);
	nll_hw_start_tx(port);
	nll_hw_start_rx(port);
	port->up = true;
	nll_port_begin(port);
	netif_wake_queue(port->netdev);
}

/* Stop everything that touches the rings; they stay. */
static void nll_port_stop(struct nll_port *port)
{
	port->up = false;
	nll_port_end(port);
	/* Only now: a poll would start the queue again. */
	netif_tx_disable(port->netdev);
	nll_hw_stop_rx(port);
	nll_hw_stop_tx(port);
	nll_tx_drop_all(port);
}

static void nll_port_free(struct nll_port *port)
{
	nll_rx_free(port, &port->rx);
	nll_tx_free(port, &port->tx);
}

/* Begin to receive and send. Return: 0 or -errno. */
int nll_port_up(struct nll_port *port)
{
	int err;

	err = nll_rx_alloc(port, &port->rx, port->rx_count);
	if (err)
		return err;
	err = nll_tx_alloc(port, &port->tx, port->tx_count);
	if (err)
		goto fail;
	err = request_irq(port->irq, nll_port_irq, IRQF_SHARED, port->netdev->name, port);
	if (err)
		goto fail;
	nll_port_start(port);
	return 0;
fail:
	nll_port_free(port);
	return err;
}

/* Stop receiving and sending. */
void nll_port_down(struct nll_port *port)
{
	nll_port_stop(port);
	netif_carrier_off(port->netdev);
	free_irq(port->irq, port);
	nll_port_free(port);
}

/* Go on with rings of other lengths. Return: 0; or -ENOMEM, and nothing was changed. */
int nll_port_resize(struct nll_port *port, unsigned int rx_count, unsigned int tx_count)
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
	/* A pool goes while its NAPI is disabled. */
	nll_rx_free(port, &rx);
	nll_tx_free(port, &tx);
	nll_port_start(port);
	return 0;
}

/* The card has not sent for so long that it must be stuck: reset it. */
static void nll_port_reset(struct work_struct *work)
{
	struct nll_port *port = container_of(work, struct nll_port, reset);

	rtnl_lock();
	if (port->up) {
		nll_port_stop(port);
		if (nll_hw_reset(port))
			netdev_err(port->netdev, "the card is gone\n");
		nll_hw_set_rxcsum(port, port->rxcsum);
		nll_port_start(port);
	}
	rtnl_unlock();
}

/* Initialise a port, which is zero except for its devices and registers. */
void nll_port_init(struct nll_port *port)
{
	spin_lock_init(&port->hw_lock);
	INIT_WORK(&port->reset, nll_port_reset);
	hrtimer_setup(&port->timer, nll_port_timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL);
	port->mode = NLL_NAPI;
	port->quota = 32;
	port->poll_us = 1000;
	netif_napi_add(port->netdev, &port->napi, nll_port_poll);
}
