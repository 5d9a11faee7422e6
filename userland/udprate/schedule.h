/* SPDX-License-Identifier: GPL-2.0 */
/*
 * schedule.h - what a worker sends when. It knows no clock: times count from the
 * start of the run, and the same parameters always give the same batches.
 */
#ifndef UDPRATE_SCHEDULE_H
#define UDPRATE_SCHEDULE_H

#include "rate.h"
#include "types.h"

#define WORKERS_MAX		64U
#define PACKET_MIN		64U	/* a packet may be half as great, and has a header */
#define PACKET_MAX		65507U
#define BATCH_MAX		64U	/* packets: what the kernel cuts one send into */
#define BATCH_BYTES_MAX		65507U

/* A worker's part of the rate. */
struct plan {
	u64 bytes_per_s;	/* of all workers */
	u32 workers;
	u32 worker;		/* this one, from 0 */
	u32 size;		/* of a packet, the most */
	u64 stop_ns;		/* nothing is due then or later */
	u64 quantum_ns;		/* no two batches are closer, if that can be */
	struct nll_rate_params rate;	/* its packets and per_ns are filled in */
};

struct batch {
	u64 due_ns;		/* never sent before */
	u64 begin_ns;		/* its packets' own times, if they were ... */
	u64 gap_ns;		/* ... sent one by one */
	u32 packets;
	u32 size;		/* of each, bytes */
};

/*
 * At a constant rate: @per_s batches a second, all with the same number of packets,
 * whose size differs from batch to batch so that whole seconds carry the same. A batch
 * is due in the middle of its time, so that one that is a little late still counts
 * for its own second. With the other shapes packets are of one size, due one by one,
 * and batches are those that would be too close.
 */
struct schedule {
	struct plan plan;
	u32 packets;
	u64 per_s;
	u64 batch;		/* the next, from 0 */
	struct nll_rate rate;
	u64 next_ns;
};

/* NULL, or what is wrong with the plan: a name, a colon, and what is allowed. */
const char *schedule_fault(const struct plan *plan);

/* The plan has no fault. */
void schedule_init(struct schedule *s, const struct plan *plan);

/* The time between batches, and between packets if they were all of full size. */
u64 schedule_period(const struct schedule *s);
u64 schedule_full_gap(const struct schedule *s);

/* What is due of all workers in the run, at a constant rate. */
u64 schedule_bytes(const struct schedule *s);

/* False at the end. */
bool schedule_next(struct schedule *s, struct batch *batch);

#endif /* UDPRATE_SCHEDULE_H */
