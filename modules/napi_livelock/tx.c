// SPDX-License-Identifier: GPL-2.0-only
/*
 * The transmit ring: one descriptor a frame. The stack fills it under the lock of its queue,
 * NAPI cleans it without: each writes one index, and reads the other's.
 */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/netdev_queues.h>

#include "nll.h"

/* Free descriptors below which the stack has to wait, and from which it may go on. */
#define NLL_TX_STOP	1
#define NLL_TX_WAKE	16

/* Free a transmit ring without a frame, maybe half allocated. */
void nll_tx_free(struct nll_port *port, struct nll_tx_ring *ring)
{
	if (ring->desc)
		dma_free_coherent(port->dev, ring->count * sizeof(*ring->desc),
				  ring->desc, ring->dma);
	kvfree(ring->buffers);
	memset(ring, 0, sizeof(*ring));
}

/* Allocate a transmit ring of @count descriptors. Return: 0 or -ENOMEM. */
int nll_tx_alloc(struct nll_port *port, struct nll_tx_ring *ring, unsigned int count)
{
	memset(ring, 0, sizeof(*ring));
	ring->count = count;
	ring->desc = dma_alloc_coherent(port->dev, count * sizeof(*ring->desc),
					&ring->dma, GFP_KERNEL);
	ring->buffers = kvcalloc(count, sizeof(*ring->buffers), GFP_KERNEL);
	if (ring->desc && ring->buffers)
		return 0;
	nll_tx_free(port, ring);
	return -ENOMEM;
}

/* One descriptor stays empty: a ring that is full would look like one without a frame. */
static unsigned int nll_tx_room(const struct nll_tx_ring *ring)
{
	unsigned int clean = READ_ONCE(ring->clean), next = READ_ONCE(ring->next);

	return (clean + ring->count - next - 1) % ring->count;
}

static void nll_tx_unmap(struct nll_port *port, struct nll_tx_buffer *buffer)
{
	dma_unmap_single(port->dev, buffer->dma, buffer->len, DMA_TO_DEVICE);
}

static bool nll_tx_sent(const struct nll_tx_ring *ring, unsigned int at)
{
	return le32_to_cpu(READ_ONCE(ring->desc[at].status)) & NLL_TXD_DD;
}

/* Is there something to clean? */
bool nll_tx_any(const struct nll_port *port)
{
	const struct nll_tx_ring *ring = &port->tx;
	unsigned int clean = READ_ONCE(ring->clean);

	return clean != READ_ONCE(ring->next) && nll_tx_sent(ring, clean);
}

/* Free frames that the card has sent; the caller owns NAPI, @budget is 0 for netpoll. */
void nll_tx_clean(struct nll_port *port, int budget)
{
	struct netdev_queue *queue = netdev_get_tx_queue(port->netdev, 0);
	unsigned int packets = 0, bytes = 0, clean, next;
	struct nll_tx_ring *ring = &port->tx;

	clean = ring->clean;
	/* Pairs with nll_tx_post(): what is posted is filled in. */
	next = smp_load_acquire(&ring->next);
	while (clean != next) {
		struct nll_tx_buffer *buffer = &ring->buffers[clean];

		if (!nll_tx_sent(ring, clean))
			break;
		dma_rmb();
		nll_tx_unmap(port, buffer);
		bytes += buffer->skb->len;
		napi_consume_skb(buffer->skb, budget);
		buffer->skb = NULL;
		packets++;
		if (++clean == ring->count)
			clean = 0;
	}
	if (!packets)
		return;
	WRITE_ONCE(ring->clean, clean);
	dev_sw_netstats_tx_add(port->netdev, packets, bytes);
	netif_txq_completed_wake(queue, packets, bytes, nll_tx_room(ring), NLL_TX_WAKE);
}

/* Fill in the next descriptor. */
static void nll_tx_post(struct nll_tx_ring *ring, struct sk_buff *skb, dma_addr_t dma)
{
	struct nll_tx_buffer *buffer = &ring->buffers[ring->next];
	struct nll_tx_desc *desc = &ring->desc[ring->next];

	buffer->skb = skb;
	buffer->dma = dma;
	buffer->len = skb->len;
	desc->addr = cpu_to_le64(dma);
	desc->cmd = cpu_to_le32(NLL_TXD_EOP | NLL_TXD_IFCS | NLL_TXD_RS | skb->len);
	desc->status = 0;
	/* Pairs with nll_tx_clean(). */
	smp_store_release(&ring->next, ring->next + 1 == ring->count ? 0 : ring->next + 1);
}

/* Tell the card the new tail. */
static void nll_tx_kick(struct nll_port *port)
{
	dma_wmb();
	nll_write(port, NLL_TDT, port->tx.next);
}

/* Send a frame. Return: NETDEV_TX_OK: sent or dropped; or NETDEV_TX_BUSY. */
netdev_tx_t nll_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct netdev_queue *queue = netdev_get_tx_queue(netdev, 0);
	struct nll_port *port = netdev_priv(netdev);
	struct nll_tx_ring *ring = &port->tx;
	unsigned int len;
	dma_addr_t dma;

	if (unlikely(!nll_tx_room(ring))) {
		netif_tx_stop_queue(queue);
		port->counters.tx_busy++;
		return NETDEV_TX_BUSY;
	}
	/* A dropped frame may be the last one of those that the card does not know yet. */
	if (eth_skb_pad(skb))
		goto dropped;
	dma = dma_map_single(port->dev, skb->data, skb->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(port->dev, dma))) {
		netdev->stats.tx_dropped++;
		dev_kfree_skb_any(skb);
		goto dropped;
	}
	/* Once it is posted it may be gone. */
	len = skb->len;
	skb_tx_timestamp(skb);
	nll_tx_post(ring, skb, dma);
	netif_txq_maybe_stop(queue, nll_tx_room(ring), NLL_TX_STOP, NLL_TX_WAKE);
	if (__netdev_tx_sent_queue(queue, len, netdev_xmit_more()))
		nll_tx_kick(port);
	return NETDEV_TX_OK;
dropped:
	if (!netdev_xmit_more())
		nll_tx_kick(port);
	return NETDEV_TX_OK;
}

/* Drop frames that the card has not sent; the port is stopped. */
void nll_tx_drop_all(struct nll_port *port)
{
	struct nll_tx_ring *ring = &port->tx;

	for (; ring->clean != ring->next; ring->clean = (ring->clean + 1) % ring->count) {
		nll_tx_unmap(port, &ring->buffers[ring->clean]);
		dev_kfree_skb_any(ring->buffers[ring->clean].skb);
	}
	ring->next = 0;
	ring->clean = 0;
	netdev_tx_reset_queue(netdev_get_tx_queue(port->netdev, 0));
}
