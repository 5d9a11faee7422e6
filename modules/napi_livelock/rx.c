// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receive ring: from a descriptor to an skb.
 *
 * A small frame is copied, and its buffer stays in the ring: most floods are of small
 * frames, and a copy costs less than a new page. Of a larger one the headers are copied,
 * and its page goes along, to come back to the pool when the skb is freed.
 */

#include <kunit/static_stub.h>
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <net/page_pool/helpers.h>

#include "frame.h"
#include "nll.h"

/* Up to this size a frame is copied, as by the in-tree driver (its copybreak). */
#define NLL_COPY_MAX	256

static dma_addr_t nll_rx_dma(const struct nll_rx_buffer *buffer)
{
	return page_pool_get_dma_addr(buffer->page) + buffer->offset;
}

/* A new buffer for a descriptor: 0, or -ENOMEM, and it keeps the one that it has. */
VISIBLE_IF_KUNIT int nll_rx_fill(struct nll_rx_ring *ring, unsigned int at, gfp_t gfp)
{
	struct nll_rx_buffer *buffer = &ring->buffers[at];
	unsigned int offset;
	struct page *page;

	KUNIT_STATIC_STUB_REDIRECT(nll_rx_fill, ring, at, gfp);

	page = page_pool_alloc_frag(ring->pool, &offset, NLL_RX_BUFFER, gfp);
	if (unlikely(!page))
		return -ENOMEM;
	buffer->page = page;
	buffer->offset = offset;
	ring->desc[at].addr = cpu_to_le64(nll_rx_dma(buffer));
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rx_fill);

/*
 * Free a receive ring, maybe half allocated, that the card does not use any longer; NAPI
 * is disabled.
 */
void nll_rx_free(struct nll_port *port, struct nll_rx_ring *ring)
{
	unsigned int i;

	for (i = 0; ring->buffers && i < ring->count; i++)
		if (ring->buffers[i].page)
			page_pool_put_full_page(ring->pool, ring->buffers[i].page, false);
	kvfree(ring->buffers);
	if (ring->pool)
		page_pool_destroy(ring->pool);
	if (ring->desc)
		dma_free_coherent(port->dev, ring->count * sizeof(*ring->desc), ring->desc,
				  ring->dma);
	memset(ring, 0, sizeof(*ring));
}
EXPORT_SYMBOL_IF_KUNIT(nll_rx_free);

static int nll_rx_create_pool(struct nll_port *port, struct nll_rx_ring *ring)
{
	struct page_pool_params params = {
		.pool_size = ring->count,
		.nid = dev_to_node(port->dev),
		.dev = port->dev,
		.napi = &port->napi,
		.netdev = port->netdev,
		.dma_dir = DMA_FROM_DEVICE,
		.max_len = PAGE_SIZE,
		.flags = PP_FLAG_DMA_MAP | PP_FLAG_DMA_SYNC_DEV,
	};

	ring->pool = page_pool_create(&params);
	if (!IS_ERR(ring->pool))
		return 0;
	ring->pool = NULL;
	return -ENOMEM;
}

/* Allocate a receive ring of @count descriptors and all its buffers. Return: 0 or -ENOMEM. */
int nll_rx_alloc(struct nll_port *port, struct nll_rx_ring *ring, unsigned int count)
{
	unsigned int i;
	int err;

	memset(ring, 0, sizeof(*ring));
	ring->count = count;
	ring->desc = dma_alloc_coherent(port->dev, count * sizeof(*ring->desc), &ring->dma,
					GFP_KERNEL);
	ring->buffers = kvcalloc(count, sizeof(*ring->buffers), GFP_KERNEL);
	err = ring->desc && ring->buffers ? nll_rx_create_pool(port, ring) : -ENOMEM;
	for (i = 0; !err && i < count; i++)
		err = nll_rx_fill(ring, i, GFP_KERNEL);
	if (err)
		nll_rx_free(port, ring);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rx_alloc);

/* Begin at the first descriptor, as the card will; it does not have the ring now. */
void nll_rx_reset(struct nll_rx_ring *ring)
{
	unsigned int i;

	for (i = 0; i < ring->count; i++)
		ring->desc[i].done = 0;
	ring->next = 0;
	ring->discarding = false;
}

static bool nll_rx_done(const struct nll_rx_ring *ring, unsigned int at)
{
	return le64_to_cpu(READ_ONCE(ring->desc[at].done)) & NLL_RXD_DD;
}

/* Does a frame wait in the ring? */
bool nll_rx_any(const struct nll_port *port)
{
	return nll_rx_done(&port->rx, READ_ONCE(port->rx.next));
}

/**
 * nll_rx_waiting() - the occupancy of the ring
 * @port: that is up, under RTNL
 *
 * The card is not read, which would cost more than all the rest: it fills the descriptors
 * in their order. The answer may be of a moment ago while frames are received.
 *
 * Return: how many frames wait in it.
 */
