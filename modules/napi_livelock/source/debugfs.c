// SPDX-License-Identifier: GPL-2.0-only
/* debugfs.c - nll_source/{targets,config,run,results}. */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "source.h"

#define TEXT_MAX	1024

static struct dentry *root;

static const char *const states[] = { "idle", "running", "lag", "done" };

static bool runs(const struct nll_source *s)
{
	enum nll_state state = READ_ONCE(s->state);

	return state == NLL_RUNNING || state == NLL_LAG;
}

/* Call @take with the written text, without blanks around it. */
static ssize_t write(struct file *file, const char __user *buffer, size_t size,
		     int (*take)(struct nll_source *s, char *text))
{
	struct nll_source *s = ((struct seq_file *)file->private_data)->private;
	char *text;
	int error;

	if (size >= TEXT_MAX)
		return -EINVAL;
	text = memdup_user_nul(buffer, size);
	if (IS_ERR(text))
		return PTR_ERR(text);
	mutex_lock(&s->mutex);
	error = take(s, strim(text));
	mutex_unlock(&s->mutex);
	kfree(text);
	return error ?: size;
}

static int targets_change(struct nll_source *s, char *text)
{
	if (runs(s))
		return -EBUSY;
	if (strcmp(text, "clear"))
		return nll_target_add(s, text);
	nll_target_clear(s);
	return 0;
}

static int targets_show(struct seq_file *seq, void *v)
{
	struct nll_source *s = seq->private;
	unsigned int i;

	mutex_lock(&s->mutex);
	for (i = 0; i < s->targets; i++)
		seq_printf(seq, "%s %s %pI4 %u\n", pci_name(s->target[i].dev->pdev),
			   pci_name(s->target[i].pdev), &s->target[i].ip,
			   be16_to_cpu(s->target[i].port));
	mutex_unlock(&s->mutex);
	return 0;
}

static ssize_t targets_write(struct file *file, const char __user *buffer, size_t size,
			     loff_t *place)
{
	return write(file, buffer, size, targets_change);
}

DEFINE_SHOW_STORE_ATTRIBUTE(targets);

static int config_change(struct nll_source *s, char *text)
{
	return runs(s) ? -EBUSY : nll_config_parse(&s->config, text);
}

static int config_show(struct seq_file *seq, void *v)
{
	struct nll_source *s = seq->private;
	char text[TEXT_MAX / 2];

	mutex_lock(&s->mutex);
	nll_config_show(&s->config, text, sizeof(text));
	mutex_unlock(&s->mutex);
	seq_puts(seq, text);
	return 0;
}

static ssize_t config_write(struct file *file, const char __user *buffer, size_t size,
			    loff_t *place)
{
	return write(file, buffer, size, config_change);
}

DEFINE_SHOW_STORE_ATTRIBUTE(config);

static int run_change(struct nll_source *s, char *text)
{
	bool start;

	if (kstrtobool(text, &start))
		return -EINVAL;
	if (!start) {
		nll_shoot_stop(s);
		return 0;
	}
	return runs(s) ? -EBUSY : nll_shoot_start(s);
}

static int run_show(struct seq_file *seq, void *v)
{
	struct nll_source *s = seq->private;

	seq_printf(seq, "%s\n", states[READ_ONCE(s->state)]);
	return 0;
}

static ssize_t run_write(struct file *file, const char __user *buffer, size_t size,
			 loff_t *place)
{
	return write(file, buffer, size, run_change);
}

DEFINE_SHOW_STORE_ATTRIBUTE(run);

static void show_effort(struct seq_file *seq, const char *span, const struct nll_effort *now,
			const struct nll_effort *before)
{
	seq_printf(seq, "effort %s shots %llu timer_ns %llu late_max_ns %llu busy %llu\n", span,
		   now->shots - before->shots, now->timer_ns - before->timer_ns,
		   now->late_max_ns, now->busy - before->busy);
}

static void show_counts(struct seq_file *seq, unsigned int i, const char *span,
			const struct nll_counts *now, const struct nll_counts *before)
{
	seq_printf(seq, "target %u %s due %llu sent %llu tail %llu full %llu malformed %llu\n", i,
		   span, now->due - before->due, now->sent - before->sent,
		   now->tail - before->tail, now->full - before->full,
		   now->malformed - before->malformed);
}

/* Nothing of the window counts before it has begun. */
static int results_show(struct seq_file *seq, void *v)
{
	static const struct nll_effort no_effort;
	static const struct nll_counts no_counts;
	struct nll_source *s = seq->private;
	unsigned long flags;
	unsigned int i;

	mutex_lock(&s->mutex);
	spin_lock_irqsave(&s->lock, flags);
	show_effort(seq, "total", &s->effort, &no_effort);
	show_effort(seq, "window", &s->effort, s->windowed ? &s->before : &s->effort);
	for (i = 0; i < s->targets; i++) {
		struct nll_target *t = &s->target[i];

		show_counts(seq, i, "total", &t->total, &no_counts);
		show_counts(seq, i, "window", &t->total, s->windowed ? &t->before : &t->total);
	}
	spin_unlock_irqrestore(&s->lock, flags);
	mutex_unlock(&s->mutex);
	return 0;
}

DEFINE_SHOW_ATTRIBUTE(results);

/* Create the files. */
void nll_debugfs_init(struct nll_source *s)
{
	root = debugfs_create_dir(NLL_SOURCE_DRIVER, NULL);
	debugfs_create_file("targets", 0600, root, s, &targets_fops);
	debugfs_create_file("config", 0600, root, s, &config_fops);
	debugfs_create_file("run", 0600, root, s, &run_fops);
	debugfs_create_file("results", 0400, root, s, &results_fops);
}

/* Remove the files, once no process is in one. */
void nll_debugfs_exit(void)
{
	debugfs_remove_recursive(root);
}
