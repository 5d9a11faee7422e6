// SPDX-License-Identifier: GPL-2.0-only
/* Buffers: how many are out, how they come back, and who keeps one for good. */

#include <linux/delay.h>
#include <linux/mm.h>

#include "pool.h"
#include "tests.h"

#define POOL_PER_PAGE	(PAGE_SIZE / NLL_POOL_SMALL)
#define POOL_MAX	(4 * POOL_PER_PAGE)

static int pool_init(struct kunit *test)
{
	struct nll_pool *pool = kunit_kzalloc(test, sizeof(*pool), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, pool);
	nll_pool_init(pool, NLL_POOL_SMALL);
	test->priv = pool;
	return 0;
}

static void pool_exit(struct kunit *test)
{
	nll_pool_empty(test->priv);
}

/* As freeing the skb does. */
static void pool_free(void *buffer)
{
	put_page(virt_to_head_page(buffer));
}

static void pool_take(struct kunit *test, void **buffers, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		buffers[i] = nll_pool_take(test->priv, POOL_MAX, false);
		KUNIT_ASSERT_NOT_NULL(test, buffers[i]);
	}
}

static void pool_bound(struct kunit *test)
{
	struct nll_pool *pool = test->priv;
	void *buffers[POOL_MAX];
	unsigned int i;

	pool_take(test, buffers, POOL_MAX);
	KUNIT_EXPECT_EQ(test, nll_pool_out(pool), POOL_MAX);
	KUNIT_EXPECT_NULL(test, nll_pool_take(pool, POOL_MAX, false));

	/* The first page comes back with its last buffer. */
	for (i = 0; i < POOL_PER_PAGE - 1; i++)
		pool_free(buffers[i]);
	KUNIT_EXPECT_NULL(test, nll_pool_take(pool, POOL_MAX, false));
	pool_free(buffers[i]);
	KUNIT_EXPECT_EQ(test, nll_pool_out(pool), POOL_MAX - POOL_PER_PAGE);
	KUNIT_EXPECT_PTR_EQ(test, nll_pool_take(pool, POOL_MAX, false), buffers[0]);
	pool_free(buffers[0]);
	for (i = POOL_PER_PAGE; i < POOL_MAX; i++)
		pool_free(buffers[i]);
	/* Nothing is out, though a page is being handed out. */
	KUNIT_EXPECT_EQ(test, nll_pool_out(pool), 0);
	KUNIT_EXPECT_EQ(test, pool->replaced, 0);
}

static void pool_untake(struct kunit *test)
{
	struct nll_pool *pool = test->priv;
	void *buffer;

	pool_take(test, &buffer, 1);
	nll_pool_untake(pool);
	KUNIT_EXPECT_EQ(test, nll_pool_out(pool), 0);
	KUNIT_EXPECT_PTR_EQ(test, nll_pool_take(pool, POOL_MAX, false), buffer);
	pool_free(buffer);
}

/* Buffers are not written to while their owner has them. */
static void pool_apart(struct kunit *test)
{
	void *buffers[POOL_MAX], *more[POOL_MAX];
	unsigned int i, j;

	pool_take(test, buffers, POOL_MAX);
	for (i = 0; i < POOL_MAX; i++) {
		more[i] = nll_pool_take(test->priv, POOL_MAX, true);
		KUNIT_ASSERT_NOT_NULL(test, more[i]);
		for (j = 0; j < POOL_MAX; j++)
			KUNIT_EXPECT_PTR_NE(test, more[i], buffers[j]);
	}
	KUNIT_EXPECT_EQ(test, ((struct nll_pool *)test->priv)->replaced, POOL_MAX / POOL_PER_PAGE);
	for (i = 0; i < POOL_MAX; i++) {
		pool_free(buffers[i]);
		pool_free(more[i]);
	}
}

/* A socket that is not read must not keep the port from receiving. */
static void pool_stale(struct kunit *test)
{
	unsigned long deadline = jiffies + msecs_to_jiffies(20 * NLL_POOL_STALE_MS);
	struct nll_pool *pool = test->priv;
	void *buffers[POOL_MAX], *buffer;
	unsigned int i;

	pool_take(test, buffers, POOL_MAX);
	do {
		buffer = nll_pool_take(pool, POOL_MAX, false);
		cond_resched();
	} while (!buffer && time_before(jiffies, deadline));
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_EQ(test, pool->replaced, 1);
	KUNIT_EXPECT_EQ(test, page_ref_count(virt_to_head_page(buffers[0])), POOL_PER_PAGE);
	pool_free(buffer);
	for (i = 0; i < POOL_MAX; i++)
		pool_free(buffers[i]);
}

/* Fewer buffers from now on: pages go as they come back. */
static void pool_shrink(struct kunit *test)
{
	struct nll_pool *pool = test->priv;
	void *buffers[POOL_MAX], *buffer;
	unsigned int i;

	pool_take(test, buffers, POOL_MAX);
	for (i = 0; i < POOL_MAX; i++)
		pool_free(buffers[i]);
	buffer = nll_pool_take(pool, POOL_PER_PAGE, false);
	KUNIT_ASSERT_NOT_NULL(test, buffer);
	KUNIT_EXPECT_EQ(test, pool->count, 1);
	pool_free(buffer);
}

static struct kunit_case nll_pool_cases[] = {
	KUNIT_CASE(pool_bound),
	KUNIT_CASE(pool_untake),
	KUNIT_CASE(pool_apart),
	KUNIT_CASE(pool_stale),
	KUNIT_CASE(pool_shrink),
	{}
};

struct kunit_suite nll_pool_suite = {
	.name		= "nll_pool",
	.init		= pool_init,
	.exit		= pool_exit,
	.test_cases	= nll_pool_cases,
};
