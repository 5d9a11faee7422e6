/* SPDX-License-Identifier: GPL-2.0 */
/* transmit.h - a process that sends frames out of cards, whatever becomes of these. */
#ifndef LIVELOCK_TRANSMIT_H
#define LIVELOCK_TRANSMIT_H

#include <sys/types.h>

#include "nic.h"

struct transmit {
	pid_t pid;
	u64 *sent;	/* shared */
};

/*
 * Start it: broadcasts of an unassigned protocol, about a thousand a second out of each of
 * the @count interfaces. It ends with its parent. Exits with EXIT_FAILED when that is not
 * possible.
 */
void transmit_start(struct transmit *t, const struct nic *nics, unsigned int count);

/* End it; how many frames the kernel has taken. */
u64 transmit_stop(struct transmit *t);

#endif /* LIVELOCK_TRANSMIT_H */
