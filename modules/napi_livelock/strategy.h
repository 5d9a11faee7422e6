/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When a port leaves interrupts for polling, and when it returns: no more than
 * arithmetic, so that every transition can be tested.
 */
#ifndef NLL_STRATEGY_H
#define NLL_STRATEGY_H

#include <linux/types.h>

/**
 * enum nll_mode - how a port receives
 * @NLL_INTERRUPT: in the interrupt handler, which is never masked
 * @NLL_POLL: at fixed times only
 * @NLL_NAPI: the handler asks for NAPI's poll, and is masked while that has work
 * @NLL_HYBRID: as NAPI until the port is overrun, then at fixed times until it is calm
 */
enum nll_mode {
	NLL_INTERRUPT,
	NLL_POLL,
	NLL_NAPI,
	NLL_HYBRID,
	NLL_MODES,
};

/**
 * enum nll_reason - why a port switches
 * @NLL_STAY: it does not
 * @NLL_DROPS: the stack dropped frames that the port had handed on
 * @NLL_HELD: sockets hold so many buffers that the application must be behind
 * @NLL_RING: many frames wait in the ring
 * @NLL_LIMIT: receiving has used up its share of the CPU
 * @NLL_CALM: none of these, for long enough
 * @NLL_ASKED: the mode was changed
 */
enum nll_reason {
	NLL_STAY,
	NLL_DROPS,
	NLL_HELD,
	NLL_RING,
	NLL_LIMIT,
	NLL_CALM,
	NLL_ASKED,
};

/* A switch takes two changes: at most 100 of them a second. */
#define NLL_HOLD_MIN_US	20000
#define NLL_HOLD_MAX_US	1000000
/* Rounds of polling: ten thousand a second cost a tenth of a slow CPU. */
#define NLL_POLL_MIN_US	100
#define NLL_POLL_MAX_US	10000
/* A port that comes back at once stays longer the next time, up to so much longer. */
#define NLL_HOLD_GROWTH	32
/* One frame of an unknown protocol is dropped, too: that is no overload. */
#define NLL_DROPS_MANY	16

/**
 * struct nll_sample - what is known of a port at one moment
 * @now: the time, ns
 * @drops: frames that the stack dropped since the last switch
 * @held_high: sockets hold more buffers than the high watermark
 * @ring_high: more frames wait in the ring than the high watermark
 * @over_limit: receiving has no time left in this window
 * @calm: buffers and ring are below the low watermark
 */
struct nll_sample {
	u64 now;
	u64 drops;
	bool held_high;
	bool ring_high;
	bool over_limit;
	bool calm;
};

/**
 * struct nll_strategy - the state of a port that switches
 * @mode: as configured
 * @polling: interrupts are masked, frames are taken at fixed times
 * @since: when it last switched, ns
 * @hold: how long it has to be calm before it returns, ns
 * @calm_since: since when it is, ns
 * @is_calm: whether it is
 * @switches: how often it switched
 */
struct nll_strategy {
	enum nll_mode mode;
	bool polling;
	u64 since;
	u64 hold;
	u64 calm_since;
	bool is_calm;
	u64 switches;
};

/**
 * struct nll_rounds - whether the poller's timer runs, for as many ports as there are
 * @ports: how many want to be polled
 * @armed: the timer runs, or its function does and will look at @ports once more
 */
struct nll_rounds {
	unsigned int ports;
	bool armed;
};

/* strategy.c APIs: */
void nll_strategy_set(struct nll_strategy *strategy, enum nll_mode mode, u64 now);
enum nll_reason nll_strategy_step(struct nll_strategy *strategy,
				  const struct nll_sample *sample, u64 hold);
bool nll_rounds_join(struct nll_rounds *rounds);
void nll_rounds_leave(struct nll_rounds *rounds);
bool nll_rounds_again(struct nll_rounds *rounds);

#endif /* NLL_STRATEGY_H */
