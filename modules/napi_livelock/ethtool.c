// SPDX-License-Identifier: GPL-2.0-only
/* ethtool -i -S -g -G -c -C, and the link. */

#include <linux/bitfield.h>
#include <linux/ethtool.h>
#include <linux/linkmode.h>
#include <linux/rtnetlink.h>
#include <linux/stddef.h>

#include "nll.h"

/* A counter of ethtool -S, and its field in struct nll_port. */
struct nll_stat {
	char name[ETH_GSTRING_LEN];
	size_t offset;
};

#define NLL_COUNTER(name)	{ #name, offsetof(struct nll_port, counters.name) }
#define NLL_HW_COUNTER(name)	{ "hw_" #name, offsetof(struct nll_port, hw.name) }

static const struct nll_stat nll_stats[] = {
	NLL_COUNTER(interrupts),
	NLL_COUNTER(polls),
	NLL_COUNTER(backlog_drops),
	NLL_COUNTER(no_buffer),
	NLL_COUNTER(bad_crc),
	NLL_COUNTER(bad_frame),
	NLL_COUNTER(too_long),
	NLL_COUNTER(too_short),
	NLL_COUNTER(bad_checksum),
	NLL_COUNTER(tx_busy),
	NLL_COUNTER(tx_timeouts),
	NLL_HW_COUNTER(crcerrs),
	NLL_HW_COUNTER(mpc),
	NLL_HW_COUNTER(rnbc),
	NLL_HW_COUNTER(gprc),
	NLL_HW_COUNTER(ruc),
	NLL_HW_COUNTER(roc),
};

/* Not a counter: the occupancy of the ring at this moment. */
#define NLL_GAUGE	"ring_waiting"

static int nll_get_sset_count(struct net_device *netdev, int set)
{
	return set == ETH_SS_STATS ? ARRAY_SIZE(nll_stats) + 1 : -EOPNOTSUPP;
}

static void nll_get_strings(struct net_device *netdev, u32 set, u8 *data)
{
	unsigned int i;

	if (set != ETH_SS_STATS)
		return;
	for (i = 0; i < ARRAY_SIZE(nll_stats); i++)
		ethtool_puts(&data, nll_stats[i].name);
	ethtool_puts(&data, NLL_GAUGE);
}

static void nll_get_stats(struct net_device *netdev, struct ethtool_stats *stats, u64 *data)
{
	struct nll_port *port = netdev_priv(netdev);
	unsigned int i;

	nll_hw_read_stats(port);
	for (i = 0; i < ARRAY_SIZE(nll_stats); i++)
		*data++ = READ_ONCE(*(u64 *)((void *)port + nll_stats[i].offset));
	*data++ = port->up ? nll_rx_waiting(port) : 0;
}

static void nll_get_drvinfo(struct net_device *netdev, struct ethtool_drvinfo *info)
{
	struct nll_port *port = netdev_priv(netdev);

	strscpy(info->driver, NLL_NAME, sizeof(info->driver));
	strscpy(info->bus_info, dev_name(port->dev), sizeof(info->bus_info));
}

static void nll_get_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			      struct kernel_ethtool_ringparam *kernel_ring,
			      struct netlink_ext_ack *extack)
{
	struct nll_port *port = netdev_priv(netdev);

	ring->rx_max_pending = NLL_RING_MAX;
	ring->tx_max_pending = NLL_RING_MAX;
	ring->rx_pending = port->rx_count;
	ring->tx_pending = port->tx_count;
}

static bool nll_ring_allowed(u32 count)
{
	return count >= NLL_RING_MIN && count <= NLL_RING_MAX && !(count % NLL_RING_STEP);
}

static int nll_set_ringparam(struct net_device *netdev, struct ethtool_ringparam *ring,
			     struct kernel_ethtool_ringparam *kernel_ring,
			     struct netlink_ext_ack *extack)
{
	struct nll_port *port = netdev_priv(netdev);
	int err;

	if (ring->rx_mini_pending || ring->rx_jumbo_pending ||
	    !nll_ring_allowed(ring->rx_pending) || !nll_ring_allowed(ring->tx_pending)) {
		NL_SET_ERR_MSG_MOD(extack, "Allowed are rings of 64 to 4096, a multiple of 8");
		return -EINVAL;
	}
	if (port->up) {
		err = nll_port_resize(port, ring->rx_pending, ring->tx_pending);
		if (err)
			return err;
	}
	port->rx_count = ring->rx_pending;
	port->tx_count = ring->tx_pending;
	return 0;
}

static int nll_get_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			    struct kernel_ethtool_coalesce *kernel_coalesce,
			    struct netlink_ext_ack *extack)
{
	struct nll_port *port = netdev_priv(netdev);

	coalesce->rx_coalesce_usecs = port->itr_us;
	return 0;
}

static int nll_set_coalesce(struct net_device *netdev, struct ethtool_coalesce *coalesce,
			    struct kernel_ethtool_coalesce *kernel_coalesce,
			    struct netlink_ext_ack *extack)
{
	struct nll_port *port = netdev_priv(netdev);

	if (coalesce->rx_coalesce_usecs > NLL_ITR_MAX_US) {
		NL_SET_ERR_MSG_MOD(extack, "Allowed are rx-usecs of 0 to 16776");
		return -EINVAL;
	}
	port->itr_us = coalesce->rx_coalesce_usecs;
	nll_hw_set_itr(port);
	return 0;
}

static int nll_get_link_ksettings(struct net_device *netdev, struct ethtool_link_ksettings *link)
{
	static const int speeds[] = { SPEED_10, SPEED_100, SPEED_1000, SPEED_1000 };
	struct nll_port *port = netdev_priv(netdev);
	u32 status = nll_read(port, NLL_STATUS);

	ethtool_link_ksettings_zero_link_mode(link, supported);
	ethtool_link_ksettings_add_link_mode(link, supported, TP);
	ethtool_link_ksettings_add_link_mode(link, supported, Autoneg);
	ethtool_link_ksettings_add_link_mode(link, supported, 1000baseT_Full);
	linkmode_copy(link->link_modes.advertising, link->link_modes.supported);
	link->base.port = PORT_TP;
	link->base.autoneg = AUTONEG_ENABLE;
	link->base.speed = SPEED_UNKNOWN;
	link->base.duplex = DUPLEX_UNKNOWN;
	if (status & NLL_STATUS_LU) {
		link->base.speed = speeds[FIELD_GET(NLL_STATUS_SPEED, status)];
		link->base.duplex = status & NLL_STATUS_FD ? DUPLEX_FULL : DUPLEX_HALF;
	}
	return 0;
}

const struct ethtool_ops nll_ethtool_ops = {
	.supported_coalesce_params = ETHTOOL_COALESCE_RX_USECS,
	.get_coalesce = nll_get_coalesce,
	.set_coalesce = nll_set_coalesce,
	.get_drvinfo = nll_get_drvinfo,
	.get_link = ethtool_op_get_link,
	.get_link_ksettings = nll_get_link_ksettings,
	.get_ringparam = nll_get_ringparam,
	.set_ringparam = nll_set_ringparam,
	.get_sset_count = nll_get_sset_count,
	.get_strings = nll_get_strings,
	.get_ethtool_stats = nll_get_stats,
};
