// SPDX-License-Identifier: GPL-2.0-only
/* Which received frames are taken, and why the others are not. */

#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/export.h>
#include <linux/if_ether.h>

#include "frame.h"
#include "hw.h"

/**
 * nll_frame_len() - bytes of a good frame
 * @done: the second half of its descriptor
 *
 * Return: the length without the frame check sequence.
 */
unsigned int nll_frame_len(u64 done)
{
	return FIELD_GET(NLL_RXD_LEN, done) - NLL_FCS;
}
EXPORT_SYMBOL_IF_KUNIT(nll_frame_len);

/**
 * nll_frame_check() - judge a descriptor that is done
 * @done: its second half
 * @max: the longest frame allowed, frame check sequence included
 * @discarding: whether the last descriptor left a frame unfinished; updated
 *
 * The length comes from the card: beyond the buffer it would have us copy what
 * was never received.
 *
 * Return: what to do with it.
 */
enum nll_verdict nll_frame_check(u64 done, unsigned int max, bool *discarding)
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
EXPORT_SYMBOL_IF_KUNIT(nll_frame_check);
