// SPDX-License-Identifier: GPL-2.0
/* lottery_loan.c - lending tickets: prctl(PR_LOTTERY). */
#include <sys/prctl.h>

#include "lottery_loan.h"

int loan_make(const struct loan_ask *ask)
{
	return prctl(PR_LOTTERY, PR_LOTTERY_LEND, ask, sizeof(*ask), 0);
}

int loan_end(pid_t to)
{
	return prctl(PR_LOTTERY, PR_LOTTERY_REVOKE, (unsigned long)to, 0, 0);
}
