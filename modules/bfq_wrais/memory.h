/* SPDX-License-Identifier: GPL-2.0-only */
/* The dirty throttle and privileged writers. */
#ifndef _WRAIS_MEMORY_H
#define _WRAIS_MEMORY_H

#include <linux/types.h>

extern unsigned int wrais_headroom_pct;
extern unsigned int wrais_nap_ms;

unsigned long wrais_headroom(unsigned long thresh, unsigned long avail, unsigned int pct);
bool wrais_naps(unsigned long waited, long nap, long *pause);

#endif /* _WRAIS_MEMORY_H */
