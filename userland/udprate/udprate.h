/* SPDX-License-Identifier: GPL-2.0 */
/* udprate.h - the parts of the paced UDP sender. */
#ifndef UDPRATE_H
#define UDPRATE_H

#include <stdio.h>

#include "address.h"
#include "control.h"
#include "crew.h"
#include "histogram.h"
#include "interrupt.h"
#include "policy.h"
#include "schedule.h"
#include "session.h"
#include "types.h"
#include "wall.h"

#define RUN_MAX_S	86400U
/* A rate that is missed by more, per cent, is refused. */
#define MISS_PCT	1.0
/* With --strict. */
#define STRICT_PCT	0.1

/* What every packet starts with, in the byte order of the sender. */
struct header {
	u32 magic;
	u32 worker;
	u64 run;		/* tells one run from another */
	u64 number;		/* of the worker, from 0 */
};

enum method { METHOD_AUTO, METHOD_GSO, METHOD_MMSG, METHOD_SEND, METHODS };
enum txtime { TXTIME_NONE, TXTIME_FQ, TXTIME_ETF };

struct options {
	struct plan plan;	/* worker is not used */
	u64 run;
	u64 time_ns;
	u64 spin_ns;
	bool spin_set;
	bool naive;		/* sleep the computed gap after each packet */
	bool best_effort;
	bool strict;
	bool receive;
	bool loop;		/* send to a receiver of our own */
	bool blind;		/* do not ask the receiver what arrived */
	enum method method;
	enum txtime txtime;
	u16 port;
	struct address to;	/* of the receiver: where it is bound */
	struct policy policy;
	u32 hogs;
	u32 hog_tickets;
	u64 wait_ns;		/* the receiver: for the first packet */
	u64 interval_ns;	/* of reports on the way, 0: none */
	const char *samples_path;
	FILE *samples;		/* is open before anything is sent */
	bool json;
	bool buckets;		/* all samples are in the JSON object */
};

/* What a worker leaves behind, in memory shared with the launcher. */
struct sent {
	u64 packets;
	u64 bytes;
	u64 skipped;		/* packets that were not sent before the end */
	u64 numbered;		/* packets, with those that did not get out */
	u64 refused;		/* sends that the other side has refused */
	u64 dropped;		/* packets that a queue of this machine did not take */
	u64 failed;		/* other packets that could not be sent */
	u64 catch_up;		/* packets of the longest row of batches late by a period */
	u64 cpu_ns;
	u64 end_ns;		/* when all was sent, counted from the start */
	struct histogram gap;	/* from packet to packet */
	struct histogram late;	/* after the deadline */
	u64 second[];		/* bytes in each */
};

/* transmit.c APIs: one worker's socket and how its packets get out */
struct transmitter {
	int fd;
	enum method method;
	enum txtime txtime;
	struct wall tai;	/* of the packets' own times, with etf */
	u64 refused;
	u64 dropped;
	u64 failed;
	u8 *buffer;
};

/* Exits with EXIT_UNSUPPORTED where the kernel lacks what was asked for. */
void transmit_open(struct transmitter *t, const struct options *o,
		   const struct address *to);
/*
 * @begin_ns: the batch's own time for its first packet, CLOCK_MONOTONIC. Returns how many
 * packets got out.
 */
u32 transmit(struct transmitter *t, const struct batch *b, const struct header *first,
	     u64 begin_ns);
void transmit_close(struct transmitter *t);
u64 cpu_of_process_ns(void);

/* send.c APIs: the workers */
struct run {
	const struct options *o;
	struct control *control;
	u64 start_ns;
	u64 time_ns;		/* how long it was: less when interrupted */
	size_t stride;		/* of the results */
	unsigned int seconds;	/* that are counted */
	u8 *results;		/* shared, one struct sent for each worker */
};

struct sent *sent_of(const struct run *run, u32 worker);
/* Send; exits with EXIT_FAILED when a worker did. */
void send_all(struct run *run);
void run_free(struct run *run);
void run_end(const struct run *run, struct ask *ask);

/* trial.c APIs: what this machine can do */
/* Choose the number of workers if none is given; exits when the rate cannot be held. */
void trial(struct options *o);

/* receive.c APIs */
/* Bind; the port is filled in where it was 0. */
void receive_open(struct receiver *rx, struct address *at);
/*
 * Until -t after the first packet, or nothing has come for long enough; for ever when
 * there is no -t. Each run is reported when it ends.
 */
void receive_all(struct receiver *rx);
/*
 * The same for one run in a child process, and a talk with it through @fd: what is on
 * the loopback, a queue perhaps, does not meet it.
 */
pid_t receive_start(const struct options *o, struct address *at, int *fd);

/* report.c APIs */
struct summary {
	double requested_mbps;
	double achieved_mbps;
	double error_pct;
	double sd_mbps;		/* of the whole seconds */
	double cpu_pct;		/* of one CPU, all workers */
	double elapsed_s;	/* until the end, or the last packet if that was later */
	u64 packets, bytes, numbered, skipped, refused, dropped, failed, catch_up;
	struct histogram gap, late;
};

struct outcome {
	struct summary sent;
	bool asked;		/* a receiver of udprate answered */
	bool known;		/* and has said what arrived */
	struct received received;
};

void summarize(const struct run *run, struct summary *s);
void report_sent(const struct options *o, const struct outcome *out);
/* The receiver: where it is, a run that begins, and what came of one. */
void report_listening(const struct options *o);
void report_run(const struct options *o, const struct session *s);
void report_received(const struct options *o, const struct session *s);
/* On the way, what a time carried; and what came of it, if the receiver has said so. */
struct interval {
	u64 from_ns, until_ns;
	u64 bytes;
	bool known;
	double arrived_mbps;
	u64 lost;		/* until now */
};

void report_interval(const struct run *run, const struct interval *i);
void report_on_the_way(const struct options *o, const struct session *s, u64 now_ns);
void write_samples(const struct run *run);
/* Those of all workers. */
void fates_add(struct fates *f, const struct received *r);
u64 lost_of(const struct received *r);
double arrived_mbps(const struct received *r);

/* measure.c APIs */
void measure(struct run *run, struct outcome *out);

/* options.c APIs */
extern const char *const methods[], *const qdiscs[];	/* NULL ends them */
void parse_options(int argc, char **argv, struct options *o);

#endif /* UDPRATE_H */
