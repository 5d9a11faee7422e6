// SPDX-License-Identifier: GPL-2.0-only
/*
 * A driver for the Intel 82540EM (QEMU's e1000) that receives by interrupts alone, by
 * polling alone, or by NAPI: PCI functions and network devices.
 */

#include <linux/dma-mapping.h>
#include <linux/etherdevice.h>
#include <linux/if_vlan.h>
#include <linux/module.h>
#include <linux/rtnetlink.h>

#include "nll.h"

#define NLL_RING_DEFAULT	256

/* With a VLAN tag and the frame check sequence it must fit a buffer. */
#define NLL_MTU_MAX	(NLL_RX_BUFFER - ETH_HLEN - VLAN_HLEN - NLL_FCS)
#define NLL_TX_TIMEOUT	(5 * HZ)

static void nll_set_max_frame(struct nll_port *port, unsigned int mtu)
{
	WRITE_ONCE(port->max_frame, mtu + ETH_HLEN + VLAN_HLEN + NLL_FCS);
}

static int nll_open(struct net_device *netdev)
{
	return nll_port_up(netdev_priv(netdev));
}

static int nll_stop(struct net_device *netdev)
{
	struct nll_port *port = netdev_priv(netdev);

	/* It is down already if it did not wake up from a suspend. */
	if (port->up)
		nll_port_down(port);
	return 0;
}

static void nll_set_rx_mode(struct net_device *netdev)
{
	nll_hw_set_filter(netdev_priv(netdev));
}

static int nll_set_mac_address(struct net_device *netdev, void *addr)
{
	int err = eth_mac_addr(netdev, addr);

	if (err)
		return err;
	netif_addr_lock_bh(netdev);
	nll_hw_set_filter(netdev_priv(netdev));
	netif_addr_unlock_bh(netdev);
	return 0;
}

static int nll_change_mtu(struct net_device *netdev, int mtu)
{
	WRITE_ONCE(netdev->mtu, mtu);
	nll_set_max_frame(netdev_priv(netdev), mtu);
	return 0;
}

static int nll_set_features(struct net_device *netdev, netdev_features_t features)
{
	struct nll_port *port = netdev_priv(netdev);

	WRITE_ONCE(port->rxcsum, features & NETIF_F_RXCSUM);
	nll_hw_set_rxcsum(port, features & NETIF_F_RXCSUM);
	return 0;
}

static void nll_get_stats64(struct net_device *netdev, struct rtnl_link_stats64 *stats)
{
	struct nll_port *port = netdev_priv(netdev);
	const struct nll_counters *counters = &port->counters;

	nll_hw_read_stats(port);
	dev_get_tstats64(netdev, stats);
	stats->rx_crc_errors = READ_ONCE(counters->bad_crc);
	stats->rx_frame_errors = READ_ONCE(counters->bad_frame);
	stats->rx_length_errors = READ_ONCE(counters->too_long) + READ_ONCE(counters->too_short);
	stats->rx_errors = stats->rx_crc_errors + stats->rx_frame_errors +
			   stats->rx_length_errors;
	stats->rx_missed_errors = READ_ONCE(port->hw.mpc);
	stats->rx_dropped = READ_ONCE(counters->no_buffer);
	stats->tx_dropped = READ_ONCE(netdev->stats.tx_dropped);
}

static void nll_tx_timeout(struct net_device *netdev, unsigned int queue)
{
	struct nll_port *port = netdev_priv(netdev);

	port->counters.tx_timeouts++;
	schedule_work(&port->reset);
}

static const struct net_device_ops nll_netdev_ops = {
	.ndo_open = nll_open,
	.ndo_stop = nll_stop,
	.ndo_start_xmit = nll_xmit,
	.ndo_set_rx_mode = nll_set_rx_mode,
	.ndo_set_mac_address = nll_set_mac_address,
	.ndo_change_mtu = nll_change_mtu,
	.ndo_set_features = nll_set_features,
	.ndo_get_stats64 = nll_get_stats64,
	.ndo_tx_timeout = nll_tx_timeout,
	.ndo_validate_addr = eth_validate_addr,
};

