/* SPDX-License-Identifier: GPL-2.0 */
/* pair.h - both sides, from their start to their end. */
#ifndef IPCLAT_PAIR_H
#define IPCLAT_PAIR_H

#include "side.h"

/*
 * One repeat; its samples are added to @h. NULL, or why that failed: a side died or
 * did not end in time.
 */
const char *run_pair(const struct settings *s, const struct mechanism *m, struct histogram *h);

#endif /* IPCLAT_PAIR_H */
