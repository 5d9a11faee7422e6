/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The buffers that a port hands to the stack. Their number is bounded, so that
 * what is missing tells how far behind the applications are.
 */
#ifndef NLL_POOL_H
#define NLL_POOL_H

#include <linux/mm_types.h>
#include <linux/types.h>

/* Pages of a pool at most; 8 small buffers or 2 large ones each. */
#define NLL_POOL_PAGES	512
#define NLL_POOL_SMALL	512
#define NLL_POOL_LARGE	2048

/* A page that was not given back for this long is in a socket that is not read. */
#define NLL_POOL_STALE_MS	50

/**
 * struct nll_page - a page of buffers
 * @page: the page, with one reference of ours and one for each buffer out
 * @since: when its first buffer went out, jiffies
 */
struct nll_page {
	struct page *page;
	unsigned long since;
};

/**
 * struct nll_pool - buffers of one size, first out first back
 * @size: bytes of a buffer
 * @per_page: how many there are in a page
 * @head: the page that went out first
 * @count: pages in the queue; the last one is being handed out
 * @back: pages at the head that were seen to be ours alone again
 * @left: buffers of the last page that are not out yet
 * @next: the next one of these
 * @replaced: pages that were given up because sockets kept them
 * @pages: the queue, a ring
 */
struct nll_pool {
	unsigned int size;
	unsigned int per_page;
	unsigned int head;
	unsigned int count;
	unsigned int back;
	unsigned int left;
	void *next;
	u64 replaced;
	struct nll_page pages[NLL_POOL_PAGES];
};

/* pool.c APIs: */
void nll_pool_init(struct nll_pool *pool, unsigned int size);
bool nll_pool_more(struct nll_pool *pool, unsigned int max, bool insist);
void nll_pool_untake(struct nll_pool *pool);
unsigned int nll_pool_out(struct nll_pool *pool);
void nll_pool_empty(struct nll_pool *pool);

/**
 * nll_pool_take() - take a buffer
 * @pool: of the size wanted
 * @max: buffers that may be out
 * @insist: give up the oldest ones rather than fail
 *
 * The buffer is freed as the head of an skb that build_skb() made, by its page.
 *
 * Return: the buffer, or NULL when too many are out.
 */
static inline void *nll_pool_take(struct nll_pool *pool, unsigned int max, bool insist)
{
	void *buffer;

	if (unlikely(!pool->left) && !nll_pool_more(pool, max, insist))
		return NULL;
	buffer = pool->next;
	pool->next += pool->size;
	pool->left--;
	return buffer;
}

#endif /* NLL_POOL_H */
