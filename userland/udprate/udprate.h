/* SPDX-License-Identifier: GPL-2.0 */
/* udprate.h - the parts of the paced UDP sender. */
#ifndef UDPRATE_H
#define UDPRATE_H

#include <netinet/in.h>
#include <stdio.h>
#include <time.h>

#include "crew.h"
#include "histogram.h"
#include "policy.h"
#include "schedule.h"
#include "types.h"

/* Where packets go to or come in: IPv4 or IPv6, and the port. */

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t length;
};

/* A host's name or number; exits with EXIT_USAGE when it has no address. */
void address_resolve(struct address *a, const char *host, u16 port);

/* Every address of this machine, of both families where it has IPv6. */
void address_everywhere(struct address *a, u16 port);

void address_loopback(struct address *a);

u16 address_port(const struct address *a);

/* Whether it stands for all addresses of this machine. */
bool address_is_any(const struct address *a);

/* As people write it, without the port; IPv4 in an IPv6 socket as IPv4. */
#define ADDRESS_TEXT	INET6_ADDRSTRLEN
const char *address_text(const struct address *a, char text[ADDRESS_TEXT]);

/* A socket of the address's family, SOCK_DGRAM or SOCK_STREAM; exits on error. */
int address_socket(const struct address *a, int type);

/* SIGINT and SIGTERM end a run early, and its results are kept. */

/* Processes that are forked after this share what they are told. */
void interrupt_watch(void);

bool interrupted(void);

/* Sleep until CLOCK_MONOTONIC shows @when_ns; false when it was interrupted before. */
bool sleep_or_interrupt(u64 when_ns);

/*
 * What a sender and its receiver say to each other, over TCP to the port that the packets
 * go to: hello, ready, then the packets, the end, and the report. Between, it may be
 * asked what came so far. All in the byte order of the machine; one with another order,
 * or another version, is turned away.
 */

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

/* The receiver's senders: a run each. */

#define SESSIONS_MAX	32U

struct header;
struct options;

enum session_state {
	SESSION_HELLO,		/* connected, has not said what it is */
	SESSION_RUNS,
	SESSION_ENDS,		/* has sent all; what is under way may still come */
};

struct session {
	int fd;			/* -1: a sender that does not talk to us */
	struct address peer;
	u32 number;		/* of the run, from 1 on */
	time_t began;		/* the wall clock, for people alone */
	enum session_state state;
	u64 run;
	u64 period_ns;
	u64 first_stamp_ns;	/* CLOCK_MONOTONIC: when packets came */
	u64 last_stamp_ns;
	u64 last_ns;		/* CLOCK_MONOTONIC: what was heard last */
	u64 end_ns;
	u64 told_ns;		/* reports on the way: the last, what had come then, ... */
	u64 told_bytes;
	u64 tell_ns;		/* ... and the next */
	size_t got;		/* bytes of what it says now */
	union {
		struct hello hello;
		struct ask ask;
	} said;
	struct received received;
	struct window window[WORKERS_MAX];
};

struct receiver {
	const struct options *o;
	bool one_run;		/* ends with the first run that ends */
	int packets;		/* UDP */
	int senders;		/* TCP, same port */
	struct wall wall;	/* that the kernel stamps packets by */
	u64 empty_ns;		/* when all that had come was taken */
	u64 now_ns;
	u64 first_ns;		/* the first packet of any run */
	u64 strangers;
	u32 began;		/* runs */
	u32 ended;
	struct fates fates;	/* in all runs that have ended */
	struct session *session[SESSIONS_MAX];
};

/* The session of a packet's run, or NULL. */
struct session *session_of(struct receiver *rx, u64 run, const struct address *from);

void session_see(struct session *s, const struct header *header, u32 bytes, u64 stamp_ns);

/* A sender that talks through @fd, or not at all: -1; NULL when there is no room. */
struct session *session_add(struct receiver *rx, int fd, const struct address *peer);

/* A new sender, and what one has said. */
void session_accept(struct receiver *rx);
void session_hear(struct receiver *rx, u32 i);

/* Report to those that have sent all, when nothing more is to come. */
void sessions_end(struct receiver *rx);

/* Report on the way what is due. */
void sessions_tell(struct receiver *rx);

/* Whether a sender is there that expects an answer. */
bool sessions_talking(const struct receiver *rx);

/* The end of the receiver: report what there is. */
void sessions_close(struct receiver *rx);

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
 * Until -t after the first packet, or nothing has come for long enough; without end when
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
struct options parse_options(int argc, char **argv);

#endif
