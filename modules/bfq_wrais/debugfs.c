// SPDX-License-Identifier: GPL-2.0-only
/*
 * For experiments: a switch for each part, the bounds, and how often each part has acted,
 * in /sys/kernel/debug/wrais.
 */

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/init.h>
#include <linux/kstrtox.h>
#include <linux/seq_file.h>
#include <linux/wrais/part.h>

#include "accounts.h"
#include "memory.h"
#include "queue.h"

/* Format version: the first line of stat. */
#define WRAIS_STAT_VERSION	1

/* A switch of a part, or a bound. */
struct wrais_file {
	const char *name;
	enum wrais_part part;
	unsigned int *bound;
	unsigned int min;
	unsigned int max;
};

#define WRAIS_SWITCH(name, part)		{ name, part, NULL, 0, 1 }
#define WRAIS_BOUND(name, bound, min, max)	{ name, 0, bound, min, max }

static const struct wrais_file wrais_files[] = {
#ifdef CONFIG_BFQ_WRAIS_SCHED
	WRAIS_SWITCH("raise", WRAIS_RAISE),
	WRAIS_SWITCH("floor", WRAIS_FLOOR),
	WRAIS_BOUND("fill_ms", &wrais_fill_ms, 1, 1000),
	WRAIS_BOUND("floor_pct", &wrais_floor_pct, 0, 50),
	WRAIS_BOUND("floor_window_ms", &wrais_floor_window_ms, 1000, 300000),
	WRAIS_BOUND("random_pct", &wrais_random_pct, 1, 100),
#endif
#ifdef CONFIG_BFQ_WRAIS_DIRTY
	WRAIS_SWITCH("dirty", WRAIS_DIRTY),
	WRAIS_BOUND("dirty_headroom_pct", &wrais_headroom_pct, 1, 25),
	WRAIS_BOUND("nap_ms", &wrais_nap_ms, 1, 200),
#endif
#ifdef CONFIG_BFQ_WRAIS_TAGS
	WRAIS_SWITCH("tags", WRAIS_TAGS),
#endif
#ifdef CONFIG_BFQ_WRAIS_COPY
	WRAIS_SWITCH("copy_out", WRAIS_COPY_OUT),
#endif
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	WRAIS_SWITCH("inherit", WRAIS_INHERIT),
#endif
};

static int wrais_file_show(struct seq_file *m, void *v)
{
	const struct wrais_file *file = m->private;

	seq_printf(m, "%u\n", file->bound ? READ_ONCE(*file->bound) :
					    static_key_enabled(&wrais_keys[file->part]));
	return 0;
}

static ssize_t
wrais_file_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	const struct wrais_file *what = file_inode(file)->i_private;
	unsigned int value;

	if (kstrtouint_from_user(buf, count, 0, &value) ||
	    value < what->min || value > what->max)
		return -EINVAL;
	if (what->bound)
		WRITE_ONCE(*what->bound, value);
	else if (value)
		static_branch_enable(&wrais_keys[what->part]);
	else
		static_branch_disable(&wrais_keys[what->part]);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(wrais_file);

static int wrais_stat_show(struct seq_file *m, void *v)
{
	int i;

	seq_printf(m, "version %d\n", WRAIS_STAT_VERSION);
	for (i = 0; i < WRAIS_NR_EVENTS; i++)
		seq_printf(m, "%s %llu\n", wrais_event_names[i], wrais_total(i));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(wrais_stat);

/* Nothing depends on these files: a failure to make one is ignored. */
static int __init wrais_debugfs_init(void)
{
	struct dentry *dir = debugfs_create_dir("wrais", NULL);
	int i;

	for (i = 0; i < ARRAY_SIZE(wrais_files); i++)
		debugfs_create_file(wrais_files[i].name, 0644, dir,
				    (void *)&wrais_files[i], &wrais_file_fops);
	debugfs_create_file("stat", 0444, dir, NULL, &wrais_stat_fops);
	return 0;
}
fs_initcall(wrais_debugfs_init);
