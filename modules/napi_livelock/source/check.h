/* SPDX-License-Identifier: GPL-2.0 */
/* check.h - a checksum that is wrong for certain. */
#ifndef NLL_CHECK_H
#define NLL_CHECK_H

#include <asm/byteorder.h>
#include <linux/types.h>

/**
 * nll_wrong_check() - a checksum of UDP that is wrong
 * @right: the result of csum_tcpudp_magic()
 *
 * In the arithmetic of these sums 0 and 0xffff are the same (RFC 1071), so that the
 * complement of 0 would be right; and in a header 0 means no checksum (RFC 768).
 *
 * Return: another sum than @right, and not 0.
 */
static inline __sum16 nll_wrong_check(__sum16 right)
{
	u16 wrong = (__force u16)right ^ (__force u16)htons(1);

	return (__force __sum16)(wrong ?: (__force u16)htons(2));
}

#endif /* NLL_CHECK_H */
