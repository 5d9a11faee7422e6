// SPDX-License-Identifier: GPL-2.0
/* via_spin.c - a word of shared memory that the other side looks at all the time. */
#include "container_runtime.h"
#include "futex.h"

static void spin_send(struct page *page, enum side side, u64 word)
{
	store64(&page->slot[other(side)].word, word);
}

static u64 spin_receive(struct page *page, enum side side)
{
	u64 *slot = &page->slot[side].word, word;

	while (!(word = load64(slot)))
		cpu_relax();
	/* the other side writes again only after it has our answer */
	__atomic_store_n(slot, 0, __ATOMIC_RELAXED);
	return word;
}

const struct mechanism via_spin = {
	.name = "spin",
	.text = "spinning on a word, two threads",
	.threads = true,
	.spins = true,
	.send = spin_send,
	.receive = spin_receive,
};

const struct mechanism via_spin_affinity = {
	.name = "spin-affinity",
	.text = "the same, each thread bound to a CPU",
	.threads = true,
	.spins = true,
	.pinned = true,
	.send = spin_send,
	.receive = spin_receive,
};

const struct mechanism via_spin_shm = {
	.name = "spin-shm",
	.text = "spinning on a word of shared memory, two processes",
	.spins = true,
	.send = spin_send,
	.receive = spin_receive,
};

const struct mechanism via_shm_containers = {
	.name = "shm-containers",
	.text = "spinning on a word of a file that two containers have mounted",
	.spins = true,
	.containers = true,
	.missing = containers_missing,
	.send = spin_send,
	.receive = spin_receive,
};
