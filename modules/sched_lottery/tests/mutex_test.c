// SPDX-License-Identifier: GPL-2.0-only
/*
 * lottery_mutex_test - the lottery mutex with threads that want it. The tests run when the
 * module is loaded, which fails with -EINVAL if one of them does; the log has their
 * results.
 *
 * contest: threads of several groups take the mutex again and again, with nothing to do
 * outside. All but the one that releases it take part in each draw, so that with T tickets
 * in all a thread with t of them has it in proportion to t (T - t).
 */

#include <linux/completion.h>
#include <linux/delay.h>
#include <linux/err.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include <linux/lottery/mutex.h>

#include <uapi/linux/sched/types.h>

#define GROUPS_MAX	8
#define THREADS_MAX	64
/* The most standard deviations by which chance moves a count. */
#define SIGMAS		5
#define WAIT_MS		30000

static unsigned int tickets[GROUPS_MAX] = { 200, 100 };
static unsigned int groups = 2;
module_param_array(tickets, uint, &groups, 0444);
MODULE_PARM_DESC(tickets, "of each thread, for each group (200,100)");

static unsigned int threads = 8;
module_param(threads, uint, 0444);
MODULE_PARM_DESC(threads, "in all, a multiple of the groups (8)");

static unsigned int hold_us = 1000;
module_param(hold_us, uint, 0444);
MODULE_PARM_DESC(hold_us, "how long each holds the mutex (1000)");

static unsigned int ms = 5000;
module_param(ms, uint, 0444);
MODULE_PARM_DESC(ms, "how long the contest lasts (5000)");

static bool lend = true;
module_param(lend, bool, 0444);
MODULE_PARM_DESC(lend, "test what the holder is lent, against time (Y)");

struct contest {
	struct lottery_mutex mutex;
	struct task_struct *thread[THREADS_MAX];
	u64 taken[THREADS_MAX];
	int inside;
	bool overlap;
};

struct contestant {
	struct contest *c;
	u64 *taken;
};

static bool expect(bool good, const char *what)
{
	if (!good)
		pr_err("lottery_mutex_test: failed: %s\n", what);
	return good;
}

static int give_tickets(struct task_struct *p, unsigned int number)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = SCHED_LOTTERY,
		.sched_tickets = number,
	};

	return sched_setattr_nocheck(p, &attr);
}

static int contestant(void *arg)
{
	struct contestant *me = arg;
	struct contest *c = me->c;

	while (!kthread_should_stop()) {
		lottery_mutex_lock(&c->mutex);
		c->overlap |= c->inside++;
		fsleep(hold_us);
		c->inside--;
		++*me->taken;
		lottery_mutex_unlock(&c->mutex);
	}
	return 0;
}

static bool contest_is_fair(const struct contest *c)
{
	u64 weight[GROUPS_MAX], taken[GROUPS_MAX] = { }, all = 0, weights = 0, sum = 0;
	unsigned int each = threads / groups, i, g;
	bool fair = true;

	for (g = 0; g < groups; g++)
		sum += (u64)tickets[g] * each;
	for (i = 0; i < threads; i++) {
		taken[i / each] += c->taken[i];
		all += c->taken[i];
	}
	for (g = 0; g < groups; g++) {
		weight[g] = tickets[g] * (sum - tickets[g]);
		weights += weight[g];
	}
	for (g = 0; g < groups; g++) {
		u64 due = div64_u64(all * weight[g], weights);
		s64 off = taken[g] - due;

		pr_info("lottery_mutex_test: tickets %u taken %llu due %llu\n", tickets[g],
			taken[g], due);
		fair &= (u64)(off * off) <= SIGMAS * SIGMAS * due;
	}
	return expect(all > 10 * threads, "the mutex was hardly taken") &
	       expect(fair, "the mutex is not taken as tickets say");
}

static bool contest_with(struct contest *c, struct contestant *all)
{
	bool good = true;
	unsigned int i;

	lottery_mutex_init(&c->mutex);
	lottery_mutex_lock(&c->mutex);
	for (i = 0; i < threads; i++) {
		all[i] = (struct contestant){ c, &c->taken[i] };
		c->thread[i] = kthread_run(contestant, &all[i], "mutex_test/%u", i);
		if (IS_ERR(c->thread[i]))
			break;
		good &= !give_tickets(c->thread[i], tickets[i / (threads / groups)]);
	}
	good &= expect(i == threads, "no threads");
	/* All wait from the beginning. */
	msleep(100);
	lottery_mutex_unlock(&c->mutex);
	msleep(ms);
	while (i--)
		kthread_stop(c->thread[i]);
	good &= expect(!c->overlap, "two held the mutex");
	if (!expect(lottery_mutex_trylock(&c->mutex), "it is not free"))
		return false;
	lottery_mutex_unlock(&c->mutex);
	return good & contest_is_fair(c);
}

static bool test_contest(void)
{
	struct contest *c = kzalloc(sizeof(*c), GFP_KERNEL);
	struct contestant *all = kcalloc(THREADS_MAX, sizeof(*all), GFP_KERNEL);
	bool good = c && all && contest_with(c, all);

	kfree(all);
	kfree(c);
	return good;
}

static bool test_trylock(void)
{
	struct lottery_mutex m;
	bool good;

	lottery_mutex_init(&m);
	good = expect(lottery_mutex_trylock(&m), "a free mutex is not taken") &&
	       expect(!lottery_mutex_trylock(&m), "a mutex is taken twice");
	lottery_mutex_unlock(&m);
	good &= expect(!lottery_mutex_lock_killable(&m), "it is not free again");
	lottery_mutex_unlock(&m);
	return good;
}

