/* SPDX-License-Identifier: GPL-2.0-only */
/* Which received frames are taken, and why the others are not. */
#ifndef NLL_FRAME_H
#define NLL_FRAME_H

#include <linux/bitfield.h>
#include <linux/if_ether.h>
#include <linux/types.h>

#include "hw.h"

/**
 * enum nll_verdict - what to do with a descriptor
 * @NLL_GOOD: it holds a whole frame
 * @NLL_BAD_CRC: wrong frame check sequence
 * @NLL_BAD_FRAME: another error on the wire
 * @NLL_TOO_LONG: a part of a frame that one buffer cannot hold, or longer than allowed
 * @NLL_TOO_SHORT: not even an Ethernet header
 * @NLL_PART: another part of what was counted as too long already
 */
enum nll_verdict {
	NLL_GOOD,
	NLL_BAD_CRC,
	NLL_BAD_FRAME,
	NLL_TOO_LONG,
	NLL_TOO_SHORT,
	NLL_PART,
};

/* The length of a good frame, without the frame check sequence. */
static inline unsigned int nll_frame_len(u64 done)
{
	return FIELD_GET(NLL_RXD_LEN, done) - NLL_FCS;
}

/**
 * nll_frame_check() - judge a descriptor that is done
 * @done: its second half
 * @max: the longest frame allowed, frame check sequence included
 * @discarding: whether the last descriptor left a frame unfinished; updated
 *
 * The length comes from the card: a length beyond the buffer would copy what was never
 * received.
 *
 * Return: what to do with it.
 */
static inline enum nll_verdict nll_frame_check(u64 done, unsigned int max, bool *discarding)
{
	unsigned int len = FIELD_GET(NLL_RXD_LEN, done);
	bool part = *discarding;

	*discarding = !(done & NLL_RXD_EOP);
	if (part)
		return NLL_PART;
	if (*discarding)
		return NLL_TOO_LONG;
	if (done & NLL_RXD_CE)
		return NLL_BAD_CRC;
	if (done & NLL_RXD_BAD)
		return NLL_BAD_FRAME;
	if (len > max)
		return NLL_TOO_LONG;
	if (len < ETH_HLEN + NLL_FCS)
		return NLL_TOO_SHORT;
	return NLL_GOOD;
}

#endif /* NLL_FRAME_H */
