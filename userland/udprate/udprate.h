/* SPDX-License-Identifier: GPL-2.0 */
/* udprate.h - the parts of the paced UDP sender. */
#ifndef UDPRATE_H
#define UDPRATE_H

#include <netinet/in.h>

#include "crew.h"
#include "histogram.h"
#include "policy.h"
#include "schedule.h"
#include "sequence.h"
#include "types.h"

#define MAGIC		0x75647072U
#define RUN_MAX_S	86400U

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
	enum method method;
	enum txtime txtime;
	struct sockaddr_in to;	/* of the receiver: where it is bound */
	struct policy policy;
	u32 hogs;
	u32 hog_tickets;
	u64 wait_ns;		/* the receiver: for the first packet */
	const char *samples;
	bool json;
};

/* What a worker leaves behind, in memory shared with the launcher. */
struct sent {
	u64 packets;
	u64 bytes;
	u64 skipped;		/* packets that were not sent before the end */
	u64 refused;		/* sends to a port without a receiver */
	u64 failed;		/* other sends that failed */
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
	u64 clock_offset_ns;	/* of the packets' own times from CLOCK_MONOTONIC */
	u64 refused;
	u64 failed;
	u8 *buffer;
};

/* Exits with EXIT_UNSUPPORTED where the kernel lacks what was asked for. */
void transmit_open(struct transmitter *t, const struct options *o,
		   const struct sockaddr_in *to);
/* @begin_ns: the batch's own time for its first packet, CLOCK_MONOTONIC. */
void transmit(struct transmitter *t, const struct batch *b, const struct header *first,
	      u64 begin_ns);
void transmit_close(struct transmitter *t);
u64 cpu_of_process_ns(void);
int udp_socket(void);

/* send.c APIs: the workers */
struct run {
	const struct options *o;
	u64 start_ns;
	size_t stride;		/* of the results */
	unsigned int seconds;	/* that are counted */
	u8 *results;		/* shared, one struct sent for each worker */
};

struct sent *sent_of(const struct run *run, u32 worker);
/* Send; exits with EXIT_FAILED when a worker did. */
void send_all(struct run *run);

/* trial.c APIs: what this machine can do */
/* Mbit/s that all workers together can send, to sockets that are not read. */
double trial(const struct options *o);

/* receive.c APIs */
struct received {
	u64 packets;
	u64 bytes;
	u64 strangers;		/* packets of another run, or not ours */
	u64 elapsed_ns;		/* from the first to the last */
	struct sequence worker[WORKERS_MAX];
	u32 workers;
	struct histogram gap;
};

/* Bind; the port is filled in where it was 0. */
int receive_open(struct sockaddr_in *at);
/*
 * Until @o->time_ns after the first packet and a little more, or nothing has come
 * for long enough. False when nothing has come at all.
 */
bool receive_all(int fd, const struct options *o, struct received *r);
/* The same in a child process; it fills in @r until it ends. */
pid_t receive_start(const struct options *o, struct received *r, struct sockaddr_in *at);

/* report.c APIs */
struct summary {
	double requested_mbps;
	double achieved_mbps;
	double error_pct;
	double sd_mbps;		/* of the whole seconds */
	double cpu_pct;		/* of one CPU, all workers */
	double elapsed_s;	/* until the end, or the last packet if that was later */
	u64 packets, bytes, skipped, refused, failed;
	struct histogram gap, late;
};

void summarize(const struct run *run, struct summary *s);
void report_sent(const struct options *o, const struct summary *s, const struct received *r);
void report_received(const struct options *o, const struct received *r);
void write_samples(const struct run *run, const char *path);
u64 lost_of(const struct received *r);

/* options.c APIs */
void parse_options(int argc, char **argv, struct options *o);

#endif /* UDPRATE_H */