/* A waiter: what lottery_mutex_lock_killable() returned, once it has. */
struct waiter {
	struct lottery_mutex *m;
	struct completion done;
	int result;
};

static int killable_waiter(void *arg)
{
	struct waiter *w = arg;

	allow_signal(SIGKILL);
	w->result = lottery_mutex_lock_killable(w->m);
	if (!w->result)
		lottery_mutex_unlock(w->m);
	complete(&w->done);
	while (!kthread_should_stop())
		fsleep(1000);
	return 0;
}

static bool await_waiters(struct lottery_mutex *m, unsigned int nr)
{
	unsigned int i;

	for (i = 0; READ_ONCE(m->waiters.nr) != nr && i < WAIT_MS; i++)
		fsleep(1000);
	return expect(i < WAIT_MS, "a thread does not begin to wait");
}

static bool test_killed(void)
{
	struct lottery_mutex m;
	struct waiter w = { .m = &m };
	struct task_struct *thread;
	bool good;

	lottery_mutex_init(&m);
	init_completion(&w.done);
	lottery_mutex_lock(&m);
	thread = kthread_run(killable_waiter, &w, "mutex_test/killed");
	if (!expect(!IS_ERR(thread), "no thread"))
		return false;
	good = await_waiters(&m, 1);
	send_sig(SIGKILL, thread, 1);
	good &= expect(wait_for_completion_timeout(&w.done, msecs_to_jiffies(WAIT_MS)),
		       "who is killed waits on");
	good &= expect(w.result == -EINTR, "who is killed has the mutex") &&
		await_waiters(&m, 0);
	lottery_mutex_unlock(&m);
	kthread_stop(thread);
	return good;
}

/*
 * A holder that needs NEED_MS of a CPU that a lottery hog has. It is of the fair class,
 * which has 5 % there; but the waiter lends it three times what the hog has.
 */
#define NEED_MS		100
#define LENT_MS		(4 * NEED_MS)

struct errand {
	struct lottery_mutex m;
	struct completion held;
	struct completion go;
	u64 took_ns;
};

static int hog(void *arg)
{
	while (!kthread_should_stop())
		cond_resched();
	return 0;
}

static int holder(void *arg)
{
	struct errand *e = arg;
	u64 begin, ran;

	lottery_mutex_lock(&e->m);
	complete(&e->held);
	wait_for_completion(&e->go);
	begin = ktime_get_ns();
	ran = current->se.sum_exec_runtime;
	while (READ_ONCE(current->se.sum_exec_runtime) - ran < NEED_MS * NSEC_PER_MSEC)
		cond_resched();
	e->took_ns = ktime_get_ns() - begin;
	lottery_mutex_unlock(&e->m);
	while (!kthread_should_stop())
		fsleep(1000);
	return 0;
}

static int lender(void *arg)
{
	struct errand *e = arg;

	lottery_mutex_lock(&e->m);
	lottery_mutex_unlock(&e->m);
	while (!kthread_should_stop())
		fsleep(1000);
	return 0;
}

/* On the CPU of the caller; with tickets unless they are 0. */
static struct task_struct *start(int (*fn)(void *arg), struct errand *e, const char *name,
				 unsigned int number)
{
	struct task_struct *p;

	p = kthread_create_on_cpu(fn, e, raw_smp_processor_id(), name);
	if (IS_ERR(p))
		return NULL;
	if (number)
		give_tickets(p, number);
	wake_up_process(p);
	return p;
}

static bool run_errand(struct errand *e)
{
	struct task_struct *thread[3] = { };
	bool good;
	int i;

	thread[0] = start(holder, e, "mutex_test/h%u", 0);
	if (!expect(thread[0], "no thread"))
		return false;
	wait_for_completion(&e->held);
	thread[1] = start(lender, e, "mutex_test/l%u", 300);
	good = expect(thread[1], "no thread") && await_waiters(&e->m, 1);
	thread[2] = start(hog, e, "mutex_test/g%u", 100);
	good &= expect(thread[2], "no thread");
	complete(&e->go);
	for (i = 0; i < 3; i++)
		if (thread[i])
			kthread_stop(thread[i]);
	return good;
}

static bool test_lent(void)
{
	struct errand e = { };
	bool good;

	lottery_mutex_init(&e.m);
	init_completion(&e.held);
	init_completion(&e.go);
	/* Its threads are where it is; it goes before them, or the hog would stop it. */
	migrate_disable();
	sched_set_fifo(current);
	good = run_errand(&e);
	sched_set_normal(current, 0);
	migrate_enable();
	pr_info("lottery_mutex_test: the holder had %d ms of its CPU in %llu ms\n", NEED_MS,
		div_u64(e.took_ns, NSEC_PER_MSEC));
	return good & expect(!lend || e.took_ns <= LENT_MS * NSEC_PER_MSEC,
			     "the holder is not lent what the waiter has");
}

static int __init mutex_test_init(void)
{
	bool good;

	if (!groups || !threads || threads > THREADS_MAX || threads % groups)
		return -EINVAL;
	good = test_trylock() & test_killed() & test_lent() & test_contest();
	return good ? 0 : -EINVAL;
}
module_init(mutex_test_init);

static void __exit mutex_test_exit(void)
{
}
module_exit(mutex_test_exit);

MODULE_DESCRIPTION("Tests of the lottery mutex");
MODULE_LICENSE("GPL");
