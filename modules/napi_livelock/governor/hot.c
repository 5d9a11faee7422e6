// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hot sockets: those that cannot take more.
 *
 * A UDP socket is hot from when its buffer is full, or filled to the high watermark while a
 * socket has lost a frame within a second, until it is below the low one. A frame that it has
 * no room for is dropped as soon as its ports can be read: it would be dropped at the socket,
 * after more work. This is lazy receiver processing (Druschel and Banga, 1996) for the sockets
 * that need it.
 *
 * The socket of a frame is looked up as UDP does, and only if a hot socket has its port.
 * Where the look-up could give another answer further up (another device, address
 * translation, forwarding, a program that chooses the socket), or other sockets receive the
 * frame as well (of packets, raw ones, the members of a group), nothing is dropped here. A
 * socket of a group with one port (SO_REUSEPORT) is never hot: a program may choose
 * between them. Nor is one that decapsulates: most of its frames do not enter its buffer.
 * UDP's counters and the socket's own have each frame that is dropped here.
 *
 * Locking: rxgov_hot_lock for changes, RCU for readers. A socket stays in the table only
 * while it is hashed: rxgov_hot_add() tests that once it is there, rxgov_unhashed() looks for
 * it after it was unhashed, and the barrier of each lets one of them see what the other did.
 * UDP frees sockets after a grace period (SOCK_RCU_FREE), so readers need no reference.
 */

#include <linux/bitmap.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_vlan.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/netdevice.h>
#include <linux/netfilter.h>
#include <linux/rcupdate.h>
#include <linux/skbuff.h>
#include <linux/spinlock.h>
#include <linux/udp.h>
#include <net/addrconf.h>
#include <net/inet_sock.h>
#include <net/ip.h>
#include <net/raw.h>
#include <net/rawv6.h>
#include <net/sock.h>
#include <net/udp.h>

#include <linux/rxgov/governor.h>

#include "compat.h"
#include "hot.h"

/* The key of a flow. An address of IPv4 is the first word of its place. */
struct rxgov_flow {
	const struct net_device *dev;
	struct in6_addr saddr;
	struct in6_addr daddr;
	__be16 source;
	__be16 dest;
	__be16 protocol;
};

/**
 * struct rxgov_hot_last - the socket of the last frames of this poll
 * @changes: rxgov_hot_changes at the look-up; 0: there was none
 * @flow: of the frames
 * @sk: their socket
 * @is_hot: the socket is hot, and hashed as long as there is no change
 */
struct rxgov_hot_last {
	unsigned int changes;
	struct rxgov_flow flow;
	struct sock *sk;
	bool is_hot;
};

static DEFINE_PER_CPU(struct rxgov_hot_last, rxgov_hot_last);

static DEFINE_SPINLOCK(rxgov_hot_lock);
/* The sockets; which places have one; which ports they may have, by their last bits. */
static struct sock __rcu *rxgov_hot[RXGOV_HOT_MAX];
static DECLARE_BITMAP(rxgov_hot_used, RXGOV_HOT_MAX);
static DECLARE_BITMAP(rxgov_hot_ports, RXGOV_HOT_PORTS);
/* How many; and how often the table changed, which is never 0. */
unsigned int rxgov_hot_nr;
static unsigned int rxgov_hot_changes = 1;

static unsigned int rxgov_hot_port(__be16 port)
{
	return ntohs(port) % RXGOV_HOT_PORTS;
}

static bool rxgov_hot_has(const struct sock *sk)
{
	unsigned int i;

	for_each_set_bit(i, rxgov_hot_used, RXGOV_HOT_MAX)
		if (rcu_access_pointer(rxgov_hot[i]) == sk)
			return true;
	return false;
}

static struct sock *rxgov_hot_at(unsigned int i)
{
	return rcu_dereference_protected(rxgov_hot[i], lockdep_is_held(&rxgov_hot_lock));
}

/* Place @i has another socket, or none, from now on; rxgov_hot_changed() follows. */
static void rxgov_hot_set(unsigned int i, struct sock *sk)
{
	lockdep_assert_held(&rxgov_hot_lock);
	rcu_assign_pointer(rxgov_hot[i], sk);
	__assign_bit(i, rxgov_hot_used, sk);
}

