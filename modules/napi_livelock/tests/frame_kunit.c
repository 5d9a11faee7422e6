// SPDX-License-Identifier: GPL-2.0-only
/* Which frames are taken: descriptors as a card may write them, and as it may not. */

#include <linux/if_ether.h>

#include "frame.h"
#include "hw.h"
#include "source/check.h"
#include "tests.h"

#define FRAME_MAX	1522

#define FRAME(len)	(NLL_RXD_DD | NLL_RXD_EOP | (len))

static enum nll_verdict frame_alone(u64 done)
{
	bool discarding = false;

	return nll_frame_check(done, FRAME_MAX, &discarding);
}

static void frame_lengths(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(64)), NLL_GOOD);
	KUNIT_EXPECT_EQ(test, nll_frame_len(FRAME(64)), 60);
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(FRAME_MAX)), NLL_GOOD);
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(FRAME_MAX + 1)), NLL_TOO_LONG);
	/* Never beyond its buffer, whatever the card says. */
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(U16_MAX)), NLL_TOO_LONG);
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(ETH_HLEN + NLL_FCS)), NLL_GOOD);
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(ETH_HLEN + NLL_FCS - 1)), NLL_TOO_SHORT);
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(0)), NLL_TOO_SHORT);
}

static void frame_errors(struct kunit *test)
{
	static const u64 bad[] = { NLL_RXD_SE, NLL_RXD_SEQ, NLL_RXD_CXE, NLL_RXD_RXE };
	unsigned int i;

	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(64) | NLL_RXD_CE), NLL_BAD_CRC);
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		KUNIT_EXPECT_EQ(test, frame_alone(FRAME(64) | bad[i]), NLL_BAD_FRAME);
	/* A wrong checksum is for the protocol to drop, and to count. */
	KUNIT_EXPECT_EQ(test, frame_alone(FRAME(64) | NLL_RXD_TCPE | NLL_RXD_IPE), NLL_GOOD);
	/* An error makes no frame of a part of one. */
	KUNIT_EXPECT_EQ(test, frame_alone(NLL_RXD_DD | NLL_RXD_CE | 64), NLL_TOO_LONG);
}

static void frame_parts(struct kunit *test)
{
	bool discarding = false;
	u64 part = NLL_RXD_DD | NLL_RX_BUFFER;

	KUNIT_EXPECT_EQ(test, nll_frame_check(part, FRAME_MAX, &discarding), NLL_TOO_LONG);
	KUNIT_EXPECT_TRUE(test, discarding);
	KUNIT_EXPECT_EQ(test, nll_frame_check(part, FRAME_MAX, &discarding), NLL_PART);
	/* The last part looks like a frame, but is not one. */
	KUNIT_EXPECT_EQ(test, nll_frame_check(FRAME(100), FRAME_MAX, &discarding), NLL_PART);
	KUNIT_EXPECT_FALSE(test, discarding);
	KUNIT_EXPECT_EQ(test, nll_frame_check(FRAME(100), FRAME_MAX, &discarding), NLL_GOOD);
}

/* Of any right checksum of UDP: in its arithmetic 0 and 0xffff are one number. */
static void frame_wrong_check(struct kunit *test)
{
	unsigned int right, wrong;

	for (right = 0; right <= U16_MAX; right++) {
		wrong = (__force u16)nll_wrong_check((__force __sum16)right);
		KUNIT_ASSERT_NE(test, wrong, 0);
		KUNIT_ASSERT_NE(test, wrong % U16_MAX, right % U16_MAX);
	}
}

static struct kunit_case nll_frame_cases[] = {
	KUNIT_CASE(frame_lengths),
	KUNIT_CASE(frame_errors),
	KUNIT_CASE(frame_parts),
	KUNIT_CASE(frame_wrong_check),
	{}
};

struct kunit_suite nll_frame_suite = {
	.name		= "nll_frame",
	.test_cases	= nll_frame_cases,
};
