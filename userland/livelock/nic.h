/* SPDX-License-Identifier: GPL-2.0 */
/*
 * nic.h - the machine's 82540EM, 82574L and virtio cards: their drivers, interfaces
 * and counters.
 */
#ifndef LIVELOCK_NIC_H
#define LIVELOCK_NIC_H

#include <net/if.h>

#include "types.h"

#define NICS_MAX	16

/* What tests on the host have elsewhere. */
#ifndef NET_DIR
#define NET_DIR		"/sys/class/net"
#endif

struct nic {
	char pci[16];		/* 0000:00:10.0 */
	bool virtio;		/* the driver's device is below that of PCI */
	char name[IFNAMSIZ];	/* of the interface, "" without one */
};

/* The cards in the order of their addresses; how many, at most NICS_MAX. */
unsigned int nic_list(struct nic *nics);

/* False if @driver is for another kind of card; which of PCI's takes it shows later. */
bool nic_can_have(const struct nic *nic, const char *driver);

/* The kernel has @driver, built in or loaded. */
bool nic_knows(const char *driver);

/*
 * From now on the card takes @driver alone; a driver that it has, it keeps. Only
 * virtio_net takes a virtio card, anyway. 0 or -errno.
 */
int nic_reserve(const struct nic *nic, const char *driver);

/*
 * Give the card the driver that it is reserved for and learn its interface's
 * name. A virtio card gets it anew: one that was up once keeps its buffers, and so
 * takes frames while it is down. 0, -ENODEV when there is no such driver or it does
 * not want the card, or another -errno.
 */
int nic_bind(struct nic *nic, const char *driver);

/* Bring the interface up with address @ip/24 (host byte order), or down. 0 or -errno. */
int nic_up(const struct nic *nic, u32 ip);
int nic_down(const struct nic *nic);

/* Join the multicast group of a hardware address, or leave it. 0 or -errno. */
int nic_join(const struct nic *nic, const unsigned char *group, bool join);

/* The link is up. */
bool nic_carrier(const struct nic *nic);

/* Write /sys/class/net/NAME/@attribute. 0 or -errno. */
int nic_set(const struct nic *nic, const char *attribute, const char *value);

/* Set the number of receive descriptors. 0 or -errno. */
int nic_set_ring(const struct nic *nic, u32 descriptors);

/* Switch generic receive offload on or off. 0 or -errno. */
int nic_set_gro(const struct nic *nic, bool on);

/* What a driver counts itself, as ethtool -S shows it. */
struct nic_stat {
	char name[32];
	u64 value;
};

/* The driver's counters in @stats, at most @room; how many, or -errno. */
int nic_stats(const struct nic *nic, struct nic_stat *stats, unsigned int room);

/* A counter of /sys/class/net/NAME/statistics; 0 when it does not exist. */
u64 nic_counter(const struct nic *nic, const char *name);

/*
 * The sum of column @column (from 0) of /proc/net/softnet_stat, a line a CPU: 0 is how many
 * frames were processed, 1 how many a backlog had no room for. 0 or -errno.
 */
int softnet_sum(unsigned int column, u64 *sum);

#endif /* LIVELOCK_NIC_H */
