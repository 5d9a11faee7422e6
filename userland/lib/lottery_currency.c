// SPDX-License-Identifier: GPL-2.0
/* lottery_currency.c - a process as a currency: prctl(PR_LOTTERY). */
#include <sys/prctl.h>

#include "lottery_currency.h"
#include "lottery_loan.h"

int currency_make(u32 tickets)
{
	return prctl(PR_LOTTERY, PR_LOTTERY_CURRENCY, (unsigned long)tickets, 0, 0);
}
