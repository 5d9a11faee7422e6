// SPDX-License-Identifier: GPL-2.0-only
/*
 * The receive ring without a card: descriptors are written as a card writes them, and as
 * QEMU's never does, and the resulting frames are checked.
 */

#include <kunit/device.h>
#include <kunit/static_stub.h>
#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/skbuff.h>

#include "nll.h"
#include "tests.h"

#define REGS_SIZE	0x6000
#define RING		NLL_RING_MIN
#define SMALL		60U
#define LARGE		1400U
#define BY_THE_CARD	(NLL_RXD_DD | NLL_RXD_EOP)

static int no_poll(struct napi_struct *napi, int budget)
{
	return 0;
}

static void exit_port(void *data)
{
	struct nll_port *port = data;

	nll_rx_free(port, &port->rx);
	netif_napi_del(&port->napi);
	free_netdev(port->netdev);
}

static int rx_init(struct kunit *test)
{
	struct net_device *netdev;
	struct nll_port *port;
	struct device *dev;
	void *regs;

	/* Created first, freed last: the device after its pool. */
	dev = kunit_device_register(test, "nll_rx");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, dev);
	KUNIT_ASSERT_EQ(test, dma_coerce_mask_and_coherent(dev, DMA_BIT_MASK(64)), 0);
	regs = kunit_kzalloc(test, REGS_SIZE, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, regs);
	netdev = alloc_etherdev(sizeof(struct nll_port));
	KUNIT_ASSERT_NOT_NULL(test, netdev);
	port = netdev_priv(netdev);
	port->netdev = netdev;
	port->dev = dev;
	port->regs = (void __force __iomem *)regs;
	port->mode = NLL_NAPI;
	port->rxcsum = true;
	port->max_frame = ETH_FRAME_LEN + VLAN_HLEN + NLL_FCS;
	netif_napi_add(netdev, &port->napi, no_poll);
	KUNIT_ASSERT_EQ(test, kunit_add_action_or_reset(test, exit_port, port), 0);
	KUNIT_ASSERT_EQ(test, nll_rx_alloc(port, &port->rx, RING), 0);
	test->priv = port;
	return 0;
}

/* Byte @i of the frame that is received into descriptor @at. */
static u8 byte_of(unsigned int at, unsigned int i)
{
	return i < 2 * ETH_ALEN ? 0x02 : at * 7 + i;
}

/* The card writes a frame of @len bytes, and @done beside its length, @ahead of the next. */
static void write_ahead(struct nll_port *port, unsigned int ahead, unsigned int len, u64 done)
{
	unsigned int at = (port->rx.next + ahead) % port->rx.count, i;
	struct nll_rx_buffer *buffer = &port->rx.buffers[at];
	u8 *data = page_address(buffer->page) + buffer->offset;

	for (i = 0; i < min_t(unsigned int, len, NLL_RX_BUFFER); i++)
		data[i] = byte_of(at, i);
	port->rx.desc[at].done = cpu_to_le64(done | (len + NLL_FCS));
}

static bool next(struct nll_port *port, struct sk_buff **skb)
{
	bool taken;

	local_bh_disable();
	taken = nll_rx_next(port, skb);
	local_bh_enable();
	return taken;
}

/* The frame that the card writes now; NULL if it is not taken. */
static struct sk_buff *receive(struct kunit *test, unsigned int len, u64 done)
{
	struct nll_port *port = test->priv;
	struct sk_buff *skb = NULL;

	write_ahead(port, 0, len, done);
	KUNIT_EXPECT_TRUE(test, next(port, &skb));
	return skb;
}

static void expect_frame(struct kunit *test, struct sk_buff *skb, unsigned int at,
			 unsigned int len)
{
	unsigned int wrong = 0, i;
	u8 byte;

	KUNIT_ASSERT_NOT_NULL(test, skb);
	KUNIT_EXPECT_EQ(test, skb->len + ETH_HLEN, len);
	for (i = ETH_HLEN; i < len; i++)
		wrong += skb_copy_bits(skb, i - ETH_HLEN, &byte, 1) || byte != byte_of(at, i);
	KUNIT_EXPECT_EQ(test, wrong, 0);
}

static void rx_nothing(struct kunit *test)
{
	struct nll_port *port = test->priv;
	struct sk_buff *skb;

	KUNIT_EXPECT_FALSE(test, next(port, &skb));
	KUNIT_EXPECT_EQ(test, port->rx.next, 0);
	KUNIT_EXPECT_EQ(test, nll_rx_waiting(port), 0);
}

/* A copy, and its buffer stays. */
static void rx_small(struct kunit *test)
{
	struct nll_port *port = test->priv;
	__le64 addr = port->rx.desc[0].addr;
	struct sk_buff *skb;

	skb = receive(test, SMALL, BY_THE_CARD);
	expect_frame(test, skb, 0, SMALL);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, 0);
	KUNIT_EXPECT_TRUE(test, port->rx.desc[0].addr == addr);
	KUNIT_EXPECT_TRUE(test, port->rx.desc[0].done == 0);
	KUNIT_EXPECT_EQ(test, port->rx.next, 1);
	kfree_skb(skb);
}

