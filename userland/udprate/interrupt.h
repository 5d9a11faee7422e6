/* SPDX-License-Identifier: GPL-2.0 */
/* interrupt.h - SIGINT and SIGTERM end a run early, and its results are kept. */
#ifndef UDPRATE_INTERRUPT_H
#define UDPRATE_INTERRUPT_H

#include "types.h"

/* Processes that are forked after this share what they are told. */
void interrupt_watch(void);

bool interrupted(void);

/* Sleep until CLOCK_MONOTONIC shows @when_ns; false when it was interrupted before. */
bool sleep_or_interrupt(u64 when_ns);

#endif /* UDPRATE_INTERRUPT_H */
