// SPDX-License-Identifier: GPL-2.0-only
/* The receive ring: from a descriptor to an skb. */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>

#include "frame.h"
#include "nll.h"

#define NLL_PER_PAGE	(PAGE_SIZE / NLL_RX_BUFFER)

static unsigned int nll_rx_nr_pages(unsigned int count)
{
	return DIV_ROUND_UP(count, NLL_PER_PAGE);
}

/* Where the buffer of descriptor @at is, in its page. */
static unsigned int nll_rx_offset(unsigned int at)
{
	return at % NLL_PER_PAGE * NLL_RX_BUFFER;
}

/**
 * nll_rx_free() - free a receive ring that the card does not know any more
 * @port: of the ring
 * @ring: to free; may be half allocated
 */
void nll_rx_free(struct nll_port *port, struct nll_rx_ring *ring)
{
	struct device *dev = &port->pdev->dev;
	unsigned int i;

	for (i = 0; ring->pages && i < nll_rx_nr_pages(ring->count); i++) {
		if (!ring->pages[i])
			continue;
		dma_unmap_page(dev, ring->pages_dma[i], PAGE_SIZE, DMA_FROM_DEVICE);
		__free_page(ring->pages[i]);
	}
	kvfree(ring->pages);
	kvfree(ring->pages_dma);
	if (ring->desc)
		dma_free_coherent(dev, ring->count * sizeof(*ring->desc), ring->desc, ring->dma);
	memset(ring, 0, sizeof(*ring));
}

static int nll_rx_alloc_pages(struct nll_port *port, struct nll_rx_ring *ring)
{
	struct device *dev = &port->pdev->dev;
	struct page *page;
	unsigned int i;

	for (i = 0; i < nll_rx_nr_pages(ring->count); i++) {
		page = alloc_page(GFP_KERNEL);
		if (!page)
			return -ENOMEM;
		ring->pages_dma[i] = dma_map_page(dev, page, 0, PAGE_SIZE, DMA_FROM_DEVICE);
		if (dma_mapping_error(dev, ring->pages_dma[i])) {
			__free_page(page);
			return -ENOMEM;
		}
		ring->pages[i] = page;
	}
	return 0;
}

/**
 * nll_rx_alloc() - allocate a receive ring and all its buffers
 * @port: that is to receive into it
 * @ring: to fill in
 * @count: number of descriptors
 *
 * Return: 0 or -ENOMEM.
 */
int nll_rx_alloc(struct nll_port *port, struct nll_rx_ring *ring, unsigned int count)
{
	unsigned int nr_pages = nll_rx_nr_pages(count);
	unsigned int i;
	int err;

	memset(ring, 0, sizeof(*ring));
	ring->count = count;
	ring->desc = dma_alloc_coherent(&port->pdev->dev, count * sizeof(*ring->desc),
					&ring->dma, GFP_KERNEL);
	ring->pages = kvcalloc(nr_pages, sizeof(*ring->pages), GFP_KERNEL);
	ring->pages_dma = kvcalloc(nr_pages, sizeof(*ring->pages_dma), GFP_KERNEL);
	if (!ring->desc || !ring->pages || !ring->pages_dma)
		err = -ENOMEM;
	else
		err = nll_rx_alloc_pages(port, ring);
	if (err) {
		nll_rx_free(port, ring);
		return err;
	}
	for (i = 0; i < count; i++)
		ring->desc[i].addr = cpu_to_le64(ring->pages_dma[i / NLL_PER_PAGE] +
						 nll_rx_offset(i));
	return 0;
}

/**
 * nll_rx_waiting() - how many frames wait in the ring
 * @port: of the ring
 *
 * Return: their number.
 */
