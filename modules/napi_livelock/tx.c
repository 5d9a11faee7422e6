// SPDX-License-Identifier: GPL-2.0-only
/* The transmit ring: one descriptor a frame. */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "nll.h"

/* Free descriptors below which the stack has to wait. */
#define NLL_TX_RESERVE	2

/**
 * nll_tx_free() - free a transmit ring that the card does not know any more
 * @port: of the ring
 * @ring: to free, without a frame in it; may be half allocated
 */
void nll_tx_free(struct nll_port *port, struct nll_tx_ring *ring)
{
	if (ring->desc)
		dma_free_coherent(&port->pdev->dev, ring->count * sizeof(*ring->desc),
				  ring->desc, ring->dma);
	kvfree(ring->buffers);
	memset(ring, 0, sizeof(*ring));
}

/**
 * nll_tx_alloc() - allocate a transmit ring
 * @port: that is to send from it
 * @ring: to fill in
 * @count: number of descriptors
 *
 * Return: 0 or -ENOMEM.
 */
int nll_tx_alloc(struct nll_port *port, struct nll_tx_ring *ring, unsigned int count)
{
	memset(ring, 0, sizeof(*ring));
	ring->count = count;
	ring->desc = dma_alloc_coherent(&port->pdev->dev, count * sizeof(*ring->desc),
					&ring->dma, GFP_KERNEL);
	ring->buffers = kvcalloc(count, sizeof(*ring->buffers), GFP_KERNEL);
	if (ring->desc && ring->buffers)
		return 0;
	nll_tx_free(port, ring);
	return -ENOMEM;
}

static unsigned int nll_tx_room(const struct nll_tx_ring *ring)
{
	return (ring->clean + ring->count - ring->next - 1) % ring->count;
}

static void nll_tx_unmap(struct nll_port *port, struct nll_tx_buffer *buffer)
{
	dma_unmap_single(&port->pdev->dev, buffer->dma, buffer->len, DMA_TO_DEVICE);
}

/* Frames that the card has sent are done with. The queue's lock is held. */
static unsigned int nll_tx_clean(struct nll_port *port, int budget)
{
	struct nll_tx_ring *ring = &port->tx;
	unsigned int packets = 0, bytes = 0;

	while (ring->clean != ring->next) {
		struct nll_tx_buffer *buffer = &ring->buffers[ring->clean];

		if (!(le32_to_cpu(READ_ONCE(ring->desc[ring->clean].status)) & NLL_TXD_DD))
			break;
		dma_rmb();
		nll_tx_unmap(port, buffer);
		bytes += buffer->skb->len;
		napi_consume_skb(buffer->skb, budget);
		buffer->skb = NULL;
		packets++;
		if (++ring->clean == ring->count)
			ring->clean = 0;
	}
	dev_sw_netstats_tx_add(port->netdev, packets, bytes);
	return packets;
}

/**
 * nll_tx_poll() - NAPI's poll for what was sent
 * @napi: of the transmit ring
 * @budget: 0 if called by netpoll
 *
 * Return: 0: it is done each time.
 */
int nll_tx_poll(struct napi_struct *napi, int budget)
{
	struct nll_port *port = container_of(napi, struct nll_port, tx_napi);
	struct netdev_queue *queue = netdev_get_tx_queue(port->netdev, 0);

	__netif_tx_lock(queue, smp_processor_id());
	nll_tx_clean(port, budget);
	if (netif_tx_queue_stopped(queue) && nll_tx_room(&port->tx) > NLL_TX_RESERVE)
		netif_tx_wake_queue(queue);
	__netif_tx_unlock(queue);
	napi_complete_done(napi, 0);
	return 0;
}

/**
 * nll_xmit() - send a frame
 * @skb: the frame
 * @netdev: by which device
 *
 * Return: NETDEV_TX_OK: sent or dropped; or NETDEV_TX_BUSY.
 */
netdev_tx_t nll_xmit(struct sk_buff *skb, struct net_device *netdev)
{
	struct nll_port *port = netdev_priv(netdev);
	struct nll_tx_ring *ring = &port->tx;
	struct nll_tx_buffer *buffer;
	struct nll_tx_desc *desc;
	dma_addr_t dma;

	if (unlikely(!nll_tx_room(ring))) {
		netif_stop_queue(netdev);
		port->counters.tx_busy++;
		return NETDEV_TX_BUSY;
	}
	if (eth_skb_pad(skb))
		return NETDEV_TX_OK;
	dma = dma_map_single(&port->pdev->dev, skb->data, skb->len, DMA_TO_DEVICE);
	if (unlikely(dma_mapping_error(&port->pdev->dev, dma))) {
		netdev->stats.tx_dropped++;
		dev_kfree_skb_any(skb);
		return NETDEV_TX_OK;
	}
	buffer = &ring->buffers[ring->next];
	buffer->skb = skb;
	buffer->dma = dma;
	buffer->len = skb->len;
	desc = &ring->desc[ring->next];
	desc->addr = cpu_to_le64(dma);
	desc->cmd = cpu_to_le32(NLL_TXD_EOP | NLL_TXD_IFCS | NLL_TXD_RS | skb->len);
	desc->status = 0;
	if (++ring->next == ring->count)
		ring->next = 0;
	if (nll_tx_room(ring) <= NLL_TX_RESERVE)
		netif_stop_queue(netdev);
	skb_tx_timestamp(skb);
	dma_wmb();
	nll_write(port, NLL_TDT, ring->next);
	return NETDEV_TX_OK;
}

/**
 * nll_tx_drop_all() - forget frames that the card has not sent
 * @port: that is stopped
 */
void nll_tx_drop_all(struct nll_port *port)
{
	struct nll_tx_ring *ring = &port->tx;

	for (; ring->clean != ring->next; ring->clean = (ring->clean + 1) % ring->count) {
		nll_tx_unmap(port, &ring->buffers[ring->clean]);
		dev_kfree_skb_any(ring->buffers[ring->clean].skb);
	}
	ring->next = 0;
	ring->clean = 0;
}
