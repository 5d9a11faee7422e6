/* SPDX-License-Identifier: GPL-2.0-only */
/* The suites of nll_kunit. */
#ifndef NLL_TESTS_H
#define NLL_TESTS_H

#include <kunit/test.h>

extern struct kunit_suite nll_frame_suite;
extern struct kunit_suite nll_rx_suite;

#endif /* NLL_TESTS_H */
