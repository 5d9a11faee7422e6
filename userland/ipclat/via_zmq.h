/* SPDX-License-Identifier: GPL-2.0 */
/* via_zmq.h - ZeroMQ for other files: one socket a side, at the page's endpoint. */
#ifndef IPCLAT_VIA_ZMQ_H
#define IPCLAT_VIA_ZMQ_H

#include "mechanism.h"

void zmq_start(struct page *page, enum side side, int type);
void zmq_put(struct page *page, enum side side, u64 word);
u64 zmq_get(struct page *page, enum side side);
void zmq_stop(struct page *page, enum side side);
/* NULL, or why TMPDIR cannot hold the socket. */
const char *zmq_ipc_missing(void);
void zmq_ipc_endpoint(struct page *page);
void zmq_ipc_remove(struct page *page);

#endif /* IPCLAT_VIA_ZMQ_H */
