/* SPDX-License-Identifier: GPL-2.0 */
/*
 * run.h - the private map of livelock-run: receivers under a rate of frames, one
 * measurement for each rate.
 */
#ifndef LIVELOCK_RUN_H
#define LIVELOCK_RUN_H

#include <string.h>

#include "apps.h"
#include "nic.h"
#include "rate.h"
#include "source.h"

#define RUN_RATES	128
#define RUN_SETS	16
#define RUN_STATS	96
#define RUN_REQUIREMENTS	16
#define RUN_FIRST_PORT	9001

struct run_options {
	const char *label;
	const char *driver;		/* of the receivers */
	const char *set[RUN_SETS];	/* ATTRIBUTE=VALUE of every interface */
	unsigned int sets;
	unsigned int ports;
	u32 ring;			/* receive descriptors, 0: the driver's choice */
	u64 rcvbuf;
	unsigned int busy_us;		/* of each socket, see apps.h */
	int nice;			/* of the threads of threaded NAPI */
	struct nll_rate_params rate;	/* without packets and per_ns */
	u64 pps[RUN_RATES];		/* all ports together */
	unsigned int rates;
	u32 duration_ms;		/* at least; see run_duration_ms() */
	u32 warmup_ms;
	u64 frames;			/* that a measurement without its warm-up has at least */
	u32 lag_ms;
	u32 soon_ms;	/* from setting a run up to its start */
	u32 drift_ppm;
	u32 tick_us;
	u32 size;
	const char *malformed;
	u32 every;
	bool no_gro;
	bool no_hog;
	bool hog_idle;
	bool never_idle;
	u64 least_pps;			/* goodput, 0 for any */
	bool stats;			/* print the driver's own counters */
};

struct run {
	const struct run_options *options;
	struct nic receiver[SOURCE_TARGETS];
	struct nic sender[SOURCE_TARGETS];
	double shot_ns;			/* a shot's cost outside its function */
};

/* What the kernel has counted, all ports together. */
struct kernel_counts {
	u64 stack_in;			/* frames that the driver handed on */
	u64 dropped;			/* by the driver: bad frames, and those without memory */
	u64 early;			/* by the governor: their sockets were full */
	u64 backlog;			/* dropped before the protocols */
	u64 other;			/* dropped by IP and UDP as not right */
	u64 switches;			/* from interrupts to rounds, or back */
	struct nic_stat stat[RUN_STATS];	/* the driver's own */
	unsigned int stats;
};

struct measurement {
	u64 pps;
	u32 duration_ms;
	struct apps_window window;
	struct source_results source;
	struct kernel_counts before;
	struct kernel_counts after;
	u64 received;
	u64 bad;			/* malformed ones that were received */
	u64 strange;			/* received, and not the source's */
	u64 socket;			/* dropped at a full socket */
};

/* run_options.c APIs: */

const struct run_options *run_parse(int argc, char **argv);

/* Frames that are not for the applications are for sockets without a reader. */
static inline bool run_strays(const struct run_options *o)
{
	return o->every && !strcmp(o->malformed, "stray");
}

/* How long frames are sent at a rate. */
u32 run_duration_ms(const struct run_options *o, u64 pps);

/* run_setup.c APIs: */

/* Drivers, addresses, links; exits with a line when something is not there. */
void run_setup(struct run *run);

/* Send to all receivers until each has got a frame, so that the links are open. */
void run_prime(struct run *run);

/* What the source's timer costs without its function. */
void run_calibrate(struct run *run);

/* Names and values for the source; exits with EXIT_USAGE when it refuses them. */
void run_configure(const struct run_options *o, u64 pps, u64 start_ns, u32 duration_ms,
		   u32 warmup_ms, u32 lag_ms);

/* In which a card sends as many frames as RATE says; a second, and more with a drift. */
u64 run_span_ns(const struct run_options *o);

/* Where the applications listen. */
u32 run_address(unsigned int port);

/* Start the source; false where its start has passed. Exits with EXIT_FAILED else. */
bool run_start_source(u64 start_ns);

/* How soon to start where SOON_MS was too soon; exits with EXIT_FAILED at last. */
u32 run_later(u32 soon_ms);

/* Wait for the source's end; exits with EXIT_FAILED when it does not come. */
void run_await_source(u64 timeout_ns);

/* run_counts.c APIs: */

struct kernel_counts run_counts(const struct run *run);

/* run_report.c APIs: */

/* Frames that were sent and are neither received nor lost where something counts them. */
s64 run_missing(const struct measurement *m);

/* Frames that came in and are not, or not yet, in the driver's rx_packets. */
s64 run_uncounted(const struct measurement *m);

/*
 * One JSON object; false if a frame is not in exactly one place, one is there that
 * should not be, or a figure is not what it has to be.
 */
bool run_report(const struct run *run, const struct apps *apps, const struct measurement *m);

/* run_require.c APIs: */

/*
 * Complain unless a bound was kept; returns whether that is good enough. Where bounds are
 * not judged, see ktap.h, it is whatever the figure.
 */
bool run_bound(bool good, const char *format, ...) __printf(2, 3);

/* A figure that each measurement has to have, a bound; exits with EXIT_USAGE for another text. */
void run_require(const char *text);

/* A member of the object, held against what is required of it. */
void run_real(const char *name, double value);
void run_count(const char *name, s64 value);

/* All of the object was as required; exits with EXIT_USAGE where there is no such figure. */
bool run_required(void);

#endif /* LIVELOCK_RUN_H */
