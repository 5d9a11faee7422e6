// SPDX-License-Identifier: GPL-2.0-only
/*
 * The buffers that a port hands to the stack.
 *
 * Sockets give buffers back in the order in which they got them, more or less:
 * the pages are a queue, and only its head is looked at. A buffer costs no more
 * than the reference that frees it, and who frees it needs to know nothing.
 *
 * The caller holds the port's lock.
 */

#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/gfp.h>
#include <linux/jiffies.h>
#include <linux/kernel.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/page_ref.h>
#include <linux/skbuff.h>

#include "pool.h"

static struct nll_page *nll_pool_at(struct nll_pool *pool, unsigned int at)
{
	return &pool->pages[(pool->head + at) % NLL_POOL_PAGES];
}

static struct page *nll_pool_pop(struct nll_pool *pool)
{
	struct page *page = nll_pool_at(pool, 0)->page;

	pool->head = (pool->head + 1) % NLL_POOL_PAGES;
	pool->count--;
	if (pool->back)
		pool->back--;
	return page;
}

/* Hand out buffers of @page from now on. */
static void nll_pool_push(struct nll_pool *pool, struct page *page)
{
	struct nll_page *last = nll_pool_at(pool, pool->count);

	page_ref_add(page, pool->per_page);
	last->page = page;
	last->since = jiffies;
	pool->count++;
	pool->left = pool->per_page;
	pool->next = page_address(page);
}

/* See which pages at the head of the queue have come back. */
static void nll_pool_look(struct nll_pool *pool)
{
	unsigned int full = pool->count - (pool->left ? 1 : 0);

	while (pool->back < full &&
	       page_ref_count(nll_pool_at(pool, pool->back)->page) == 1)
		pool->back++;
}

static bool nll_pool_stale(struct nll_pool *pool)
{
	return time_after(jiffies, nll_pool_at(pool, 0)->since +
				   msecs_to_jiffies(NLL_POOL_STALE_MS));
}

/**
 * nll_pool_more() - begin another page
 * @pool: whose last page has nothing left
 * @max: buffers that may be out
 * @insist: give up the oldest ones rather than fail
 *
 * Return: whether there is one.
 */
bool nll_pool_more(struct nll_pool *pool, unsigned int max, bool insist)
{
	unsigned int pages = clamp(max / pool->per_page, 1, NLL_POOL_PAGES);
	struct page *page;

	nll_pool_look(pool);
	while (pool->back && pool->count > pages)
		put_page(nll_pool_pop(pool));
	if (pool->back) {
		nll_pool_push(pool, nll_pool_pop(pool));
		return true;
	}
	if (pool->count >= pages && !insist && !nll_pool_stale(pool))
		return false;
	page = dev_alloc_page();
	if (!page)
		return false;
	while (pool->count >= pages) {
		/* It belongs to the socket that keeps its buffers now. */
		put_page(nll_pool_pop(pool));
		pool->replaced++;
	}
	nll_pool_push(pool, page);
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(nll_pool_more);

/**
 * nll_pool_init() - begin without a page
 * @pool: to begin with
 * @size: of its buffers, NLL_POOL_SMALL or NLL_POOL_LARGE
 */
void nll_pool_init(struct nll_pool *pool, unsigned int size)
{
	memset(pool, 0, sizeof(*pool));
	pool->size = size;
	pool->per_page = PAGE_SIZE / size;
}
EXPORT_SYMBOL_IF_KUNIT(nll_pool_init);

/**
 * nll_pool_untake() - the last buffer taken was not used
 * @pool: that it is from
 */
void nll_pool_untake(struct nll_pool *pool)
{
	pool->next -= pool->size;
	pool->left++;
}
EXPORT_SYMBOL_IF_KUNIT(nll_pool_untake);

/**
 * nll_pool_out() - how many buffers have not come back
 * @pool: to look at
 *
 * Return: their number, counting those that share a page with one that is out,
 * unless it is the last page: of that one it is known.
 */
unsigned int nll_pool_out(struct nll_pool *pool)
{
	unsigned int pages, last = 0;

	nll_pool_look(pool);
	pages = pool->count - pool->back;
	if (pool->left) {
		pages--;
		last = page_ref_count(nll_pool_at(pool, pool->count - 1)->page) - 1 - pool->left;
	}
	return pages * pool->per_page + last;
}
EXPORT_SYMBOL_IF_KUNIT(nll_pool_out);

/**
 * nll_pool_empty() - give up all pages
 * @pool: from which nothing is taken any more
 *
 * A page whose buffers are out goes when the last of them does.
 */
void nll_pool_empty(struct nll_pool *pool)
{
	if (pool->left)
		page_ref_sub(nll_pool_at(pool, pool->count - 1)->page, pool->left);
	while (pool->count)
		put_page(nll_pool_pop(pool));
	nll_pool_init(pool, pool->size);
}
EXPORT_SYMBOL_IF_KUNIT(nll_pool_empty);
