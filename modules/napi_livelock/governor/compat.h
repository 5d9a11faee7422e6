/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Names of the network code that differ between kernels; those of 6.12 are the default.
 * The driver, which is built without the governor, too, has its own.
 */
#ifndef _RXGOV_COMPAT_H
#define _RXGOV_COMPAT_H

#include <linux/atomic.h>
#include <linux/hrtimer.h>
#include <linux/netdevice.h>
#include <linux/version.h>
#include <net/hotdata.h>
#include <net/net_namespace.h>
#include <net/udp.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

/* In 7.2 packet sockets for all protocols belong to a namespace, which has one table for UDP. */
#if LINUX_VERSION_CODE < KERNEL_VERSION(7, 2, 0)
static inline const struct list_head *rxgov_see_all(const struct net *net)
{
	return &net_hotdata.ptype_all;
}

/* Does a packet socket without a device receive frames of this protocol, as IP does? */
static inline bool rxgov_is_seen(const struct net *net, __be16 protocol)
{
	return !list_is_singular(&ptype_base[ntohs(protocol) & PTYPE_HASH_MASK]);
}

static inline struct sock *rxgov_udp4_lookup(const struct net *net, __be32 saddr, __be16 sport,
					     __be32 daddr, __be16 dport, int dif)
{
	return __udp4_lib_lookup(net, saddr, sport, daddr, dport, dif, 0, net->ipv4.udp_table,
				 NULL);
}

static inline struct sock *rxgov_udp6_lookup(const struct net *net, const struct in6_addr *saddr,
					     __be16 sport, const struct in6_addr *daddr,
					     __be16 dport, int dif)
{
	return __udp6_lib_lookup(net, saddr, sport, daddr, dport, dif, 0, net->ipv4.udp_table,
				 NULL);
}

/* In a softirq. */
#define rxgov_udp_count(net, field)	__UDP_INC_STATS(net, field, false)
#define rxgov_udp6_count(net, field)	__UDP6_INC_STATS(net, field, false)

static inline void udp_drops_inc(struct sock *sk)
{
	atomic_inc(&sk->sk_drops);
}
#else
#define rxgov_udp_count(net, field)	__UDP_INC_STATS(net, field)
#define rxgov_udp6_count(net, field)	__UDP6_INC_STATS(net, field)

static inline const struct list_head *rxgov_see_all(const struct net *net)
{
	return &net->ptype_all;
}

static inline bool rxgov_is_seen(const struct net *net, __be16 protocol)
{
	return !list_empty(&net->ptype_specific);
}

static inline struct sock *rxgov_udp4_lookup(const struct net *net, __be32 saddr, __be16 sport,
					     __be32 daddr, __be16 dport, int dif)
{
	return __udp4_lib_lookup(net, saddr, sport, daddr, dport, dif, 0, NULL);
}

static inline struct sock *rxgov_udp6_lookup(const struct net *net, const struct in6_addr *saddr,
					     __be16 sport, const struct in6_addr *daddr,
					     __be16 dport, int dif)
{
	return __udp6_lib_lookup(net, saddr, sport, daddr, dport, dif, 0, NULL);
}
#endif

#endif /* _RXGOV_COMPAT_H */
