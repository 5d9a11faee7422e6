/* SPDX-License-Identifier: GPL-2.0 */
/*
 * interrupt.h - Ctrl-C and other requests to end wait until what has been made is
 * removed again.
 *
 *	hold_interrupts();
 *	make things, start children, each with release_interrupts();
 *	await_signal(...);		returns early when there is a request
 *	remove the things;
 *	end_interrupts();		ends the program if there was one
 */
#ifndef IPCLAT_INTERRUPT_H
#define IPCLAT_INTERRUPT_H

#include "types.h"

/* From here on SIGHUP, SIGINT, SIGQUIT and SIGTERM wait, and SIGCHLD does. */
void hold_interrupts(void);

/* In a child: they do what they did before. */
void release_interrupts(void);

/*
 * Sleep until a child ends or there is a request, or @deadline_ns (CLOCK_MONOTONIC).
 * It may also return for nothing.
 */
void await_signal(u64 deadline_ns);

/* Whether there is or was a request. */
bool interrupted(void);

/* They do what they did before; if there was a request, that ends us here. */
void end_interrupts(void);

#endif /* IPCLAT_INTERRUPT_H */
