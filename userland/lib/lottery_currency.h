/* SPDX-License-Identifier: GPL-2.0 */
/* lottery_currency.h - a process as a currency: prctl(PR_LOTTERY). */
#ifndef LAB_LOTTERY_CURRENCY_H
#define LAB_LOTTERY_CURRENCY_H

#include "types.h"

#define PR_LOTTERY_CURRENCY	2

/* How many can be within each other: processes, and cgroups. */
#define LOTTERY_CURRENCIES_MAX	8U

/*
 * The caller's process, and what it forks from now on, share @tickets of the currency
 * that it is in now; if it has made one before, that is backed by @tickets instead.
 * -1 and errno on error.
 */
int currency_make(u32 tickets);

#endif /* LAB_LOTTERY_CURRENCY_H */