/* Some places have changed: all that depends on them follows. */
static void rxgov_hot_changed(void)
{
	unsigned int i;

	WRITE_ONCE(rxgov_hot_nr, bitmap_weight(rxgov_hot_used, RXGOV_HOT_MAX));
	WRITE_ONCE(rxgov_hot_changes, rxgov_hot_changes + 1 ?: 1);

	bitmap_zero(rxgov_hot_ports, RXGOV_HOT_PORTS);
	for_each_set_bit(i, rxgov_hot_used, RXGOV_HOT_MAX)
		__set_bit(READ_ONCE(inet_sk(rxgov_hot_at(i))->inet_num) % RXGOV_HOT_PORTS,
			  rxgov_hot_ports);
}

/**
 * rxgov_hot_is_last() - is it the socket of the last frame, and hot?
 * @sk: a UDP socket, on the CPU of a poll
 *
 * Return: false if that is unknown.
 */
bool rxgov_hot_is_last(const struct sock *sk)
{
	const struct rxgov_hot_last *last = this_cpu_ptr(&rxgov_hot_last);

	return last->sk == sk && last->is_hot && last->changes == READ_ONCE(rxgov_hot_changes);
}

/* Some of its frames are for another socket, or for none, or it is freed without a delay. */
static bool rxgov_hot_is_never(const struct sock *sk)
{
	return sk->sk_reuseport || READ_ONCE(udp_sk(sk)->encap_type) ||
	       !sock_flag(sk, SOCK_RCU_FREE);
}

/* A UDP socket becomes hot; in an RCU section. */
void rxgov_hot_add(struct sock *sk)
{
	unsigned int i;

	if (rxgov_hot_is_never(sk) || READ_ONCE(rxgov_hot_nr) == RXGOV_HOT_MAX ||
	    rxgov_hot_has(sk))
		return;
	spin_lock_bh(&rxgov_hot_lock);
	i = find_first_zero_bit(rxgov_hot_used, RXGOV_HOT_MAX);
	if (i < RXGOV_HOT_MAX && !rxgov_hot_has(sk)) {
		rxgov_hot_set(i, sk);
		rxgov_hot_changed();
		/* Pairs with that of rxgov_unhashed(), which else may find the table empty. */
		smp_mb();
		if (!sk_hashed(sk)) {
			rxgov_hot_set(i, NULL);
			rxgov_hot_changed();
		}
	}
	spin_unlock_bh(&rxgov_hot_lock);
}

/* See rxgov_unhashed(). */
void __rxgov_unhashed(struct sock *sk)
{
	unsigned int i;

	spin_lock_bh(&rxgov_hot_lock);
	for_each_set_bit(i, rxgov_hot_used, RXGOV_HOT_MAX)
		if (rcu_access_pointer(rxgov_hot[i]) == sk) {
			rxgov_hot_set(i, NULL);
			rxgov_hot_changed();
		}
	spin_unlock_bh(&rxgov_hot_lock);
}

static bool rxgov_hot_is_cold(const struct sock *sk, unsigned int low)
{
	u64 rmem = atomic_read(&sk->sk_rmem_alloc);

	return 100 * rmem < (u64)low * READ_ONCE(sk->sk_rcvbuf);
}

/* Is one of them colder than the low watermark [%]? */
bool rxgov_hot_any_cold(unsigned int low)
{
	const struct sock *sk;
	unsigned int i;

	guard(rcu)();
	for_each_set_bit(i, rxgov_hot_used, RXGOV_HOT_MAX) {
		sk = rcu_dereference(rxgov_hot[i]);
		if (sk && rxgov_hot_is_cold(sk, low))
			return true;
	}
	return false;
}

/* Remove cold sockets. */
static void rxgov_hot_cool(unsigned int low)
{
	unsigned int i;

	spin_lock_bh(&rxgov_hot_lock);
	for_each_set_bit(i, rxgov_hot_used, RXGOV_HOT_MAX)
		if (rxgov_hot_is_cold(rxgov_hot_at(i), low))
			rxgov_hot_set(i, NULL);
	rxgov_hot_changed();
	spin_unlock_bh(&rxgov_hot_lock);
}

/* Programs and rules that may redirect the frame before IP looks for a socket. */
static bool rxgov_hot_is_hooked(const struct net_device *dev)
{
	if (rcu_access_pointer(dev->rx_handler) || rcu_access_pointer(dev->xdp_prog))
		return true;
#ifdef CONFIG_NET_XGRESS
	if (rcu_access_pointer(dev->tcx_ingress))
		return true;
#endif
#ifdef CONFIG_NETFILTER_INGRESS
	if (rcu_access_pointer(dev->nf_hooks_ingress))
		return true;
#endif
#ifdef CONFIG_NETFILTER
	if (rcu_access_pointer(dev_net(dev)->nf.hooks_ipv4[NF_INET_PRE_ROUTING]) ||
	    rcu_access_pointer(dev_net(dev)->nf.hooks_ipv6[NF_INET_PRE_ROUTING]))
		return true;
#endif
	return false;
}

