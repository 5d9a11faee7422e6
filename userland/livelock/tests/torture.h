/* SPDX-License-Identifier: GPL-2.0 */
/* torture.h - the private map of livelock-torture. */
#ifndef LIVELOCK_TORTURE_H
#define LIVELOCK_TORTURE_H

#include "apps.h"
#include "nic.h"
#include "random.h"
#include "transmit.h"

struct torture {
	u64 seconds;
	u64 pps;		/* 0: OVERLOAD times what the machine takes */
	u64 tick_us;
	u64 within_ns;
	u64 changes;		/* at least so many, */
	u64 switches;		/* and so many of the governor's */
	u64 seldom;
	u64 messages;		/* so many left by netpoll */
	u64 changed;		/* so many were made */
	u64 switched;		/* by drivers that were unloaded since */
	const char *driver;
	bool ours;		/* it has modes of its own */
	bool all_modes;
	bool no_pages;
	bool pulses;
	struct random random;
	unsigned int ports;
	unsigned int cpus;
	struct nic receiver[APPS_MAX];
	struct nic sender[APPS_MAX];
	struct apps apps;
	struct transmit transmit;
};

/*
 * A kind of change: 0 or -errno; @anew: the card is begun anew by it, by ours or by all
 * drivers; whether it sends, which only ours can stand; the CPUs that it takes, if not one;
 * how often it was made, after it frames came too late and not at all, and the longest
 * silence.
 */
struct change {
	const char *name;
	int (*make)(struct torture *t, struct nic *nic);
	enum { NEVER, BY_OTHERS, BY_ALL } anew;
	bool sends;
	unsigned int cpus;
	unsigned int made;
	unsigned int late;
	unsigned int silent;
	int error;
	u64 slowest_ns;
};

/* Every kind of change. */
extern struct change torture_changes[];
extern const unsigned int torture_kinds;

/* Whether it can be made of this driver, on this machine. */
bool torture_can(const struct torture *t, const struct change *change);

/* Of a port, host byte order. */
u32 torture_address(unsigned int port);

/* The governor is on: a driver that was loaded again has its defaults, by which CPUs livelock. */
int torture_begin_mode(struct nic *nic);

/* How often the governor has switched, all ports together. */
u64 torture_switched(const struct torture *t);

int change_down_up(struct torture *t, struct nic *nic);
int change_mode(struct torture *t, struct nic *nic);
int change_netpoll(struct torture *t, struct nic *nic);

/* Count the polls of netpoll from now on; how many there were, and may have been. */
void torture_netpoll_begin(void);
u64 torture_netpoll_end(const struct torture *t, u64 *most);

#endif /* LIVELOCK_TORTURE_H */
