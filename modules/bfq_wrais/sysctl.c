// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switch of all: kernel.wrais.
 */

#include <linux/init.h>
#include <linux/sysctl.h>

#include "internal.h"

static struct ctl_table wrais_table[] = {
	{
		.procname	= "wrais",
		.data		= &wrais_key,
		.mode		= 0644,
		.proc_handler	= proc_do_static_key,
	},
};

static int __init wrais_sysctl_init(void)
{
	return register_sysctl("kernel", wrais_table) ? 0 : -ENOMEM;
}
subsys_initcall(wrais_sysctl_init);
