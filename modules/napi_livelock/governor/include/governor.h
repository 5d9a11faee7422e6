/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The receive governor decides when a NAPI instance is polled again, from the cost of
 * receiving, from the tasks that want the CPU, and from whether sockets have room for the
 * frames.
 *
 * The interrupt of a governed instance stays masked between two rounds, and the timer of
 * gro_flush_timeout begins the next one. So this works for every driver that honours what
 * napi_complete_done() returns.
 */
#ifndef _LINUX_RXGOV_GOVERNOR_H
#define _LINUX_RXGOV_GOVERNOR_H

#include <linux/jump_label.h>
#include <linux/minmax.h>
#include <linux/netdevice.h>
#include <linux/percpu.h>
#include <linux/types.h>
#include <net/sock.h>

struct attribute_group;
struct sk_buff;

#ifdef CONFIG_NET_GOVERNOR

DECLARE_STATIC_KEY_FALSE(rxgov_key);

/* The governed instance whose poll runs on a CPU. */
DECLARE_PER_CPU(struct napi_struct *, rxgov_polls);

/* The number of hot sockets. */
extern unsigned int rxgov_hot_nr;

extern const struct attribute_group rxgov_group;

void rxgov_init(struct net_device *dev);
void rxgov_exit(struct net_device *dev);

void __rxgov_poll_begin(struct napi_struct *n);
bool __rxgov_round_over(struct napi_struct *n, int work);
u64 __rxgov_next_round(struct napi_struct *n);
bool __rxgov_wait_on(struct napi_struct *n);
bool __rxgov_refuse(struct sk_buff *skb);
void __rxgov_filled(struct sock *sk);
void __rxgov_refused(struct sock *sk, const struct sk_buff *skb);
void __rxgov_unhashed(struct sock *sk);
void rxgov_backlog_init(struct napi_struct *n);
bool __rxgov_backlog_waits(struct napi_struct *n, unsigned int limit);

/* Not those that only send, nor those of tunnels, whose frames another one has received. */
static inline bool rxgov_can_govern(const struct napi_struct *n)
{
	return !test_bit(NAPI_STATE_NO_BUSY_POLL, &n->state);
}

/* @n is added to its device. */
static inline void rxgov_napi_init(struct napi_struct *n)
{
	n->governed = (struct rxgov_napi){ };
	if (rxgov_can_govern(n))
		n->governed.mode = READ_ONCE(n->dev->governor.mode);
}

/* A poll of @n begins. */
static inline void rxgov_poll_begin(struct napi_struct *n)
{
	if (static_branch_unlikely(&rxgov_key))
		__rxgov_poll_begin(n);
}

/* It is over. Not behind the key, which may have been switched off since it began. */
static inline void rxgov_poll_end(struct napi_struct *n)
{
	this_cpu_write(rxgov_polls, NULL);
}

/* The most frames that it may hand on, at most @weight. */
static inline int rxgov_weight(const struct napi_struct *n, int weight)
{
	if (static_branch_unlikely(&rxgov_key) && unlikely(n->governed.weight))
		return min(n->governed.weight, weight);
	return weight;
}

/* It has handed on @work frames and has more, which have to wait for the next round. */
static inline bool rxgov_round_over(struct napi_struct *n, int work)
{
	return static_branch_unlikely(&rxgov_key) && __rxgov_round_over(n, work);
}

/* A poll of @n ends after @work frames; stored, so that no caller has to keep it. */
static inline void rxgov_poll_handed(struct napi_struct *n, int work)
{
	if (static_branch_unlikely(&rxgov_key))
		n->governed.handed = work;
}

/* The ring is empty after these frames. Return: ns until the next round; 0: no round. */
static inline u64 rxgov_next_round(struct napi_struct *n)
{
	return static_branch_unlikely(&rxgov_key) ? __rxgov_next_round(n) : 0;
}

/* The time of a round has come: is a round of no use yet? */
static inline bool rxgov_wait_on(struct napi_struct *n)
{
	return static_branch_unlikely(&rxgov_key) && __rxgov_wait_on(n);
}

/* Would the socket of this frame refuse it, as far as is known? */
static inline bool rxgov_refuse(struct sk_buff *skb)
{
	return static_branch_unlikely(&rxgov_key) && unlikely(READ_ONCE(rxgov_hot_nr)) &&
	       __rxgov_refuse(skb);
}

