// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which tasks are privileged.
 *
 * A privileged task goes before all others, so privilege needs a capability: the real-time
 * I/O class needs CAP_SYS_ADMIN or CAP_SYS_NICE, and the io.wrais attribute of a cgroup
 * CAP_SYS_ADMIN. BE/0 is not enough: any task may set it. A real-time CPU policy is not
 * either, though a task without an I/O class has the real-time one then: for the policy
 * RLIMIT_RTPRIO is enough.
 *
 * A member is privileged if its cgroup and all ancestors below the root have the
 * attribute: the delegate of a subtree can take the privilege from parts of it and give it
 * back, but not get one that the subtree does not have.
 */

#include <linux/blk-mq.h>
#include <linux/capability.h>
#include <linux/export.h>
#include <linux/init.h>
#include <linux/iocontext.h>
#include <linux/kstrtox.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>

#include "blk-cgroup.h"
#include "privilege.h"

#ifdef CONFIG_BLK_CGROUP
static struct blkcg_policy wrais_policy;

/* Serialises changes of the attribute, so that @effective is computed once. */
static DEFINE_MUTEX(wrais_cgroup_mutex);

/*
 * @own is the attribute as written, @effective that of it and all ancestors. Both are
 * written under wrais_cgroup_mutex; @effective is read without it.
 */
struct wrais_blkcg {
	struct blkcg_policy_data cpd;
	bool own;
	bool effective;
};

static struct wrais_blkcg *to_wrais(struct blkcg *blkcg)
{
	struct blkcg_policy_data *cpd = blkcg_to_cpd(blkcg, &wrais_policy);

	return cpd ? container_of(cpd, struct wrais_blkcg, cpd) : NULL;
}

static bool wrais_blkcg_effective(struct blkcg *blkcg)
{
	struct wrais_blkcg *w = to_wrais(blkcg);

	return w && READ_ONCE(w->effective);
}

/* Is the task in a privileged cgroup? */
static bool wrais_cgroup_has_task(struct task_struct *task)
{
	guard(rcu)();
	return wrais_blkcg_effective(css_to_blkcg(task_css(task, io_cgrp_id)));
}

/* Does the bio belong to a privileged cgroup? */
bool wrais_cgroup_has_bio(const struct bio *bio)
{
	return bio->bi_blkg && wrais_blkcg_effective(bio->bi_blkg->blkcg);
}

static int wrais_show(struct seq_file *sf, void *v)
{
	seq_printf(sf, "%d\n", READ_ONCE(to_wrais(css_to_blkcg(seq_css(sf)))->own));
	return 0;
}

/* Parents come first, so that one pass is enough. */
static void wrais_update_subtree(struct cgroup_subsys_state *root)
{
	struct cgroup_subsys_state *css;

	guard(rcu)();

	css_for_each_descendant_pre(css, root) {
		struct wrais_blkcg *w = to_wrais(css_to_blkcg(css));
		bool above = true;

		/* The root cgroup has no attribute, and takes nothing away. */
		if (css->parent && css->parent->parent)
			above = wrais_blkcg_effective(css_to_blkcg(css->parent));
		if (w)
			WRITE_ONCE(w->effective, w->own && above);
	}
}

static ssize_t wrais_write(struct kernfs_open_file *of, char *buf,
			   size_t nbytes, loff_t off)
{
	struct cgroup_subsys_state *css = of_css(of);
	unsigned int own;

	if (off)
		return -EIO;
	/* Both the writer and the opener of the file. */
	if (!capable(CAP_SYS_ADMIN) ||
	    !file_ns_capable(of->file, &init_user_ns, CAP_SYS_ADMIN))
		return -EPERM;
	if (kstrtouint(strstrip(buf), 10, &own) || own > 1)
		return -EINVAL;

	guard(mutex)(&wrais_cgroup_mutex);
	WRITE_ONCE(to_wrais(css_to_blkcg(css))->own, own);
	wrais_update_subtree(css);
	return nbytes;
}

static struct blkcg_policy_data *wrais_alloc_cpd(gfp_t gfp)
{
	struct wrais_blkcg *w = kzalloc(sizeof(*w), gfp);

	return w ? &w->cpd : NULL;
}

static void wrais_free_cpd(struct blkcg_policy_data *cpd)
{
	kfree(container_of(cpd, struct wrais_blkcg, cpd));
}

static struct cftype wrais_files[] = {
	{
		.name		= "wrais",
		.flags		= CFTYPE_NOT_ON_ROOT,
		.seq_show	= wrais_show,
		.write		= wrais_write,
	},
	{ }
};

static struct blkcg_policy wrais_policy = {
	.dfl_cftypes	= wrais_files,

	.cpd_alloc_fn	= wrais_alloc_cpd,
	.cpd_free_fn	= wrais_free_cpd,
};

static int __init wrais_cgroup_init(void)
{
	return blkcg_policy_register(&wrais_policy);
}
subsys_initcall(wrais_cgroup_init);
#else
static bool wrais_cgroup_has_task(struct task_struct *task)
{
	return false;
}
#endif /* CONFIG_BLK_CGROUP */

/* The I/O class that was set for the current task. */
static int wrais_own_class(void)
{
	const struct io_context *ioc = current->io_context;

	return ioc ? IOPRIO_PRIO_CLASS(ioc->ioprio) : IOPRIO_CLASS_NONE;
}

/* Is the current task privileged? Process context; call it behind wrais_on(). */
bool wrais_current_privileged(void)
{
	return wrais_own_class() == IOPRIO_CLASS_RT || wrais_cgroup_has_task(current);
}

/*
 * Has a bio of the current task the real-time class because of the task's CPU policy? Those
 * that a kernel thread hands on have it from elsewhere.
 */
bool wrais_class_is_of_policy(const struct bio *bio)
{
	return !(current->flags & PF_KTHREAD) && wrais_own_class() == IOPRIO_CLASS_NONE &&
	       wrais_bio_privileged(bio) && bio->bi_ioprio == get_current_ioprio();
}

int __wrais_acts_for(unsigned short ioprio)
{
	int own = current->io_context ? current->io_context->ioprio : IOPRIO_DEFAULT;

	if (IOPRIO_PRIO_CLASS(ioprio) != IOPRIO_CLASS_RT || set_task_ioprio(current, ioprio))
		return WRAIS_NO_OVERRIDE;
	return own;
}
EXPORT_SYMBOL_GPL(__wrais_acts_for);

void __wrais_acted(int own)
{
	set_task_ioprio(current, own);
}
EXPORT_SYMBOL_GPL(__wrais_acted);
