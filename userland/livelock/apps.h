/* SPDX-License-Identifier: GPL-2.0 */
/*
 * apps.h - the receiving applications, one process a port, and a process that
 * wants the CPU for itself.
 */
#ifndef LIVELOCK_APPS_H
#define LIVELOCK_APPS_H

#include "crew.h"

#define APPS_MAX	8

/* What counts of a run: frames that are received in here. CLOCK_MONOTONIC. */
struct apps_window {
	u64 begin_ns;
	u64 end_ns;
};

/* What an application has seen; in memory that it shares with its parent. */
struct app {
	u64 received;		/* stamped frames, as they should be */
	u64 windowed;		/* of these, in the window */
	u64 bad;		/* malformed ones: not received */
	u64 strange;		/* without a stamp, or another port's */
	u64 disorder;		/* a number not above the one before */
	u64 next_seq;
	u64 latencies;		/* how many there are */
	u32 *latency_ns;	/* of the frames in the window */
} __aligned(64);

/* The CPU time that processes were charged by a moment. */
struct app_charge {
	u64 now_ns;
	u64 hog_ns;
	u64 apps_ns;
};

/* What the CPU-bound process has done, and seen at both ends of the window. */
struct app_hog {
	u64 rounds;		/* in the window */
	u64 least_ns;		/* the shortest round, without a pause */
	struct app_charge begin;
	struct app_charge end;
} __aligned(64);

struct apps {
	struct crew crew;
	struct apps_window window;
	struct apps_page *page;	/* shared */
	size_t size;
	unsigned int ports;
	bool hog;
	bool hog_idle;
	int fd[APPS_MAX];	/* the sockets */
	bool strays;
	int stray[APPS_MAX];	/* the sockets without a reader */
	u64 left;		/* frames that were in them at the end */
	u64 room;		/* for latencies of each */
	u32 every;
};

struct apps_options {
	unsigned int ports;
	u16 first_port;		/* the next one is the second application's ... */
	u64 rcvbuf;		/* of each socket, 0: the kernel's choice */
	unsigned int busy_us;	/* one that is empty is polled for so long at first */
	u32 every;		/* of this many frames the last one is malformed; 0: none is */
	bool strays;		/* or for a socket without a reader, on a port that is */
#define APPS_STRAY_PORTS	1000U	/* so much higher */
	u64 frames_max;		/* that one can receive in the window */
	bool hog;
	bool hog_idle;		/* it gets the time that no other task wants */
};

/*
 * Open the sockets and start the processes, which wait for apps_release(). Exits
 * with EXIT_FAILED when that is not possible.
 */
void apps_start(struct apps *apps, const struct apps_options *options);

/* Let them go; before the window begins. */
void apps_release(struct apps *apps, struct apps_window window);

/* Stop them and free everything. */
void apps_stop(struct apps *apps);

const struct app *apps_of(const struct apps *apps, unsigned int port);
const struct app_hog *apps_hog(const struct apps *apps);

/*
 * All frames so far: as they should be, malformed, not the source's; and of
 * the first two, those with a number not above the one before.
 */
u64 apps_received(const struct apps *apps);
u64 apps_bad(const struct apps *apps);
u64 apps_strange(const struct apps *apps);
u64 apps_disorder(const struct apps *apps);

/*
 * Frames that the kernel dropped because the socket's buffer was full, and those that
 * were not read yet: all of them are read now.
 */
u64 apps_socket_losses(struct apps *apps);

/* The CPU-bound process's share of the window, 0..1. */
double apps_hog_share(const struct apps *apps);

/*
 * That of the applications. The kernel charges processes the interrupts that they
 * suffer; these hit applications as they hit the CPU-bound process, of which it is
 * known what it really got.
 */
double apps_share(const struct apps *apps);

/*
 * The latencies of all applications in the window in us, sorted; for the caller
 * to free. Exits with EXIT_FAILED without memory.
 */
double *apps_latencies(const struct apps *apps, size_t *count);

#endif /* LIVELOCK_APPS_H */