unsigned int nll_rx_waiting(struct nll_port *port)
{
	unsigned int low = 0, high = port->rx.count - 1;

	/* At least @low do, at most @high. */
	while (low < high) {
		unsigned int middle = (low + high + 1) / 2;

		if (nll_rx_filled(port, middle))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* Whether buffers that sockets keep may be given up, rather than frames left to the card. */
static bool nll_rx_may_replace_buffers(struct nll_port *port)
{
	return port->strategy.mode != NLL_HYBRID;
}

/* Copy a frame. Copies of constant size have no calls and no loops. */
static void nll_rx_copy(void *to, const void *from, unsigned int len)
{
	BUILD_BUG_ON(NLL_SMALL_FRAME < 128);
	if (len > 128) {
		memcpy(to, from, len);
		return;
	}
	memcpy(to, from, 64);
	if (len > 64)
		memcpy(to + 64, from + 64, 64);
}

/* An skb with a copy of the frame at @from; NULL when there is no buffer. */
static struct sk_buff *nll_rx_skb(struct nll_port *port, const void *from,
				  unsigned int len, bool softirq)
{
	unsigned int max = port->params.buffers;
	struct nll_pool *pool = &port->small;
	struct sk_buff *skb;
	void *buffer;

	if (len > NLL_SMALL_FRAME) {
		pool = &port->large;
		max /= NLL_LARGE_COUNTS;
	}
	buffer = nll_pool_take(pool, max, nll_rx_may_replace_buffers(port));
	if (unlikely(!buffer))
		return NULL;
	skb = softirq ? napi_build_skb(buffer, pool->size) : build_skb(buffer, pool->size);
	if (unlikely(!skb)) {
		nll_pool_untake(pool);
		return NULL;
	}
	skb_reserve(skb, NET_SKB_PAD + NET_IP_ALIGN);
	nll_rx_copy(__skb_put(skb, len), from, len);
	return skb;
}

/* Believe the card only where it says that it looked. */
static void nll_rx_checksum(struct nll_port *port, struct sk_buff *skb, u64 done)
{
	if (!port->rxcsum || done & NLL_RXD_IXSM)
		return;
	if (done & (NLL_RXD_TCPE | NLL_RXD_IPE))
		port->counters.bad_checksum++;
	else if (done & NLL_RXD_TCPCS)
		skb->ip_summed = CHECKSUM_UNNECESSARY;
}

static void nll_rx_count_bad(struct nll_counters *counters, enum nll_verdict verdict)
{
	switch (verdict) {
	case NLL_BAD_CRC:
		counters->bad_crc++;
		break;
	case NLL_BAD_FRAME:
		counters->bad_frame++;
		break;
	case NLL_TOO_LONG:
		counters->too_long++;
		break;
	case NLL_TOO_SHORT:
		counters->too_short++;
		break;
	case NLL_PART:
	case NLL_GOOD:
		break;
	}
}

/* The frame in the next descriptor; NULL if it is bad, or stuck there. */
static struct sk_buff *nll_rx_frame(struct nll_port *port, u64 done, bool softirq)
{
	struct nll_rx_ring *ring = &port->rx;
	unsigned int page = ring->next / NLL_PER_PAGE;
	unsigned int offset = nll_rx_offset(ring->next);
	struct device *dev = &port->pdev->dev;
	enum nll_verdict verdict;
	struct sk_buff *skb;
	unsigned int len;

	verdict = nll_frame_check(done, port->max_frame, &ring->discarding);
	if (unlikely(verdict != NLL_GOOD)) {
		nll_rx_count_bad(&port->counters, verdict);
		return NULL;
	}
	len = nll_frame_len(done);
	dma_sync_single_range_for_cpu(dev, ring->pages_dma[page], offset, len, DMA_FROM_DEVICE);
	skb = nll_rx_skb(port, page_address(ring->pages[page]) + offset, len, softirq);
	if (unlikely(!skb)) {
		/* Out of memory altogether: keep receiving, something else has to give. */
		ring->stuck = !nll_rx_may_replace_buffers(port);
		if (!ring->stuck)
			port->counters.no_buffer++;
		return NULL;
	}
	dma_sync_single_range_for_device(dev, ring->pages_dma[page], offset, len,
					 DMA_FROM_DEVICE);
	nll_rx_checksum(port, skb, done);
	skb->protocol = eth_type_trans(skb, port->netdev);
	return skb;
}

static void nll_rx_count(struct nll_port *port, unsigned int packets, unsigned int bytes)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(port->netdev->tstats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->rx_packets, packets);
	u64_stats_add(&stats->rx_bytes, bytes);
	u64_stats_update_end(&stats->syncp);
}

/**
 * nll_rx_collect() - take frames out of the ring
 * @port: of the ring, locked
 * @frames: list to append skbs to
 * @budget: how many descriptors to look at, at most
 * @softirq: not in the interrupt handler
 *
 * A frame for which there is no buffer stays where it is, so that the ring
 * fills up and the card drops what comes then, at no cost to anybody.
 *
 * Return: how many descriptors were given back to the card.
 */
unsigned int nll_rx_collect(struct nll_port *port, struct list_head *frames,
			    unsigned int budget, bool softirq)
{
	unsigned int packets = 0, bytes = 0, done = 0;
	struct nll_rx_ring *ring = &port->rx;

	lockdep_assert_held(&port->lock);
	ring->stuck = false;
	while (done < budget) {
		struct nll_rx_desc *desc = &ring->desc[ring->next];
		u64 word = le64_to_cpu(READ_ONCE(desc->done));
		struct sk_buff *skb;

		if (!(word & NLL_RXD_DD))
			break;
		dma_rmb();
		skb = nll_rx_frame(port, word, softirq);
		if (ring->stuck) {
			port->counters.held++;
			break;
		}
		if (likely(skb)) {
			packets++;
			bytes += skb->len + ETH_HLEN;
			list_add_tail(&skb->list, frames);
		}
		desc->done = 0;
		if (++ring->next == ring->count)
			ring->next = 0;
		done++;
	}
	if (!done)
		return 0;
	/* The card owns up to, and without, the descriptor before the next one. */
	dma_wmb();
	nll_write(port, NLL_RDT, (ring->next ?: ring->count) - 1);
	nll_rx_count(port, packets, bytes);
	return done;
}
