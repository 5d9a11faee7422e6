// SPDX-License-Identifier: GPL-2.0-only
/*
 * /proc/wrais: how often each part has acted since boot.
 */

#include <linux/init.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>

#include "internal.h"

/* Format version: the first line of the file. */
#define WRAIS_PROC_VERSION	1

static int wrais_proc_show(struct seq_file *m, void *v)
{
	int i;

	seq_printf(m, "version %d\n", WRAIS_PROC_VERSION);
	for (i = 0; i < WRAIS_NR_EVENTS; i++)
		seq_printf(m, "%s %llu\n", wrais_event_names[i], wrais_total(i));
	return 0;
}

static int __init wrais_proc_init(void)
{
	return proc_create_single("wrais", 0444, NULL, wrais_proc_show) ? 0 : -ENOMEM;
}
fs_initcall(wrais_proc_init);
