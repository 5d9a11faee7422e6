/* SPDX-License-Identifier: GPL-2.0 */
/* ratio.h - ticket ratios on the command line, like 3:2:1. */
#ifndef LAB_RATIO_H
#define LAB_RATIO_H

#include "types.h"

/*
 * Fill @tickets from @text: 2 to @room numbers with ':' between. How many they are;
 * exits with EXIT_USAGE when it is anything else.
 */
unsigned int ratio_argument(const char *text, u32 *tickets, unsigned int room);

#endif /* LAB_RATIO_H */
