/* SPDX-License-Identifier: GPL-2.0-only */
/* Which received frames are taken, and why the others are not. */
#ifndef NLL_FRAME_H
#define NLL_FRAME_H

#include <linux/types.h>

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

/* frame.c APIs: */
enum nll_verdict nll_frame_check(u64 done, unsigned int max, bool *discarding);
unsigned int nll_frame_len(u64 done);

#endif /* NLL_FRAME_H */
