/* SPDX-License-Identifier: GPL-2.0-only */
/* The accounts of a device and its queues, without a type of BFQ. */
#ifndef _WRAIS_ACCOUNTS_H
#define _WRAIS_ACCOUNTS_H

#include <linux/time64.h>
#include <linux/types.h>

/* The floor's window slides by a slot. */
#define WRAIS_SLOTS		10
/* The cost of a request besides its sectors, a fraction of a millisecond. */
#define WRAIS_REQUEST_COST	16
/* How long the next request of a queue is waited for. */
#define WRAIS_FAIR_NEXT_NS	NSEC_PER_MSEC

/* Privileged requests, and those of the others. */
enum wrais_kind {
	WRAIS_PRIVILEGED,
	WRAIS_OTHERS,
	WRAIS_NR_KINDS,
};

/**
 * struct wrais_queue - the state of a queue of privileged requests
 * @pauses: how many long pauses its task has made in a row
 * @asked_ns: since when its task waits for a tag for the next request, or 0 if it
 *	has one
 * @random: the last request was a random read
 * @used_ns: device time used for random reads, less what is forgotten
 * @used_at_ns: when that was updated
 * @debt_ns: device time due to the others; negative if they have had more
 * @settled_ns: the others' time on the device when that was updated
 * @served: its service, by its priority
 * @filled: of another queue: its sectors in the device
 *
 * Protected by the lock of the device's bfq_data.
 */
struct wrais_queue {
	unsigned int pauses;
	u64 asked_ns;
	bool random;
	u64 used_ns;
	u64 used_at_ns;
	s64 debt_ns;
	u64 settled_ns;
	u64 served;
	unsigned int filled;
};

/**
 * struct wrais_device - the state of a device
 * @slot: the current one, counted since boot
 * @cost: of the requests of each slot in the window
 * @credit: privileged use since the deficit of the others was served
 * @overdue_credit: privileged use that overdue requests of the others may match;
 *	negative after a large one
 * @looked_ns: when such a request was last searched
 * @overdue: the next request goes because it is overdue
 * @late_ns: the same credit for late reads, in device time
 * @looked_late_ns: when one was last searched
 * @late: one of these is in the device
 * @lead: how much more was done for waits than for privileged requests, while both
 *	wanted the device
 * @contended: both want it
 * @floor_due: the floor has a deficit
 * @for_deficit: the next request serves the deficit of the others
 * @busy_ns: since when it has worked on the request that it completes next
 * @others_ns: how long it has worked for the others
 * @debts: a queue may be in debt
 * @reducing: a request of the others is under way that reduces such a debt
 * @served_most: the service of the queue that has had most
 * @awaited: the privileged queue with a deficit that is about to have a request, or
 *	NULL; it may be gone
 * @awaited_served: its service
 * @awaited_until_ns: until when the other queues wait for it
 * @waits: they do
 * @filled: sectors of the others in the device
 * @full: that is enough for now
 *
 * Protected by the lock of the device's bfq_data.
 */
struct wrais_device {
	unsigned long slot;
	u64 cost[WRAIS_SLOTS][WRAIS_NR_KINDS];
	u64 credit;
	s64 overdue_credit;
	u64 looked_ns;
	bool overdue;
	s64 late_ns;
	u64 looked_late_ns;
	bool late;
	s64 lead;
	bool contended;
	bool floor_due;
	bool for_deficit;
	u64 busy_ns;
	u64 others_ns;
	bool debts;
	bool reducing;
	u64 served_most;
	const struct wrais_queue *awaited;
	u64 awaited_served;
	u64 awaited_until_ns;
	bool waits;
	unsigned int filled;
	bool full;
};

extern unsigned int wrais_floor_pct;
extern unsigned int wrais_floor_window_ms;
extern unsigned int wrais_random_pct;

void wrais_charge(struct wrais_device *dev, enum wrais_kind kind, u64 cost);
void wrais_floor_dispatched(struct wrais_device *dev, enum wrais_kind kind, u64 cost);
bool wrais_floor_is_due(const struct wrais_device *dev, unsigned int pct);
bool wrais_floor_has_deficit(struct wrais_device *dev);
bool wrais_overdue_may_go(const struct wrais_device *dev, bool waited);
bool wrais_late_may_go(const struct wrais_device *dev);
void wrais_late_spend(struct wrais_device *dev, enum wrais_kind kind, u64 spent_ns);
void wrais_lead_by(struct wrais_device *dev, bool waited_for, u64 cost);
bool wrais_waiter_first(const struct wrais_device *dev);

unsigned int wrais_random_lost(u64 used_ns, u64 window_ns, unsigned int pct);
bool wrais_in_debt(const struct wrais_queue *q, u64 others_ns);
void wrais_random_spend(struct wrais_queue *q, u64 now_ns, u64 spent_ns, u64 others_ns);

u64 wrais_fair_share(u64 cost, unsigned int level);
void wrais_fair_charge(struct wrais_device *dev, struct wrais_queue *q, u64 share);
void wrais_fair_arrived(struct wrais_device *dev, struct wrais_queue *q);
void wrais_fair_dispatched(struct wrais_device *dev, struct wrais_queue *q, u64 share);
void wrais_fair_await(struct wrais_device *dev, const struct wrais_queue *q, u64 until_ns);
bool wrais_fair_awaits(struct wrais_device *dev);
bool wrais_fair_waits(const struct wrais_device *dev, const struct wrais_queue *q);

#endif /* _WRAIS_ACCOUNTS_H */
