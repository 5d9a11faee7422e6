/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receive governor: when a NAPI instance is polled again, decided from what
 * receiving costs, from who else wants the CPU, and from whether sockets can take what
 * comes.
 *
 * The interrupt of a governed instance stays masked between two rounds, and the timer
 * of gro_flush_timeout begins the next one. So this works for every driver that honours
 * what napi_complete_done() returns.
 */
#ifndef _LINUX_NLL_GOVERNOR_H
#define _LINUX_NLL_GOVERNOR_H

#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/types.h>

struct attribute_group;
struct sk_buff;
struct sock;

#ifdef CONFIG_NET_GOVERNOR

DECLARE_STATIC_KEY_FALSE(nll_governor_key);

/* The governed instance whose poll runs on a CPU. */
DECLARE_PER_CPU(struct napi_struct *, nll_polls);

/* How many sockets are hot. */
extern unsigned int nll_hot_nr;

extern const struct attribute_group nll_governor_group;

void nll_governor_init(struct net_device *dev);
void nll_governor_exit(struct net_device *dev);

void __nll_poll_begin(struct napi_struct *n);
bool __nll_round_over(struct napi_struct *n, int work);
u64 __nll_next_round(struct napi_struct *n, int work);
bool __nll_wait_on(struct napi_struct *n);
bool __nll_refuse(struct sk_buff *skb);
void __nll_filled(struct sock *sk, unsigned int rmem, unsigned int rcvbuf);
void __nll_refused(const struct sk_buff *skb);
void __nll_unhashed(struct sock *sk);

/* @n is added to its device. */
static inline void nll_governed_init(struct napi_struct *n)
{
	n->governed = (struct nll_governed){ };
}

/* A poll of @n begins. */
static inline void nll_poll_begin(struct napi_struct *n)
{
	if (static_branch_unlikely(&nll_governor_key))
		__nll_poll_begin(n);
}

/* It is over. Not behind the key, which may have been switched off since it began. */
static inline void nll_poll_end(struct napi_struct *n)
{
	this_cpu_write(nll_polls, NULL);
}

/* It may hand on so many frames, at most @weight. */
static inline int nll_weight(const struct napi_struct *n, int weight)
{
	if (static_branch_unlikely(&nll_governor_key) && unlikely(n->governed.weight))
		return min(n->governed.weight, weight);
	return weight;
}

/* It has handed on @work frames and has more, which have to wait for the next round. */
static inline bool nll_round_over(struct napi_struct *n, int work)
{
	return static_branch_unlikely(&nll_governor_key) && __nll_round_over(n, work);
}

/* After @work frames there are no more: the next round is in so many ns; 0: no round. */
static inline u64 nll_next_round(struct napi_struct *n, int work)
{
	return static_branch_unlikely(&nll_governor_key) ? __nll_next_round(n, work) : 0;
}

/* The time of a round has come, but a look says that there is no use in it yet. */
static inline bool nll_wait_on(struct napi_struct *n)
{
	return static_branch_unlikely(&nll_governor_key) && __nll_wait_on(n);
}

/* A frame that its socket would refuse, as far as can be told. */
static inline bool nll_refuse(struct sk_buff *skb)
{
	return static_branch_unlikely(&nll_governor_key) && unlikely(READ_ONCE(nll_hot_nr)) &&
	       __nll_refuse(skb);
}

/* @rmem of the @rcvbuf bytes that the receive buffer of @sk may have are used. */
static inline void nll_filled(struct sock *sk, unsigned int rmem, unsigned int rcvbuf)
{
	if (static_branch_unlikely(&nll_governor_key) && rmem > rcvbuf / 4)
		__nll_filled(sk, rmem, rcvbuf);
}

/* A full socket, or the full backlog of a CPU, did not take @skb. */
static inline void nll_refused(const struct sk_buff *skb)
{
	if (static_branch_unlikely(&nll_governor_key))
		__nll_refused(skb);
}

/*
 * @sk cannot be found any more. Not behind the key: a socket may have become hot
 * before it was switched off.
 */
static inline void nll_unhashed(struct sock *sk)
{
	if (unlikely(READ_ONCE(nll_hot_nr)))
		__nll_unhashed(sk);
}

#else

static inline void nll_governed_init(struct napi_struct *n) { }

static inline void nll_governor_init(struct net_device *dev) { }
static inline void nll_governor_exit(struct net_device *dev) { }
static inline void nll_poll_begin(struct napi_struct *n) { }
static inline void nll_poll_end(struct napi_struct *n) { }
static inline int nll_weight(const struct napi_struct *n, int weight) { return weight; }
static inline bool nll_round_over(struct napi_struct *n, int work) { return false; }
static inline u64 nll_next_round(struct napi_struct *n, int work) { return 0; }
static inline bool nll_wait_on(struct napi_struct *n) { return false; }
static inline bool nll_refuse(struct sk_buff *skb) { return false; }
static inline void nll_filled(struct sock *sk, unsigned int rmem, unsigned int rcvbuf) { }
static inline void nll_refused(const struct sk_buff *skb) { }
static inline void nll_unhashed(struct sock *sk) { }

#endif /* CONFIG_NET_GOVERNOR */

#endif /* _LINUX_NLL_GOVERNOR_H */
