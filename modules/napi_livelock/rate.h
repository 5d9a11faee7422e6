/* SPDX-License-Identifier: GPL-2.0 */
/*
 * rate.h - when the next packet is due: the gaps of a traffic source.
 *
 * Plain integer C without any dependency but its types, so that the generator
 * in the kernel and the programs of user space send alike.
 */
#ifndef NLL_RATE_H
#define NLL_RATE_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include "types.h"
#endif

/**
 * enum nll_rate_shape - the distribution of packets around their mean rate
 * @NLL_RATE_CONSTANT: all gaps are the same
 * @NLL_RATE_POISSON: exponential gaps
 * @NLL_RATE_NORMAL: normal gaps, see &nll_rate_params.sd_permille
 * @NLL_RATE_PEAKS: a constant rate for on_ns, then nothing for off_ns
 * @NLL_RATE_RAMP: the rate rises linearly for half of period_ns, then falls
 * @NLL_RATE_SHAPES: how many there are
 */
enum nll_rate_shape {
	NLL_RATE_CONSTANT,
	NLL_RATE_POISSON,
	NLL_RATE_NORMAL,
	NLL_RATE_PEAKS,
	NLL_RATE_RAMP,
	NLL_RATE_SHAPES,
};

#define NLL_RATE_GAP_MIN_NS	10ULL
#define NLL_RATE_GAP_MAX_NS	60000000000ULL
#define NLL_RATE_SD_MAX		333U		/* permille */
#define NLL_RATE_DEPTH_MAX	1000U		/* permille */
#define NLL_RATE_PHASE_MIN_NS	1000ULL
#define NLL_RATE_PHASE_MAX_NS	3600000000000ULL

/* Their order is the enum's; ends with NULL. */
extern const char *const nll_rate_names[];

/**
 * struct nll_rate_params - what a source shall be
 * @shape: one of &enum nll_rate_shape
 * @sd_permille: NORMAL: the standard deviation, 0..333 thousandths of the mean gap
 * @depth_permille: RAMP: the rate runs from the mean less this part of it to the
 *	mean plus it, 1..1000
 * @packets: the mean rate in the long run, whatever the shape: this many packets ...
 * @per_ns: ... in this many nanoseconds; the mean gap is 10 ns to 60 s
 * @on_ns: PEAKS: 1 us to 1 h; one period has to be as long as a mean gap
 * @off_ns: PEAKS: 1 us to 1 h
 * @period_ns: RAMP: up and down, 1 us to 1 h and not less than four mean gaps
 * @seed: of the random shapes; any value
 */
struct nll_rate_params {
	u32 shape;
	u32 sd_permille;
	u32 depth_permille;
	u64 packets;
	u64 per_ns;
	u64 on_ns;
	u64 off_ns;
	u64 period_ns;
	u64 seed;
};

/**
 * struct nll_rate - the state of a source, private to rate.c
 * @p: its parameters
 * @gap: between two packets while any are sent, 1/65536 ns
 * @carry: the part of a nanosecond that the gaps so far lack, 1/65536 ns
 * @random: state of the generator of random numbers
 * @spare: NORMAL: every other deviate, 2^-24
 * @has_spare: whether there is one
 * @falling: RAMP: in the second half
 * @place: PEAKS: time in the on phase, 1/65536 ns; RAMP: share of the half's packets
 *	that are sent, 2^-62
 * @step: RAMP: what a packet adds to @place
 * @time: RAMP: of the last packet since the half began, 1/65536 ns
 */
struct nll_rate {
	struct nll_rate_params p;
	u64 gap;
	u64 carry;
	u64 random;
	s64 spare;
	bool has_spare;
	bool falling;
	u64 place;
	u64 step;
	u64 time;
};

/**
 * nll_rate_fault() - test parameters
 * @p: the parameters
 *
 * Return: NULL if they are valid, else the name of the first bad one, a colon and the
 * allowed values.
 */
const char *nll_rate_fault(const struct nll_rate_params *p);

/**
 * nll_rate_init() - start a source
 * @r: the source, not touched on error
 * @p: what it shall be
 *
 * The same parameters always give the same gaps.
 *
 * Return: 0, or -EINVAL where nll_rate_fault() says what is wrong.
 */
int nll_rate_init(struct nll_rate *r, const struct nll_rate_params *p);

/**
 * nll_rate_next() - the time from one packet to the next
 * @r: the source
 *
 * The first call gives the time from the start to the first packet. Parts of a
 * nanosecond are carried over: sums of gaps do not drift.
 *
 * Return: the gap in ns, which may be 0.
 */
u64 nll_rate_next(struct nll_rate *r);

/**
 * nll_rate_skip() - pass over the packets that are due by a time
 * @r: the source
 * @next: when the next packet is due; moved to the first one behind @until
 * @until: the time, up to 2^47 ns (39 hours) behind @next
 *
 * The same as nll_rate_next() until *@next is behind @until, but packets of a constant
 * rate are not counted one by one: skipping many packets must be cheap.
 *
 * Return: how many packets were passed over.
 */
u64 nll_rate_skip(struct nll_rate *r, u64 *next, u64 until);

#endif /* NLL_RATE_H */