/* A frame for another address than the machine's is forwarded. */
static bool rxgov_hot_is_router(const struct net_device *dev)
{
	const struct in_device *in_dev = __in_dev_get_rcu(dev);
#if IS_ENABLED(CONFIG_IPV6)
	/* NULL until the module of IPv6 is loaded, and always with ipv6.disable=1. */
	const struct ipv6_devconf *every = READ_ONCE(dev_net(dev)->ipv6.devconf_all);

	if (every && READ_ONCE(every->forwarding))
		return true;
#endif
	return !in_dev || IN_DEV_FORWARD(in_dev);
}

/* Sockets of packets receive the frame as well. */
static bool rxgov_hot_is_tapped(const struct net_device *dev, __be16 protocol)
{
	const struct net *net = dev_net(dev);

	return !list_empty(&dev->ptype_all) || !list_empty(&dev->ptype_specific) ||
	       !list_empty(rxgov_see_all(net)) || rxgov_is_seen(net, protocol);
}

/* Raw sockets of UDP are there, of this namespace or another one. */
static bool rxgov_hot_is_raw(const struct net *net, __be16 protocol)
{
	unsigned int hash = raw_hashfunc(net, IPPROTO_UDP);

#if IS_BUILTIN(CONFIG_IPV6)
	if (protocol == htons(ETH_P_IPV6))
		return !hlist_empty(&raw_v6_hashinfo.ht[hash]);
#endif
	return !hlist_empty(&raw_v4_hashinfo.ht[hash]);
}

/* It is for an address of the machine: not for a group, for all, or for others. */
static bool rxgov_hot_is_ours(struct net *net, const struct rxgov_flow *flow)
{
#if IS_BUILTIN(CONFIG_IPV6)
	if (flow->protocol == htons(ETH_P_IPV6))
		return ipv6_chk_addr(net, &flow->daddr, NULL, 0);
#endif
	return inet_lookup_ifaddr_rcu(net, flow->daddr.s6_addr32[0]);
}

/* Nothing is between the device and the socket that UDP would find, and no other gets it. */
static bool rxgov_hot_path_is_plain(const struct sk_buff *skb, const struct rxgov_flow *flow)
{
	const struct net_device *dev = skb->dev;

	return skb->pkt_type == PACKET_HOST && !skb_vlan_tag_present(skb) &&
	       !netif_is_l3_slave(dev) && !rxgov_hot_is_tapped(dev, skb->protocol) &&
	       !rxgov_hot_is_raw(dev_net(dev), skb->protocol) &&
	       !static_branch_unlikely(&bpf_sk_lookup_enabled) && !rxgov_hot_is_hooked(dev) &&
	       !rxgov_hot_is_router(dev) && rxgov_hot_is_ours(dev_net(dev), flow);
}

/* Read the key of a UDP flow; false for other frames, and for some fragments. */
static bool rxgov_flow_of(struct sk_buff *skb, struct rxgov_flow *flow)
{
	unsigned int at;
	struct udphdr _uh, *uh;

	*flow = (struct rxgov_flow){ .dev = skb->dev, .protocol = skb->protocol };
	if (skb->protocol == htons(ETH_P_IP)) {
		struct iphdr _ip, *ip = skb_header_pointer(skb, 0, sizeof(_ip), &_ip);

		/* Options may change the address. */
		if (!ip || ip->ihl != 5 || ip->protocol != IPPROTO_UDP ||
		    ip->frag_off & htons(IP_MF | IP_OFFSET))
			return false;
		flow->saddr.s6_addr32[0] = ip->saddr;
		flow->daddr.s6_addr32[0] = ip->daddr;
		at = sizeof(*ip);
	} else if (IS_BUILTIN(CONFIG_IPV6) && skb->protocol == htons(ETH_P_IPV6) &&
		   ipv6_mod_enabled()) {
		struct ipv6hdr _ip, *ip = skb_header_pointer(skb, 0, sizeof(_ip), &_ip);

		if (!ip || ip->nexthdr != IPPROTO_UDP)
			return false;
		flow->saddr = ip->saddr;
		flow->daddr = ip->daddr;
		at = sizeof(*ip);
	} else {
		return false;
	}
	uh = skb_header_pointer(skb, at, sizeof(_uh), &_uh);
	if (!uh)
		return false;
	flow->source = uh->source;
	flow->dest = uh->dest;
	return true;
}

