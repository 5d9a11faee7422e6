/* SPDX-License-Identifier: GPL-2.0-only */
/* Names of timers that differ between kernels; those of 6.12 are the default. */
#ifndef _NLL_COMPAT_H
#define _NLL_COMPAT_H

#include <linux/hrtimer.h>
#include <linux/version.h>

#if LINUX_VERSION_CODE < KERNEL_VERSION(6, 13, 0)
static inline void hrtimer_setup(struct hrtimer *timer,
				 enum hrtimer_restart (*function)(struct hrtimer *),
				 clockid_t clock, enum hrtimer_mode mode)
{
	hrtimer_init(timer, clock, mode);
	timer->function = function;
}
#endif

#endif /* _NLL_COMPAT_H */
