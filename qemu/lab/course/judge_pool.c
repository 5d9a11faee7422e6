// SPDX-License-Identifier: GPL-2.0
/* judge_pool.c - does each entry own as many winning numbers as it has tickets, always? */
#include <string.h>

#include <linux/sched.h>

#include <linux/lottery/pool.h>

#include "judge.h"

#define ENTRIES		64
#define TICKETS_MAX	20
#define STEPS		4000

LOTTERY_DECLARE_POOL(mine);

static struct lottery_pool pool;
static struct lottery_entry entry[ENTRIES];
static int is_in[ENTRIES];
static u64 tickets;
static unsigned int nr;

static void look(unsigned int step)
{
	u64 owns[ENTRIES] = { 0 }, winning;
	unsigned int i;

	if (pool.tickets != tickets || pool.nr != nr)
		judge_wrong("after %u changes the pool says %llu tickets of %u entries; there are %llu of %u",
			    step, (unsigned long long)pool.tickets, pool.nr,
			    (unsigned long long)tickets, nr);
	for (winning = 0; winning < tickets; winning++) {
		const struct lottery_entry *e = lottery_mine_draw(&pool, winning);
		const ptrdiff_t at = e - entry;

		if (!e || at < 0 || at >= ENTRIES || !is_in[at])
			judge_wrong("after %u changes number %llu of %llu belongs to no entry of the pool",
				    step, (unsigned long long)winning, (unsigned long long)tickets);
		owns[at]++;
	}
	for (i = 0; i < ENTRIES; i++)
		if (is_in[i] && owns[i] != entry[i].tickets)
			judge_wrong("after %u changes an entry with %llu tickets wins for %llu numbers",
				    step, (unsigned long long)entry[i].tickets,
				    (unsigned long long)owns[i]);
}

static void change(uint64_t *state)
{
	const unsigned int i = judge_random(state) % ENTRIES;
	const u64 value = 1 + judge_random(state) % TICKETS_MAX;

	if (!is_in[i]) {
		entry[i].tickets = value;
		lottery_mine_insert(&pool, &entry[i]);
		tickets += value;
		nr++;
		is_in[i] = 1;
	} else if (judge_random(state) % 2) {
		lottery_mine_remove(&pool, &entry[i]);
		tickets -= entry[i].tickets;
		nr--;
		is_in[i] = 0;
	} else {
		tickets += value - entry[i].tickets;
		lottery_mine_reweight(&pool, &entry[i], value);
		if (entry[i].tickets != value)
			judge_wrong("after a reweight to %llu an entry has %llu tickets",
				    (unsigned long long)value,
				    (unsigned long long)entry[i].tickets);
	}
}

int main(void)
{
	uint64_t state = 1;
	unsigned int step;

	if (!lottery_pool_mine.name || !strcmp(lottery_pool_mine.name, "list"))
		judge_wrong("the pool has no name of its own");
	lottery_pool_mine.init(&pool);
	for (step = 1; step <= STEPS; step++) {
		change(&state);
		look(step);
	}
	return judge_right();
}