/* The socket that UDP would find. */
static struct sock *rxgov_hot_lookup(const struct rxgov_flow *flow)
{
	struct net *net = dev_net(flow->dev);

#if IS_BUILTIN(CONFIG_IPV6)
	if (flow->protocol == htons(ETH_P_IPV6))
		return rxgov_udp6_lookup(net, &flow->saddr, flow->source, &flow->daddr,
					 flow->dest, flow->dev->ifindex);
#endif
	return rxgov_udp4_lookup(net, flow->saddr.s6_addr32[0], flow->source,
				 flow->daddr.s6_addr32[0], flow->dest, flow->dev->ifindex);
}

/**
 * rxgov_hot_begin() - a poll begins on this CPU while sockets are hot
 * @low: watermark [%]
 *
 * Return: whether some are still hot.
 */
bool rxgov_hot_begin(unsigned int low)
{
	if (rxgov_hot_any_cold(low))
		rxgov_hot_cool(low);
	this_cpu_write(rxgov_hot_last.changes, 0);
	return READ_ONCE(rxgov_hot_nr);
}

/* It is of the same flow as the last one, as most of a flood are: IPv4 without options. */
static bool rxgov_flow_is_same(const struct rxgov_flow *flow, const struct sk_buff *skb)
{
	const struct iphdr *ip = (const struct iphdr *)skb->data;
	const struct udphdr *uh = (const struct udphdr *)(ip + 1);

	return flow->protocol == skb->protocol && skb->protocol == htons(ETH_P_IP) &&
	       skb_headlen(skb) >= sizeof(*ip) + sizeof(*uh) && ip->version == 4 &&
	       ip->ihl == 5 && ip->protocol == IPPROTO_UDP &&
	       !(ip->frag_off & htons(IP_MF | IP_OFFSET)) &&
	       ip->saddr == flow->saddr.s6_addr32[0] && ip->daddr == flow->daddr.s6_addr32[0] &&
	       uh->source == flow->source && uh->dest == flow->dest && skb->dev == flow->dev;
}

/* Look up the socket of a frame. False: it cannot be for a hot socket, or is unknown. */
static bool rxgov_hot_ask(struct rxgov_hot_last *last, struct sk_buff *skb)
{
	struct rxgov_flow flow;

	if (!rxgov_flow_of(skb, &flow) || !test_bit(rxgov_hot_port(flow.dest), rxgov_hot_ports) ||
	    !rxgov_hot_path_is_plain(skb, &flow))
		return false;
	last->flow = flow;
	last->sk = rxgov_hot_lookup(&flow);
	last->is_hot = last->sk && rxgov_hot_has(last->sk) && !rxgov_hot_is_never(last->sk);
	last->changes = READ_ONCE(rxgov_hot_changes);
	return true;
}

/* Count a frame that @sk has no room for, as UDP does. */
static void rxgov_hot_drops(struct sock *sk, const struct sk_buff *skb)
{
	struct net *net = dev_net(skb->dev);

	udp_drops_inc(sk);
#if IS_ENABLED(CONFIG_IPV6)
	if (skb->protocol == htons(ETH_P_IPV6)) {
		rxgov_udp6_count(net, UDP_MIB_RCVBUFERRORS);
		rxgov_udp6_count(net, UDP_MIB_INERRORS);
		return;
	}
#endif
	rxgov_udp_count(net, UDP_MIB_RCVBUFERRORS);
	rxgov_udp_count(net, UDP_MIB_INERRORS);
}

/**
 * rxgov_hot_is_for() - is a frame for a hot socket?
 * @skb: the frame, from its IP header on; in a poll
 * @full: whether the socket has no room for it, if it is; counted as UDP counts it
 */
bool rxgov_hot_is_for(struct sk_buff *skb, bool *full)
{
	struct rxgov_hot_last *last = this_cpu_ptr(&rxgov_hot_last);

	guard(rcu)();
	if ((last->changes != READ_ONCE(rxgov_hot_changes) ||
	     !rxgov_flow_is_same(&last->flow, skb)) && !rxgov_hot_ask(last, skb))
		return false;
	if (!last->is_hot)
		return false;
	/* UDP takes a frame as long as those before it fit. */
	*full = atomic_read(&last->sk->sk_rmem_alloc) > READ_ONCE(last->sk->sk_rcvbuf);
	if (*full)
		rxgov_hot_drops(last->sk, skb);
	return true;
}
