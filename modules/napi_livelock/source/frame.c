// SPDX-License-Identifier: GPL-2.0-only
/* frame.c - the bytes of a frame. */
#include <linux/etherdevice.h>
#include <linux/ip.h>
#include <linux/udp.h>
#include <net/checksum.h>
#include <net/ip.h>

#include "check.h"
#include "source.h"

#define SOURCE_PORT	9
#define TTL		64
#define LOST_BYTES	8	/* of a truncated frame; it stays above 60 bytes */
#define TRUNCATED_SIZE	100	/* least size that such a frame claims */

const char *const nll_malformed_names[] = {
	"none", "truncated", "length", "checksum", "ip-checksum", "oversized", "stray", NULL
};

struct headers {
	struct ethhdr eth;
	struct iphdr ip;
	struct udphdr udp;
} __packed;

static_assert(sizeof(struct headers) == NLL_HEADERS);

/* A neighbour of @ip: same network, last byte 1 or 254. */
static __be32 neighbour(__be32 ip)
{
	u32 host = be32_to_cpu(ip), last = (host & 0xff) == 1 ? 254 : 1;

	return cpu_to_be32((host & ~0xffU) | last);
}

static void set_ip_check(struct headers *h)
{
	h->ip.check = 0;
	h->ip.check = ip_fast_csum(&h->ip, h->ip.ihl);
}

static void build(const struct nll_target *t, u8 *bytes, u32 size)
{
	struct headers *h = (struct headers *)bytes;

	memset(h, 0, sizeof(*h));
	nll_target_address(t, h->eth.h_dest);
	h->eth.h_source[0] = 0x02;	/* locally administered */
	h->eth.h_source[5] = t->index;
	h->eth.h_proto = htons(ETH_P_IP);
	h->ip.version = IPVERSION;
	h->ip.ihl = sizeof(h->ip) / sizeof(u32);
	h->ip.ttl = TTL;
	h->ip.protocol = IPPROTO_UDP;
	h->ip.tot_len = htons(size - sizeof(h->eth));
	h->ip.saddr = neighbour(t->ip);
	h->ip.daddr = t->ip;
	set_ip_check(h);
	h->udp.source = htons(SOURCE_PORT);
	h->udp.dest = t->port;
	h->udp.len = htons(size - sizeof(h->eth) - sizeof(h->ip));
}

/* Faults that all malformed frames share; the checksum of UDP is each frame's own. */
static void spoil(const struct nll_config *c, struct nll_target *t)
{
	struct headers *h = (struct headers *)t->bad;

	t->bad_size = c->size;
	switch (c->malformed) {
	case NLL_TRUNCATED:
		build(t, t->bad, max(c->size, TRUNCATED_SIZE));
		t->bad_size = max(c->size, TRUNCATED_SIZE) - LOST_BYTES;
		break;
	case NLL_LENGTH:
		h->udp.len = htons(c->size);
		break;
	case NLL_IP_CHECKSUM:
		h->ip.check = (__force __sum16)~h->ip.check;
		break;
	case NLL_OVERSIZED:
		build(t, t->bad, NLL_OVERSIZE);
		t->bad_size = NLL_OVERSIZE;
		break;
	case NLL_STRAY:
		h->udp.dest = htons(ntohs(t->port) + NLL_STRAY_PORTS);
		break;
	}
}

/* Prepare the headers of a target's frames. */
void nll_frame_build(const struct nll_config *c, struct nll_target *t)
{
	build(t, t->good, c->size);
	build(t, t->bad, c->size);
	spoil(c, t);
}

static void set_wrong_check(struct headers *h)
{
	unsigned int length = ntohs(h->udp.len);
	__wsum sum;

	h->udp.check = 0;
	sum = csum_partial(&h->udp, length, 0);
	h->udp.check = nll_wrong_check(csum_tcpudp_magic(h->ip.saddr, h->ip.daddr, length,
							 IPPROTO_UDP, sum));
}

/*
 * Write frame number @seq into the next slot of a target's sender, which is free; @now is
 * CLOCK_MONOTONIC.
 */
void nll_frame_put(const struct nll_config *c, struct nll_target *t, u64 seq, u64 now)
{
	bool bad = c->every && (seq + 1) % c->every == 0;
	struct nll_device *dev = t->dev;
	u8 *bytes = dev->buffers + dev->tail * NLL_BUFFER;
	struct nll_stamp *stamp = (struct nll_stamp *)(bytes + NLL_HEADERS);
	u32 size = bad ? t->bad_size : c->size;

	memcpy(bytes, bad ? t->bad : t->good, NLL_HEADERS);
	stamp->magic = cpu_to_be32(NLL_STAMP_MAGIC);
	stamp->port = cpu_to_be32(t->index);
	stamp->seq = cpu_to_be64(seq);
	stamp->sent_ns = cpu_to_be64(now);
	if (bad) {
		t->total.malformed++;
		if (c->malformed == NLL_CHECKSUM)
			set_wrong_check((struct headers *)bytes);
	}
	dev->ring[dev->tail].lower = cpu_to_le32(size | NLL_TXD_EOP | NLL_TXD_IFCS);
	dev->tail = (dev->tail + 1) % NLL_SLOTS;
}
