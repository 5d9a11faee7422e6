/* SPDX-License-Identifier: GPL-2.0 */
/*
 * control.h - what a sender and its receiver say to each other, over TCP to the port
 * that the packets go to: hello, ready, then the packets, the end, and the report. Between, it
 * may be asked what came so far.
 *
 * All in the byte order of the machine; one with another order, or another version, is
 * turned away.
 */
#ifndef UDPRATE_CONTROL_H
#define UDPRATE_CONTROL_H

#include "address.h"
#include "histogram.h"
#include "holes.h"
#include "schedule.h"
#include "sequence.h"
#include "types.h"

#define MAGIC			0x75647072U
#define CONTROL_VERSION		2U

struct hello {
	u32 magic;
	u32 version;
	u64 run;
	u64 period_ns;		/* from batch to batch, all workers together */
};

enum answer_code { ANSWER_READY, ANSWER_BUSY, ANSWER_VERSION };

struct answer {
	u32 magic;
	u32 code;
};

/* What came until now, or all of it when the run is over. */
struct ask {
	u64 over;
	u64 numbered[WORKERS_MAX];	/* then: packets of each worker, from 0 to one less */
};

struct so_far {
	u64 bytes;
	u64 lost;		/* of the numbers below the newest */
};

/* What arrived of a run. It has no pointers: it is sent as it is. */
struct received {
	u64 packets;		/* without duplicates */
	u64 bytes;
	u64 strangers;		/* packets of no run that is known, or not ours */
	u64 elapsed_ns;		/* from the first to the last, and a period */
	u32 workers;
	u32 unused;
	struct sequence worker[WORKERS_MAX];
	struct holes holes;
	struct histogram gap;
};

/* The sender's end of the talk. */
struct control {
	int fd;			/* -1: no receiver */
	size_t owed;		/* bytes of an answer that have not come */
	struct so_far so_far;
};

struct fates {
	u64 lost;
	u64 late;
	u64 duplicates;
};

/* -1 when nothing answers there: errno says why. */
int control_connect(const struct address *to);

/* @fd, or -1 when that is no udprate (EPROTO); exits when it turns us away. */
int control_greet(int fd, u64 run, u64 period_ns);

/* Whether the receiver has said by then what came until now: control->so_far. */
bool control_ask(struct control *control, u64 deadline_ns);

/* False when the receiver has gone. */
bool control_finish(struct control *control, const struct ask *ask, struct received *r);

#endif /* UDPRATE_CONTROL_H */
