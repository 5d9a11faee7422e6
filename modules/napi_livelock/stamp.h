/* SPDX-License-Identifier: GPL-2.0 */
/*
 * stamp.h - the payload of the source's frames, for the module that sends it and the
 * program that receives it.
 */
#ifndef NLL_STAMP_H
#define NLL_STAMP_H

#ifdef __KERNEL__
#include <linux/types.h>
#else
#include <linux/types.h>
#include "types.h"
#endif

#define NLL_STAMP_MAGIC	0x6e6c6c31U	/* "nll1" */

/**
 * struct nll_stamp - the first bytes of a frame's payload
 * @magic: NLL_STAMP_MAGIC
 * @port: which of the source's targets it is for, from 0
 * @seq: of the frames that were due for this target, from 0; lost ones leave gaps
 * @sent_ns: CLOCK_MONOTONIC when it was handed to the wire
 */
struct nll_stamp {
	__be32 magic;
	__be32 port;
	__be64 seq;
	__be64 sent_ns;
} __packed;

#endif /* NLL_STAMP_H */
