/* SPDX-License-Identifier: GPL-2.0-only */
/* Hot sockets, and the frames for them. */
#ifndef RXGOV_HOT_H
#define RXGOV_HOT_H

#include <linux/types.h>

struct sk_buff;
struct sock;

/* The most hot sockets that are known: frames for others are processed normally. */
#define RXGOV_HOT_MAX	64
/* Classes of ports that are told apart before the look-up of a socket. */
#define RXGOV_HOT_PORTS	64

bool rxgov_hot_is_last(const struct sock *sk);
void rxgov_hot_add(struct sock *sk);
bool rxgov_hot_begin(unsigned int low);
bool rxgov_hot_any_cold(unsigned int low);
bool rxgov_hot_is_for(struct sk_buff *skb, bool *full);

#endif /* RXGOV_HOT_H */
