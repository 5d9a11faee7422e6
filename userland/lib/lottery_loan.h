/* SPDX-License-Identifier: GPL-2.0 */
/* lottery_loan.h - lending tickets: prctl(PR_LOTTERY). */
#ifndef LAB_LOTTERY_LOAN_H
#define LAB_LOTTERY_LOAN_H

#include <sys/types.h>

#include "types.h"

#define PR_LOTTERY		0x4c4f5454
#define PR_LOTTERY_LEND		0
#define PR_LOTTERY_REVOKE	1

#define LOTTERY_LOANS_MAX	8U

/* Not only until the lender wakes up next. */
#define LOAN_KEEP		0x1U

/* The kernel's struct prctl_lottery_loan. */
struct loan_ask {
	s32 pid;
	u32 tickets;		/* 0: all that the caller has */
	u32 flags;
	u32 pad;
	u64 timeout_ns;		/* 0: none */
};

/* From now on, whenever the caller is blocked: -1 and errno on error. */
int loan_make(const struct loan_ask *ask);
/* End the loans to @to, or all of them if it is 0: -1 and errno on error. */
int loan_end(pid_t to);

#endif /* LAB_LOTTERY_LOAN_H */
