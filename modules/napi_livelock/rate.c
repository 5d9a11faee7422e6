// SPDX-License-Identifier: GPL-2.0
/* rate.c - when the next packet is due: the gaps of a traffic source. */
#ifdef __KERNEL__
#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/math64.h>
#else
#include <errno.h>
#endif

#include "rate.h"

#ifndef __KERNEL__
static u64 mul_u64_u64_shr(u64 a, u64 b, unsigned int shift)
{
	return (u64)(((__uint128_t)a * b) >> shift);
}

static u64 mul_u64_u64_div_u64(u64 a, u64 b, u64 c)
{
	return (u64)((__uint128_t)a * b / c);
}

static u64 div64_u64(u64 a, u64 b)
{
	return a / b;
}

static s64 div64_s64(s64 a, s64 b)
{
	return a / b;
}
#endif

#define GAP_BITS	16	/* of a gap's fraction of a nanosecond */
#define LOG_BITS	32	/* of a logarithm's fraction */
#define DEVIATE_BITS	24	/* of a normal deviate's fraction */
#define PLACE_BITS	62	/* PLACE_ONE is a whole half of a ramp */
#define PLACE_ONE	BIT_ULL(PLACE_BITS)
#define ROOT_BITS	30	/* of what a ramp's square root is of: its half */
#define ROOT_ONE	BIT_ULL(ROOT_BITS)
#define PERMILLE	1000U

const char *const nll_rate_names[] = {
	"constant", "poisson", "normal", "peaks", "ramp", NULL
};

/* log2(1 + i / 64), 2^-31 */
static const u32 log2_table[] = {
	0x00000000, 0x02dcf2d1, 0x05aeb4dd, 0x08759c50, 0x0b31fb7d, 0x0de42120,
	0x108c588d, 0x132ae9e2, 0x15c01a3a, 0x184c2bd0, 0x1acf5e2e, 0x1d49ee4c,
	0x1fbc16b9, 0x22260fb6, 0x24880f56, 0x26e2499d, 0x2934f098, 0x2b803474,
	0x2dc4439b, 0x30014ac6, 0x32377512, 0x3466ec15, 0x368fd7ee, 0x38b25f5a,
	0x3acea7c0, 0x3ce4d544, 0x3ef50ad2, 0x40ff6a2e, 0x43041403, 0x450327eb,
	0x46fcc47a, 0x48f10751, 0x4ae00d1d, 0x4cc9f1ab, 0x4eaecfeb, 0x508ec1fa,
	0x5269e12f, 0x5440461c, 0x5612089a, 0x57df3fd0, 0x59a80239, 0x5b6c65aa,
	0x5d2c7f59, 0x5ee863e5, 0x60a02757, 0x6253dd2c, 0x64039858, 0x65af6b4b,
	0x675767f5, 0x68fb9fce, 0x6a9c23d6, 0x6c39049b, 0x6dd2523d, 0x6f681c73,
	0x70fa728c, 0x72896373, 0x7414fdb5, 0x759d4f81, 0x772266ad, 0x78a450b8,
	0x7a231ace, 0x7b9ed1c7, 0x7d17822f, 0x7e8d3846, 0x80000000,
};

#define LN2	11629080ULL	/* ln(2), 2^-24 */

