/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a NAPI instance and a network device for the receive governor. */
#ifndef _LINUX_RXGOV_GOVERNED_H
#define _LINUX_RXGOV_GOVERNED_H

#include <linux/types.h>

/**
 * enum rxgov_mode - how a NAPI instance receives
 * @RXGOV_OFF: as without the governor
 * @RXGOV_POLL: in rounds only
 * @RXGOV_AUTO: by interrupts, and in rounds for as long as that is better
 * @RXGOV_MODES: how many there are
 */
enum rxgov_mode {
	RXGOV_OFF,
	RXGOV_POLL,
	RXGOV_AUTO,
	RXGOV_MODES,
};

/**
 * enum rxgov_why - the reason for the next round
 * @RXGOV_WHY_NONE: no round, the interrupt is on
 * @RXGOV_WHY_ASKED: the mode is poll
 * @RXGOV_WHY_WANTED: another task waits for the CPU, and a round has several frames
 * @RXGOV_WHY_LIMIT: receiving has had its part of the CPU
 * @RXGOV_WHY_HOT: recently only hot sockets got frames, and another task waits for the
 *	CPU
 * @RXGOV_WHYS: how many there are
 */
enum rxgov_why {
	RXGOV_WHY_NONE,
	RXGOV_WHY_ASKED,
	RXGOV_WHY_WANTED,
	RXGOV_WHY_LIMIT,
	RXGOV_WHY_HOT,
	RXGOV_WHYS,
};

/**
 * struct rxgov_params - the settings of a device
 * @mode: enum rxgov_mode, of instances that are added
 * @on: the device counts for the governor's key: it, or an instance, has a mode but
 *	off
 * @limit: CPU share of receiving while other tasks want the CPU [%], 1 to 95
 * @high: a socket is hot above this fill level [%], 26 to 100, if one has lost a frame
 *	within a second
 * @low: and no longer hot below this one [%], 1 to 25
 * @quota: frames before the governor decides again, 1 to 4096, but after 500 us
 * @round_us: time between two rounds [us], 50 to 10000
 * @hold_us: rounds go on for this long after the last reason [us], 20000 to 1000000
 *
 * Written under RTNL. Each is read without a lock, and may be of another moment than the
 * others.
 */
struct rxgov_params {
	unsigned int mode;
	bool on;
	unsigned int limit;
	unsigned int high;
	unsigned int low;
	unsigned int quota;
	unsigned int round_us;
	unsigned int hold_us;
};

/**
 * struct rxgov_napi - the state of a NAPI instance
 * @mode: enum rxgov_mode, as set; written under RTNL
 * @governing: the same, of the last poll
 * @began: up to when its poll is charged [ns]
 * @ended: when the last round ended [ns]; 0: the means begin anew
 * @gap: mean time between two frames [ns]
 * @reason_at: when there was a reason for rounds last [ns]
 * @other_at: when a frame came for another socket while one was hot [ns]
 * @away: how long its next pause for hot sockets is [ns]
 * @look: the time between two tests of whether one is cold [ns]
 * @not_before: it pauses up to this time, if the CPU is wanted [ns]
 * @until: and up to this one, unless a hot socket becomes cold [ns]
 * @wanted: how many of the last 256 polls found the CPU wanted
 * @work: frames of this round
 * @handed: frames of the poll that ends
 * @hot: frames of this poll for hot sockets, and refused ones
 * @other: frames of this poll for others, while a socket was hot
 * @hot_run: how many came in a row for hot sockets
 * @weight: the most frames of the next poll; 0: as many as without the governor
 * @why: of the last decision
 * @switches: from interrupts to rounds and back
 * @dropped: frames that were dropped before IP
 * @round_began: when the first poll of this round began [ns]
 * @full_at: when a socket had no room for a frame last [jiffies]; 0: never
 * @rounds: by reason
 * @limit: of a CPU's backlog only: the CPU share of the governed device of the last frame
 *	of one that was queued [%]; 0: none is queued; written under the backlog's lock
 *
 * The owner of NAPI_STATE_SCHED may write all but the mode. The timer and readers of
 * counters only read, and may see an earlier value.
 */
struct rxgov_napi {
	unsigned int mode;
	unsigned int governing;
	u64 began;
	u64 ended;
	u64 gap;
	u64 reason_at;
	u64 other_at;
	u64 away;
	u64 look;
	u64 not_before;
	u64 until;
	unsigned int wanted;
	unsigned int work;
	int handed;
	unsigned int hot;
	unsigned int other;
	unsigned int hot_run;
	int weight;
	enum rxgov_why why;
	u64 switches;
	u64 dropped;
	u64 round_began;
	unsigned long full_at;
	u64 rounds[RXGOV_WHYS];
	unsigned int limit;
};

#endif /* _LINUX_RXGOV_GOVERNED_H */
