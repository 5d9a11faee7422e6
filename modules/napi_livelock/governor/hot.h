/* SPDX-License-Identifier: GPL-2.0-only */
/* Sockets that cannot take more: which, and whether a frame is for one of them. */
#ifndef NLL_HOT_H
#define NLL_HOT_H

#include <linux/types.h>

struct sk_buff;
struct sock;

/* Of more than so many at a time the rest is not known: their frames go all the way. */
#define NLL_HOT_MAX	64
/* So many classes of ports are told apart before a socket is looked for. */
#define NLL_HOT_PORTS	64

bool nll_hot_is_last(const struct sock *sk);
void nll_hot_add(struct sock *sk);
bool nll_hot_begin(unsigned int low);
bool nll_hot_any_cold(unsigned int low);
bool nll_hot_is_for(struct sk_buff *skb, bool *full);

#endif /* NLL_HOT_H */
