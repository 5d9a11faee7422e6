/* SPDX-License-Identifier: GPL-2.0 */
/* session.h - the receiver's senders: a run each. */
#ifndef UDPRATE_SESSION_H
#define UDPRATE_SESSION_H

#include <time.h>

#include "control.h"
#include "types.h"
#include "wall.h"

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

#endif /* UDPRATE_SESSION_H */
