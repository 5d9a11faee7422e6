/* SPDX-License-Identifier: GPL-2.0 */
/*
 * container_net.h - the networks of two containers. Each of these exits with EXIT_FAILED
 * when it cannot.
 */
#ifndef IPCLAT_CONTAINER_NET_H
#define IPCLAT_CONTAINER_NET_H

#include "container_files.h"

/* A network that a child process of ours keeps in being. */
void start_network(struct container *one);
void stop_network(struct container *one);
/* A pair of interfaces between the two, each with its address. */
void join_networks(const struct containers *c);

#endif /* IPCLAT_CONTAINER_NET_H */
