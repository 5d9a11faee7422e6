/* SPDX-License-Identifier: GPL-2.0 */
/* lend.h - lottery-lend: what tasks that are blocked do with their tickets. */
#ifndef LOTTERY_LEND_H
#define LOTTERY_LEND_H

#include "stage.h"

/* The groups of tests, each a subtest of @k. */
#define LEND_GROUPS	4U
void lend_refusals(struct ktap *k);
void lend_named(struct ktap *k);
void lend_locks(struct ktap *k);
void lend_ends(struct ktap *k);

#endif /* LOTTERY_LEND_H */