/* splitmix64 */
static u64 draw(struct nll_rate *r)
{
	u64 z = (r->random += 0x9e3779b97f4a7c15ULL);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* -ln(@u / 2^64), 2^-32, too great by 0.00001 at most; @u is not 0 */
static u64 minus_ln(u64 u)
{
	unsigned int zeros = __builtin_clzll(u), i;
	u64 part, log2;

	u <<= zeros;
	i = u >> 57 & 63;
	part = u >> 25 & 0xffffffff;
	log2 = log2_table[i] + (((log2_table[i + 1] - log2_table[i]) * part) >> 32);
	return ((((zeros + 1ULL) << 31) - log2) * LN2) >> 23;
}

/* The greatest number whose square is not above @x. */
static u64 root(u64 x)
{
	u64 bit = 1ULL << 62, result = 0;

	while (bit > x)
		bit >>= 2;
	for (; bit; bit >>= 2) {
		if (x >= result + bit) {
			x -= result + bit;
			result = (result >> 1) + bit;
		} else {
			result >>= 1;
		}
	}
	return result;
}

/* A standard normal deviate, 2^-24: Marsaglia's polar method. */
static s64 deviate(struct nll_rate *r)
{
	s64 x, y, scale, length;
	u64 square;

	if (r->has_spare) {
		r->has_spare = false;
		return r->spare;
	}
	do {
		u64 bits = draw(r);

		x = (s32)bits;
		y = (s32)(bits >> 32);
		square = (u64)(x * x) + (u64)(y * y);
	} while (!square || square >= 1ULL << 62);
	/* x and y have 31 bits of fraction, square has 62 */
	length = (s64)root(square);
	scale = (s64)root(minus_ln(square << 2) << (1 + 2 * DEVIATE_BITS - LOG_BITS));
	r->spare = div64_s64(y * scale, length);
	r->has_spare = true;
	return div64_s64(x * scale, length);
}

static u64 exponential_gap(struct nll_rate *r)
{
	u64 u = draw(r);

	return mul_u64_u64_shr(r->gap, minus_ln(u ? u : 1), LOG_BITS);
}

/* Cut off on both sides alike, so that the mean stays where it is. */
static u64 normal_gap(struct nll_rate *r)
{
	u64 sd = mul_u64_u64_div_u64(r->gap, r->p.sd_permille, PERMILLE);

	for (;;) {
		s64 z = deviate(r);
		u64 off = mul_u64_u64_shr(sd, (u64)(z < 0 ? -z : z), DEVIATE_BITS);

		if (off <= r->gap)
			return z < 0 ? r->gap - off : r->gap + off;
	}
}

static u64 peak_gap(struct nll_rate *r)
{
	u64 on = r->p.on_ns << GAP_BITS, gap = r->gap;

	r->place += r->gap;
	if (r->place >= on) {
		r->place -= on;
		gap += r->p.off_ns << GAP_BITS;
	}
	return gap;
}

/*
 * When a rising rate has sent the share @place of the half's packets, 2^-62 of the
 * half. The rate rises from 1 - d to 1 + d, so that place = (1 - d) t + d t^2. The
 * form with the root below the line keeps all digits of small d.
 */
static u64 rising_time(const struct nll_rate *r, u64 place)
{
	u64 d = div64_u64(r->p.depth_permille * ROOT_ONE, PERMILLE);
	u64 low = ROOT_ONE - d, sum, time;

	sum = low + root(low * low + 4 * d * (place >> (PLACE_BITS - ROOT_BITS)));
	time = sum ? mul_u64_u64_div_u64(place, 2 * ROOT_ONE, sum) : 0;
	/* the root is rounded down */
	return time < PLACE_ONE ? time : PLACE_ONE;
}

static u64 ramp_gap(struct nll_rate *r)
{
	u64 half = r->p.period_ns << (GAP_BITS - 1), time, gap = 0;

	r->place += r->step;
	if (r->place >= PLACE_ONE) {
		r->place -= PLACE_ONE;
		r->falling = !r->falling;
		gap = half - r->time;
		r->time = 0;
	}
	if (r->falling)
		time = PLACE_ONE - rising_time(r, PLACE_ONE - r->place);
	else
		time = rising_time(r, r->place);
	time = mul_u64_u64_shr(half, time, PLACE_BITS);
	/* the last digits of the root are not always monotonic */
	if (time > r->time) {
		gap += time - r->time;
		r->time = time;
	}
	return gap;
}

static bool within(u64 value, u64 min, u64 max)
{
	return value >= min && value <= max;
}

/* @gap: the mean, 1/65536 ns */
static const char *shape_fault(const struct nll_rate_params *p, u64 gap)
{
	switch (p->shape) {
	case NLL_RATE_NORMAL:
		if (p->sd_permille > NLL_RATE_SD_MAX)
			return "sd: allowed 0..333 permille of the mean gap";
		return NULL;
	case NLL_RATE_PEAKS:
		if (!within(p->on_ns, NLL_RATE_PHASE_MIN_NS, NLL_RATE_PHASE_MAX_NS))
			return "on: allowed 1 us to 1 h";
		if (!within(p->off_ns, NLL_RATE_PHASE_MIN_NS, NLL_RATE_PHASE_MAX_NS))
			return "off: allowed 1 us to 1 h";
		if ((p->on_ns + p->off_ns) << GAP_BITS < gap)
			return "on: with off, at least the mean gap of the packets";
		if (mul_u64_u64_div_u64(gap, p->on_ns, p->on_ns + p->off_ns) >> GAP_BITS == 0)
			return "on: too short for this rate, gaps would be under 1 ns";
		return NULL;
	case NLL_RATE_RAMP:
		if (!within(p->depth_permille, 1, NLL_RATE_DEPTH_MAX))
			return "depth: allowed 1..1000 permille of the mean rate";
		if (!within(p->period_ns, NLL_RATE_PHASE_MIN_NS, NLL_RATE_PHASE_MAX_NS))
			return "period: allowed 1 us to 1 h";
		if (p->period_ns << GAP_BITS < 4 * gap)
			return "period: at least four mean gaps of the packets";
		return NULL;
	}
	return NULL;
}

static u64 mean_gap(const struct nll_rate_params *p)
{
	return mul_u64_u64_div_u64(p->per_ns, 1ULL << GAP_BITS, p->packets);
}

const char *nll_rate_fault(const struct nll_rate_params *p)
{
	if (p->shape >= NLL_RATE_SHAPES)
		return "shape: allowed constant, poisson, normal, peaks, ramp";
	if (!p->packets || !p->per_ns ||
	    div64_u64(p->per_ns, p->packets) < NLL_RATE_GAP_MIN_NS ||
	    div64_u64(p->per_ns - 1, p->packets) >= NLL_RATE_GAP_MAX_NS)
		return "rate: allowed are mean gaps of 10 ns to 60 s";
	return shape_fault(p, mean_gap(p));
}

int nll_rate_init(struct nll_rate *r, const struct nll_rate_params *p)
{
	if (nll_rate_fault(p))
		return -EINVAL;
	*r = (struct nll_rate){ .p = *p, .gap = mean_gap(p), .random = p->seed };
	if (p->shape == NLL_RATE_PEAKS)
		r->gap = mul_u64_u64_div_u64(r->gap, p->on_ns, p->on_ns + p->off_ns);
	if (p->shape == NLL_RATE_RAMP)
		r->step = mul_u64_u64_div_u64(r->gap, 1ULL << (PLACE_BITS + 1 - GAP_BITS),
					      p->period_ns);
	return 0;
}

static u64 next_gap(struct nll_rate *r)
{
	switch (r->p.shape) {
	case NLL_RATE_POISSON:
		return exponential_gap(r);
	case NLL_RATE_NORMAL:
		return normal_gap(r);
	case NLL_RATE_PEAKS:
		return peak_gap(r);
	case NLL_RATE_RAMP:
		return ramp_gap(r);
	default:
		return r->gap;
	}
}

u64 nll_rate_next(struct nll_rate *r)
{
	u64 gap = next_gap(r) + r->carry;

	r->carry = gap & ((1ULL << GAP_BITS) - 1);
	return gap >> GAP_BITS;
}

u64 nll_rate_skip(struct nll_rate *r, u64 *next, u64 until)
{
	u64 span, sum, count = 0;

	if (*next > until)
		return 0;
	if (r->p.shape != NLL_RATE_CONSTANT) {
		for (; *next <= until; count++)
			*next += nll_rate_next(r);
		return count;
	}
	/* the least count whose gaps, with the carry, reach behind @until */
	span = (until - *next + 1) << GAP_BITS;
	count = div64_u64(span - r->carry + r->gap - 1, r->gap);
	sum = r->carry + count * r->gap;
	r->carry = sum & ((1ULL << GAP_BITS) - 1);
	*next += sum >> GAP_BITS;
	return count;
}
