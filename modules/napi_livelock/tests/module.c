// SPDX-License-Identifier: GPL-2.0-only
/* nll_kunit: the driver's receive ring, without a card. */

#include <linux/module.h>

#include "tests.h"

kunit_test_suites(&nll_frame_suite, &nll_rx_suite);

MODULE_DESCRIPTION("KUnit tests of napi_livelock");
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
MODULE_LICENSE("GPL");
