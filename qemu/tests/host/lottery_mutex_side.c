// SPDX-License-Identifier: GPL-2.0
/* lottery_mutex_side.c - the parts of a lock, for one thread that plays all of them. */
#include "../../../userland/lib/lottery_mutex.c"

/* As lottery_mutex_lock(), up to the wait; true when the mutex was free. */
bool begin_to_lock(struct lottery_mutex *m, u32 slot, u32 tickets)
{
	return enter(m, slot + 1, tickets);
}

/* And from the wait on. */
void go_on_to_wait(struct lottery_mutex *m, u32 slot)
{
	await_turn(m, slot + 1);
}

bool has_won(const struct lottery_mutex *m, u32 slot)
{
	return load(&m->waiter[slot].turn);
}

u64 unbiased(struct random *r, u64 bound)
{
	return random_unbiased(r, bound);
}