static void nll_setup(struct nll_port *port)
{
	struct net_device *netdev = port->netdev;

	netdev->netdev_ops = &nll_netdev_ops;
	netdev->ethtool_ops = &nll_ethtool_ops;
	netdev->sysfs_groups[0] = &nll_sysfs_group;
	netdev->pcpu_stat_type = NETDEV_PCPU_STAT_TSTATS;
	netdev->watchdog_timeo = NLL_TX_TIMEOUT;
	netdev->min_mtu = ETH_MIN_MTU;
	netdev->max_mtu = NLL_MTU_MAX;
	netdev->priv_flags |= IFF_UNICAST_FLT;
	netdev->hw_features = NETIF_F_RXCSUM;
	netdev->features = NETIF_F_RXCSUM | NETIF_F_HIGHDMA;
	port->rxcsum = true;
	port->rx_count = NLL_RING_DEFAULT;
	port->tx_count = NLL_RING_DEFAULT;
	nll_set_max_frame(port, netdev->mtu);
	nll_port_init(port);
}

static int nll_begin(struct nll_port *port)
{
	u8 addr[ETH_ALEN];
	int err;

	err = nll_hw_reset(port);
	if (err)
		return err;
	err = nll_hw_read_mac(port, addr);
	if (err)
		return err;
	eth_hw_addr_set(port->netdev, addr);
	nll_hw_set_rxcsum(port, true);
	nll_setup(port);
	netif_carrier_off(port->netdev);
	return register_netdev(port->netdev);
}

static int nll_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct net_device *netdev;
	struct nll_port *port;
	int err;

	if (pdev->vendor != NLL_VENDOR_INTEL || pdev->device != NLL_DEVICE_82540EM) {
		pci_err(pdev, "device %04x:%04x: allowed is %04x:%04x\n", pdev->vendor,
			pdev->device, NLL_VENDOR_INTEL, NLL_DEVICE_82540EM);
		return -ENODEV;
	}
	err = pcim_enable_device(pdev);
	if (err)
		return err;
	err = pcim_iomap_regions(pdev, BIT(0), NLL_NAME);
	if (err)
		return err;
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(64));
	if (err)
		return err;

	netdev = devm_alloc_etherdev(&pdev->dev, sizeof(*port));
	if (!netdev)
		return -ENOMEM;
	SET_NETDEV_DEV(netdev, &pdev->dev);
	port = netdev_priv(netdev);
	port->netdev = netdev;
	port->dev = &pdev->dev;
	port->irq = pdev->irq;
	port->regs = pcim_iomap_table(pdev)[0];
	pci_set_drvdata(pdev, port);
	pci_set_master(pdev);
	err = nll_begin(port);
	if (err) {
		pci_clear_master(pdev);
		return dev_err_probe(&pdev->dev, err, "cannot use the card\n");
	}
	return 0;
}

static void nll_remove(struct pci_dev *pdev)
{
	struct nll_port *port = pci_get_drvdata(pdev);

	unregister_netdev(port->netdev);
	cancel_work_sync(&port->reset);
	pci_clear_master(pdev);
}

/* The next kernel must not find a card that writes into its memory. */
static void nll_shutdown(struct pci_dev *pdev)
{
	struct nll_port *port = pci_get_drvdata(pdev);

	rtnl_lock();
	dev_close(port->netdev);
	rtnl_unlock();
	pci_clear_master(pdev);
}

static int nll_suspend(struct device *dev)
{
	struct nll_port *port = dev_get_drvdata(dev);

	rtnl_lock();
	netif_device_detach(port->netdev);
	if (port->up)
		nll_port_down(port);
	rtnl_unlock();
	return 0;
}

static int nll_resume(struct device *dev)
{
	struct nll_port *port = dev_get_drvdata(dev);
	int err;

	rtnl_lock();
	err = nll_hw_reset(port);
	if (!err) {
		nll_hw_set_rxcsum(port, port->rxcsum);
		if (netif_running(port->netdev))
			err = nll_port_up(port);
	}
	if (!err)
		netif_device_attach(port->netdev);
	rtnl_unlock();
	return err;
}

static DEFINE_SIMPLE_DEV_PM_OPS(nll_pm_ops, nll_suspend, nll_resume);

/* The in-tree driver has the card by default: this one takes it by driver_override. */
static const struct pci_device_id nll_ids[] = {
	{ }
};

static struct pci_driver nll_driver = {
	.name = NLL_NAME,
	.id_table = nll_ids,
	.probe = nll_probe,
	.remove = nll_remove,
	.shutdown = nll_shutdown,
	.driver.pm = pm_sleep_ptr(&nll_pm_ops),
};
module_pci_driver(nll_driver);

MODULE_DESCRIPTION("Intel 82540EM by interrupts, polling or NAPI");
MODULE_LICENSE("GPL");