/* A frame goes into the receive buffer of @sk, which may be filled. */
static inline void rxgov_filled(struct sock *sk)
{
	if (static_branch_unlikely(&rxgov_key) &&
	    atomic_read(&sk->sk_rmem_alloc) > READ_ONCE(sk->sk_rcvbuf) / 4)
		__rxgov_filled(sk);
}

/* A full socket, or the full backlog of a CPU if @sk is NULL, did not take @skb. */
static inline void rxgov_refused(struct sock *sk, const struct sk_buff *skb)
{
	if (static_branch_unlikely(&rxgov_key))
		__rxgov_refused(sk, skb);
}

/*
 * @sk cannot be found any longer. Not behind the key: a socket may have become hot before
 * it was switched off.
 */
static inline void rxgov_unhashed(struct sock *sk)
{
	/* Pairs with that of rxgov_hot_add(). */
	smp_mb();
	if (unlikely(READ_ONCE(rxgov_hot_nr)))
		__rxgov_unhashed(sk);
}

/*
 * @skb is about to be queued for the CPU whose backlog is @n, which may be another one. The
 * backlog's lock is held. A frame of a device that is not governed lifts no limit.
 */
static inline void rxgov_backlog_queued(struct napi_struct *n, const struct sk_buff *skb)
{
	if (!static_branch_unlikely(&rxgov_key))
		return;
	if (READ_ONCE(skb->dev->governor.on))
		WRITE_ONCE(n->governed.limit, READ_ONCE(skb->dev->governor.limit));
	else if (skb_queue_empty(&container_of(n, struct softnet_data, backlog)->input_pkt_queue))
		WRITE_ONCE(n->governed.limit, 0);
}

/*
 * A poll of @n is over, and if @n is the backlog of this CPU it has to wait: it keeps
 * NAPI_STATE_SCHED, is on no list, and only its timer schedules it. The limit is read
 * once: without the backlog's lock, another CPU may set it to 0 at any moment.
 */
static inline bool rxgov_backlog_waits(struct napi_struct *n)
{
	unsigned int limit;

	if (!static_branch_unlikely(&rxgov_key) || n->dev)
		return false;
	limit = READ_ONCE(n->governed.limit);
	return limit && __rxgov_backlog_waits(n, limit);
}

/*
 * The CPU of backlog @n is offline: did it wait? Its timer, which moved to another CPU, is
 * stopped. Not behind the key, which may have been switched off meanwhile.
 */
static inline bool rxgov_backlog_stop(struct napi_struct *n)
{
	if (n->governed.why == RXGOV_WHY_NONE)
		return false;
	hrtimer_cancel(&n->timer);
	n->governed.why = RXGOV_WHY_NONE;
	return true;
}

#else

static inline void rxgov_napi_init(struct napi_struct *n) { }

static inline void rxgov_init(struct net_device *dev) { }
static inline void rxgov_exit(struct net_device *dev) { }
static inline void rxgov_poll_begin(struct napi_struct *n) { }
static inline void rxgov_poll_end(struct napi_struct *n) { }
static inline int rxgov_weight(const struct napi_struct *n, int weight) { return weight; }
static inline bool rxgov_round_over(struct napi_struct *n, int work) { return false; }
static inline void rxgov_poll_handed(struct napi_struct *n, int work) { }
static inline u64 rxgov_next_round(struct napi_struct *n) { return 0; }
static inline bool rxgov_wait_on(struct napi_struct *n) { return false; }
static inline bool rxgov_refuse(struct sk_buff *skb) { return false; }
static inline void rxgov_filled(struct sock *sk) { }
static inline void rxgov_refused(struct sock *sk, const struct sk_buff *skb) { }
static inline void rxgov_unhashed(struct sock *sk) { }
static inline void rxgov_backlog_init(struct napi_struct *n) { }
static inline void rxgov_backlog_queued(struct napi_struct *n, const struct sk_buff *skb) { }
static inline bool rxgov_backlog_waits(struct napi_struct *n) { return false; }
static inline bool rxgov_backlog_stop(struct napi_struct *n) { return false; }

#endif /* CONFIG_NET_GOVERNOR */

#endif /* _LINUX_RXGOV_GOVERNOR_H */
