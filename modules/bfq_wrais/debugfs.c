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

#include "internal.h"

/* Format version: the first line of stat. */
#define WRAIS_STAT_VERSION	1

struct wrais_part_file {
	const char *name;
	enum wrais_part part;
};

static const struct wrais_part_file wrais_parts[] = {
#ifdef CONFIG_BFQ_WRAIS_SCHED
	{ "raise", WRAIS_RAISE },
	{ "floor", WRAIS_FLOOR },
#endif
#ifdef CONFIG_BFQ_WRAIS_DIRTY
	{ "dirty", WRAIS_DIRTY },
#endif
#ifdef CONFIG_BFQ_WRAIS_TAGS
	{ "tags", WRAIS_TAGS },
#endif
#ifdef CONFIG_BFQ_WRAIS_COPY
	{ "copy_out", WRAIS_COPY_OUT },
#endif
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	{ "inherit", WRAIS_INHERIT },
#endif
};

struct wrais_bound {
	const char *name;
	unsigned int *value;
	unsigned int min;
	unsigned int max;
};

static const struct wrais_bound wrais_bounds[] = {
#ifdef CONFIG_BFQ_WRAIS_SCHED
	{ "fill_ms", &wrais_fill_ms, 1, 1000 },
	{ "floor_pct", &wrais_floor_pct, 0, 50 },
	{ "floor_window_ms", &wrais_floor_window_ms, 1000, 300000 },
	{ "random_pct", &wrais_random_pct, 1, 100 },
#endif
#ifdef CONFIG_BFQ_WRAIS_DIRTY
	{ "dirty_headroom_pct", &wrais_headroom_pct, 1, 25 },
	{ "nap_ms", &wrais_nap_ms, 1, 200 },
#endif
};

/* A number within its limits; anything else is invalid. */
static int wrais_number(const char __user *buf, size_t count, unsigned int min,
			unsigned int max, unsigned int *value)
{
	if (kstrtouint_from_user(buf, count, 0, value) || *value < min || *value > max)
		return -EINVAL;
	return 0;
}

static int wrais_part_show(struct seq_file *m, void *v)
{
	const struct wrais_part_file *file = m->private;

	seq_printf(m, "%d\n", static_key_enabled(&wrais_keys[file->part]));
	return 0;
}

static ssize_t
wrais_part_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	const struct wrais_part_file *part = file_inode(file)->i_private;
	unsigned int on;
	int error = wrais_number(buf, count, 0, 1, &on);

	if (error)
		return error;
	if (on)
		static_branch_enable(&wrais_keys[part->part]);
	else
		static_branch_disable(&wrais_keys[part->part]);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(wrais_part);

static int wrais_bound_show(struct seq_file *m, void *v)
{
	const struct wrais_bound *bound = m->private;

	seq_printf(m, "%u\n", READ_ONCE(*bound->value));
	return 0;
}

static ssize_t
wrais_bound_write(struct file *file, const char __user *buf, size_t count, loff_t *pos)
{
	const struct wrais_bound *bound = file_inode(file)->i_private;
	unsigned int value;
	int error = wrais_number(buf, count, bound->min, bound->max, &value);

	if (error)
		return error;
	WRITE_ONCE(*bound->value, value);
	return count;
}
DEFINE_SHOW_STORE_ATTRIBUTE(wrais_bound);

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

	for (i = 0; i < ARRAY_SIZE(wrais_parts); i++)
		debugfs_create_file(wrais_parts[i].name, 0644, dir,
				    (void *)&wrais_parts[i], &wrais_part_fops);
	for (i = 0; i < ARRAY_SIZE(wrais_bounds); i++)
		debugfs_create_file(wrais_bounds[i].name, 0644, dir,
				    (void *)&wrais_bounds[i], &wrais_bound_fops);
	debugfs_create_file("stat", 0444, dir, NULL, &wrais_stat_fops);
	return 0;
}
fs_initcall(wrais_debugfs_init);