/* The page goes along, and the card has another one. */
static void rx_large(struct kunit *test)
{
	struct nll_port *port = test->priv;
	__le64 addr = port->rx.desc[0].addr;
	struct sk_buff *skb;

	skb = receive(test, LARGE, BY_THE_CARD);
	expect_frame(test, skb, 0, LARGE);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, 1);
	KUNIT_EXPECT_FALSE(test, port->rx.desc[0].addr == addr);
	/* What the card writes there does not reach it. */
	port->rx.next = 0;
	kfree_skb(receive(test, NLL_RX_BUFFER - NLL_FCS, BY_THE_CARD));
	expect_frame(test, skb, 0, LARGE);
	kfree_skb(skb);
}

/* The handler copies all: it does not own the pool. */
static void rx_in_handler(struct kunit *test)
{
	struct nll_port *port = test->priv;
	__le64 addr = port->rx.desc[0].addr;
	struct sk_buff *skb;

	port->mode = NLL_INTERRUPT;
	skb = receive(test, LARGE, BY_THE_CARD);
	expect_frame(test, skb, 0, LARGE);
	KUNIT_EXPECT_EQ(test, skb_shinfo(skb)->nr_frags, 0);
	KUNIT_EXPECT_TRUE(test, port->rx.desc[0].addr == addr);
	kfree_skb(skb);
}

/* Each is counted at its place, and the next frame is taken. */
static void rx_errors(struct kunit *test)
{
	struct nll_port *port = test->priv;
	struct nll_counters *counters = &port->counters;
	const struct {
		u64 bits;
		const u64 *counter;
	} bad[] = {
		{ NLL_RXD_CE, &counters->bad_crc }, { NLL_RXD_SE, &counters->bad_frame },
		{ NLL_RXD_SEQ, &counters->bad_frame }, { NLL_RXD_CXE, &counters->bad_frame },
		{ NLL_RXD_RXE, &counters->bad_frame },
	};
	struct sk_buff *skb;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		u64 before = *bad[i].counter;

		KUNIT_EXPECT_NULL(test, receive(test, SMALL, BY_THE_CARD | bad[i].bits));
		KUNIT_EXPECT_EQ(test, *bad[i].counter, before + 1);
		skb = receive(test, SMALL, BY_THE_CARD);
		expect_frame(test, skb, 2 * i + 1, SMALL);
		kfree_skb(skb);
	}
}

/* Never beyond its buffer, nor before a header, whatever the card says. */
static void rx_lengths(struct kunit *test)
{
	struct nll_port *port = test->priv;
	static const unsigned int too_long[] = {
		ETH_FRAME_LEN + VLAN_HLEN + 1, NLL_RX_BUFFER, U16_MAX - NLL_FCS
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(too_long); i++)
		KUNIT_EXPECT_NULL(test, receive(test, too_long[i], BY_THE_CARD));
	KUNIT_EXPECT_EQ(test, port->counters.too_long, ARRAY_SIZE(too_long));
	for (i = 0; i < ETH_HLEN; i++)
		KUNIT_EXPECT_NULL(test, receive(test, i, BY_THE_CARD));
	KUNIT_EXPECT_EQ(test, port->counters.too_short, ETH_HLEN);
	kfree_skb(receive(test, ETH_HLEN, BY_THE_CARD));
	KUNIT_EXPECT_EQ(test, port->counters.too_short, ETH_HLEN);
}

/* A frame of three descriptors is one that is too long. */
static void rx_parts(struct kunit *test)
{
	struct nll_port *port = test->priv;
	struct sk_buff *skb;

	KUNIT_EXPECT_NULL(test, receive(test, NLL_RX_BUFFER - NLL_FCS, NLL_RXD_DD));
	KUNIT_EXPECT_NULL(test, receive(test, NLL_RX_BUFFER - NLL_FCS, NLL_RXD_DD));
	/* The last part looks like a frame, but is not one. */
	KUNIT_EXPECT_NULL(test, receive(test, SMALL, BY_THE_CARD));
	KUNIT_EXPECT_EQ(test, port->counters.too_long, 1);
	skb = receive(test, SMALL, BY_THE_CARD);
	expect_frame(test, skb, 3, SMALL);
	kfree_skb(skb);
}

static unsigned int summed(struct kunit *test, u64 bits)
{
	struct sk_buff *skb = receive(test, SMALL, BY_THE_CARD | bits);
	unsigned int summed = skb->ip_summed;

	kfree_skb(skb);
	return summed;
}

