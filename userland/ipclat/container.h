/* SPDX-License-Identifier: GPL-2.0 */
/*
 * container.h - the two sides in two containers, each with mounts, processes, IPC and a
 * network of its own.
 */
#ifndef IPCLAT_CONTAINER_H
#define IPCLAT_CONTAINER_H

#include "side.h"

/* One repeat; its samples are added to @h. NULL, or why that failed. */
const char *run_containers(const struct settings *s, const struct mechanism *m,
			   struct histogram *h);

/* In a container, as ipclat --side NAME: the exit status. */
int contained_side(const struct mechanism *m, const char *name);

#endif /* IPCLAT_CONTAINER_H */