unsigned int nll_rx_waiting(struct nll_port *port)
{
	const struct nll_rx_ring *ring = &port->rx;
	unsigned int next = READ_ONCE(ring->next), low = 0, high = ring->count - 1;

	/* At least @low do, at most @high: one descriptor is always kept from the card. */
	while (low < high) {
		unsigned int middle = (low + high + 1) / 2;

		if (nll_rx_done(ring, (next + middle - 1) % ring->count))
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rx_waiting);

/* Of a frame that its page goes along with, the headers are in the skb itself. */
static struct sk_buff *nll_rx_pass(struct nll_port *port, unsigned int at, void *from,
				   unsigned int len)
{
	struct nll_rx_ring *ring = &port->rx;
	struct nll_rx_buffer buffer = ring->buffers[at];
	unsigned int headers;
	struct sk_buff *skb;

	skb = napi_alloc_skb(&port->napi, NLL_COPY_MAX);
	if (unlikely(!skb))
		return NULL;
	/* The card gets another buffer first: it is never without one. */
	if (unlikely(nll_rx_fill(ring, at, GFP_ATOMIC | __GFP_NOWARN))) {
		dev_kfree_skb_any(skb);
		return NULL;
	}
	headers = eth_get_headlen(port->netdev, from, NLL_COPY_MAX);
	skb_put_data(skb, from, headers);
	skb_add_rx_frag(skb, 0, buffer.page, buffer.offset + headers, len - headers,
			NLL_RX_BUFFER);
	skb_mark_for_recycle(skb);
	return skb;
}

static struct sk_buff *nll_rx_copy(struct nll_port *port, const void *from, unsigned int len)
{
	struct sk_buff *skb;

	if (port->mode == NLL_INTERRUPT)
		skb = netdev_alloc_skb_ip_align(port->netdev, len);
	else
		skb = napi_alloc_skb(&port->napi, len);
	if (likely(skb))
		skb_put_data(skb, from, len);
	return skb;
}

/* Trust the card only where it says that it tested. */
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

/* The frame of descriptor @at; NULL if it is bad, or there is no memory for it. */
static struct sk_buff *nll_rx_frame(struct nll_port *port, unsigned int at, u64 done)
{
	struct nll_rx_ring *ring = &port->rx;
	struct nll_rx_buffer *buffer = &ring->buffers[at];
	dma_addr_t dma = nll_rx_dma(buffer);
	enum nll_verdict verdict;
	struct sk_buff *skb;
	unsigned int len;
	void *from;
	bool pass;

	verdict = nll_frame_check(done, READ_ONCE(port->max_frame), &ring->discarding);
	if (unlikely(verdict != NLL_GOOD)) {
		nll_rx_count_bad(&port->counters, verdict);
		return NULL;
	}
	len = nll_frame_len(done);
	from = page_address(buffer->page) + buffer->offset;
	dma_sync_single_for_cpu(port->dev, dma, len, DMA_FROM_DEVICE);
	/* The handler does not own the pool. */
	pass = len > NLL_COPY_MAX && port->mode != NLL_INTERRUPT;
	skb = pass ? nll_rx_pass(port, at, from, len) : nll_rx_copy(port, from, len);
	/* The buffer stays where it is. */
	if (!pass || unlikely(!skb))
		dma_sync_single_for_device(port->dev, dma, len, DMA_FROM_DEVICE);
	if (unlikely(!skb)) {
		port->counters.no_buffer++;
		return NULL;
	}
	nll_rx_checksum(port, skb, done);
	skb->protocol = eth_type_trans(skb, port->netdev);
	return skb;
}

/**
 * nll_rx_next() - take the next descriptor that the card has written
 * @port: of the ring
 * @skb: its frame; NULL for a bad one, which is counted
 *
 * Return: false if the card has written no more.
 */
bool nll_rx_next(struct nll_port *port, struct sk_buff **skb)
{
	struct nll_rx_ring *ring = &port->rx;
	unsigned int at = ring->next;
	u64 done = le64_to_cpu(READ_ONCE(ring->desc[at].done));

	if (!(done & NLL_RXD_DD))
		return false;
	dma_rmb();
	*skb = nll_rx_frame(port, at, done);
	ring->desc[at].done = 0;
	WRITE_ONCE(ring->next, at + 1 == ring->count ? 0 : at + 1);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rx_next);

static void nll_rx_count(struct nll_port *port, unsigned int packets, unsigned int bytes)
{
	struct pcpu_sw_netstats *stats = this_cpu_ptr(port->netdev->tstats);

	u64_stats_update_begin(&stats->syncp);
	u64_stats_add(&stats->rx_packets, packets);
	u64_stats_add(&stats->rx_bytes, bytes);
	u64_stats_update_end(&stats->syncp);
}

static void nll_rx_deliver(struct nll_port *port, struct sk_buff *skb)
{
	if (port->mode != NLL_INTERRUPT)
		napi_gro_receive(&port->napi, skb);
	else if (netif_rx(skb) == NET_RX_DROP)
		port->counters.backlog_drops++;
}

/**
 * nll_rx_receive() - take frames out of the ring and hand them to the stack
 * @port: of the ring
 * @budget: the most descriptors to process
 *
 * Return: how many were given back to the card.
 */
unsigned int nll_rx_receive(struct nll_port *port, unsigned int budget)
{
	unsigned int packets = 0, bytes = 0, done = 0;
	struct nll_rx_ring *ring = &port->rx;
	struct sk_buff *skb;

	for (; done < budget && nll_rx_next(port, &skb); done++) {
		if (unlikely(!skb))
			continue;
		packets++;
		bytes += skb->len + ETH_HLEN;
		nll_rx_deliver(port, skb);
	}
	if (!done)
		return 0;
	/* The card owns up to, and without, the descriptor before the next one. */
	dma_wmb();
	nll_write(port, NLL_RDT, (ring->next ?: ring->count) - 1);
	nll_rx_count(port, packets, bytes);
	return done;
}
EXPORT_SYMBOL_IF_KUNIT(nll_rx_receive);