/* The card is trusted only where it tested, and found nothing wrong. */
static void rx_checksums(struct kunit *test)
{
	struct nll_port *port = test->priv;

	KUNIT_EXPECT_EQ(test, summed(test, 0), CHECKSUM_NONE);
	KUNIT_EXPECT_EQ(test, summed(test, NLL_RXD_TCPCS), CHECKSUM_UNNECESSARY);
	KUNIT_EXPECT_EQ(test, summed(test, NLL_RXD_TCPCS | NLL_RXD_IXSM), CHECKSUM_NONE);
	KUNIT_EXPECT_EQ(test, summed(test, NLL_RXD_TCPCS | NLL_RXD_TCPE), CHECKSUM_NONE);
	KUNIT_EXPECT_EQ(test, summed(test, NLL_RXD_TCPCS | NLL_RXD_IPE), CHECKSUM_NONE);
	KUNIT_EXPECT_EQ(test, port->counters.bad_checksum, 2);
	port->rxcsum = false;
	KUNIT_EXPECT_EQ(test, summed(test, NLL_RXD_TCPCS), CHECKSUM_NONE);
}

/* Any occupancy, from any place in the ring. */
static void rx_occupancy(struct kunit *test)
{
	struct nll_port *port = test->priv;
	unsigned int round, i;
	struct sk_buff *skb;

	for (round = 0; round < 3; round++) {
		for (i = 0; i < RING - 1; i++) {
			KUNIT_EXPECT_EQ(test, nll_rx_waiting(port), i);
			write_ahead(port, i, SMALL, BY_THE_CARD);
		}
		for (; i > 0; i--) {
			KUNIT_EXPECT_EQ(test, nll_rx_waiting(port), i);
			KUNIT_EXPECT_TRUE(test, next(port, &skb));
			kfree_skb(skb);
		}
	}
	KUNIT_EXPECT_EQ(test, port->rx.next, 3 * (RING - 1) % RING);
}

/* Sockets may keep their pages: the card is never without one. */
static void rx_retained(struct kunit *test)
{
	unsigned int i;
	struct sk_buff_head kept;
	struct sk_buff *skb;

	skb_queue_head_init(&kept);
	for (i = 0; i < 3 * RING; i++) {
		skb = receive(test, LARGE, BY_THE_CARD);
		KUNIT_EXPECT_NOT_NULL(test, skb);
		if (skb)
			skb_queue_tail(&kept, skb);
	}
	for (i = 0; (skb = skb_dequeue(&kept)); i++) {
		expect_frame(test, skb, i % RING, LARGE);
		kfree_skb(skb);
	}
	KUNIT_EXPECT_EQ(test, i, 3 * RING);
}

static int fill_fails(struct nll_rx_ring *ring, unsigned int at, gfp_t gfp)
{
	return -ENOMEM;
}

/* A frame is lost, and its buffer is not. */
static void rx_no_memory(struct kunit *test)
{
	struct nll_port *port = test->priv;
	__le64 addr = port->rx.desc[0].addr;
	struct sk_buff *skb;

	kunit_activate_static_stub(test, nll_rx_fill, fill_fails);
	KUNIT_EXPECT_NULL(test, receive(test, LARGE, BY_THE_CARD));
	KUNIT_EXPECT_EQ(test, port->counters.no_buffer, 1);
	KUNIT_EXPECT_TRUE(test, port->rx.desc[0].addr == addr);
	kunit_deactivate_static_stub(test, nll_rx_fill);
	skb = receive(test, LARGE, BY_THE_CARD);
	expect_frame(test, skb, 1, LARGE);
	kfree_skb(skb);
}

/* A card whose receiver is on may write into the ring, whatever head and tail say. */
static void rx_taken_away(struct kunit *test)
{
	struct nll_port *port = test->priv;

	spin_lock_init(&port->netdev->addr_list_lock);
	nll_hw_start_rx(port);
	KUNIT_EXPECT_EQ(test, nll_read(port, NLL_RDBAL), lower_32_bits(port->rx.dma));
	KUNIT_EXPECT_EQ(test, nll_read(port, NLL_RDT), RING - 1);
	KUNIT_EXPECT_TRUE(test, nll_read(port, NLL_RCTL) & NLL_RCTL_EN);
	nll_hw_stop_rx(port);
	KUNIT_EXPECT_FALSE(test, nll_read(port, NLL_RCTL) & NLL_RCTL_EN);
	/* Nor does a change of the filter give it back. */
	nll_hw_set_filter(port);
	KUNIT_EXPECT_FALSE(test, nll_read(port, NLL_RCTL) & NLL_RCTL_EN);
}

static struct kunit_case nll_rx_cases[] = {
	KUNIT_CASE(rx_nothing),
	KUNIT_CASE(rx_small),
	KUNIT_CASE(rx_large),
	KUNIT_CASE(rx_in_handler),
	KUNIT_CASE(rx_errors),
	KUNIT_CASE(rx_lengths),
	KUNIT_CASE(rx_parts),
	KUNIT_CASE(rx_checksums),
	KUNIT_CASE(rx_occupancy),
	KUNIT_CASE(rx_retained),
	KUNIT_CASE(rx_no_memory),
	KUNIT_CASE(rx_taken_away),
	{}
};

struct kunit_suite nll_rx_suite = {
	.name		= "nll_rx",
	.init		= rx_init,
	.test_cases	= nll_rx_cases,
};
