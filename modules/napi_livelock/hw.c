// SPDX-License-Identifier: GPL-2.0-only
/* Access to the registers of the 82540EM. */

#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/iopoll.h>

#include "nll.h"

#define NLL_EERD_TIMEOUT_US	10000
#define NLL_TX_TIMEOUT_US	10000
#define NLL_RESET_MS		10
/* A disabled receiver finishes what it is writing in this time. */
#define NLL_RX_STOP_MS		10

/*
 * Bring the card into a known state, receiving and sending nothing. Return: 0, or -ENODEV
 * without a card behind the registers.
 */
int nll_hw_reset(struct nll_port *port)
{
	u32 ctrl;

	if (nll_read(port, NLL_STATUS) == ~0U)
		return -ENODEV;
	nll_write(port, NLL_IMC, ~0U);
	nll_write(port, NLL_CTRL, nll_read(port, NLL_CTRL) | NLL_CTRL_RST);
	msleep(NLL_RESET_MS);

	nll_write(port, NLL_IMC, ~0U);
	nll_read(port, NLL_ICR);
	ctrl = nll_read(port, NLL_CTRL);
	ctrl &= ~(NLL_CTRL_RST | NLL_CTRL_FRCSPD | NLL_CTRL_FRCDPX | NLL_CTRL_VME);
	nll_write(port, NLL_CTRL, ctrl | NLL_CTRL_ASDE | NLL_CTRL_SLU);
	nll_write(port, NLL_RCTL, 0);
	nll_write(port, NLL_TCTL, 0);
	nll_write(port, NLL_TIPG, NLL_TIPG_COPPER);
	return 0;
}

static int nll_eeprom_word(struct nll_port *port, unsigned int at, u16 *word)
{
	u32 value;
	int err;

	nll_write(port, NLL_EERD, FIELD_PREP(NLL_EERD_ADDR, at) | NLL_EERD_START);
	err = readl_poll_timeout(port->regs + NLL_EERD, value, value & NLL_EERD_DONE, 50,
				 NLL_EERD_TIMEOUT_US);
	*word = FIELD_GET(NLL_EERD_DATA, value);
	return err;
}

/* Read the address in the card's EEPROM. Return: 0, or -errno if it is invalid. */
int nll_hw_read_mac(struct nll_port *port, u8 *addr)
{
	unsigned int i;
	u16 word;
	int err;

	for (i = 0; i < ETH_ALEN / 2; i++) {
		err = nll_eeprom_word(port, i, &word);
		if (err)
			return err;
		addr[2 * i] = word;
		addr[2 * i + 1] = word >> 8;
	}
	return is_valid_ether_addr(addr) ? 0 : -EADDRNOTAVAIL;
}

static void nll_hw_set_address(struct nll_port *port, unsigned int at, const u8 *addr)
{
	u32 low = 0, high = 0;

	if (addr) {
		low = addr[0] | addr[1] << 8 | addr[2] << 16 | (u32)addr[3] << 24;
		high = addr[4] | addr[5] << 8 | NLL_RAH_AV;
	}
	/* Never valid with one half of another one. */
	nll_write(port, NLL_RAH + 8 * at, 0);
	nll_write(port, NLL_RAL + 8 * at, low);
	nll_write(port, NLL_RAH + 8 * at, high);
}

/*
 * QEMU receives nothing for a second after a write of the register, whatever its value: do
 * not write the same value.
 */
static void nll_hw_set_rctl(struct nll_port *port, u32 rctl)
{
	if (nll_read(port, NLL_RCTL) != rctl)
		nll_write(port, NLL_RCTL, rctl);
}

/* Set the destinations to receive; the lists of the device are locked. */
void nll_hw_set_filter(struct nll_port *port)
{
	u32 rctl = NLL_RCTL_LPE | NLL_RCTL_BAM;
	struct net_device *netdev = port->netdev;
	u32 table[NLL_MTA_ENTRIES] = { };
	struct netdev_hw_addr *item;
	unsigned int at = 0;

	if (port->rx_enabled)
		rctl |= NLL_RCTL_EN;
	nll_hw_set_address(port, at++, netdev->dev_addr);
	if (netdev->flags & IFF_PROMISC)
		rctl |= NLL_RCTL_UPE | NLL_RCTL_MPE;
	else if (netdev->flags & IFF_ALLMULTI)
		rctl |= NLL_RCTL_MPE;
	netdev_for_each_uc_addr(item, netdev) {
		if (at < NLL_RA_ENTRIES)
			nll_hw_set_address(port, at++, item->addr);
		else
			rctl |= NLL_RCTL_UPE;
	}
	while (at < NLL_RA_ENTRIES)
		nll_hw_set_address(port, at++, NULL);

	/* The twelve last bits of the address choose one of 4096. */
	netdev_for_each_mc_addr(item, netdev) {
		unsigned int hash = item->addr[4] >> 4 | item->addr[5] << 4;

		table[hash / 32] |= BIT(hash % 32);
	}
	for (at = 0; at < NLL_MTA_ENTRIES; at++)
		nll_write(port, NLL_MTA + 4 * at, table[at]);
	nll_hw_set_rctl(port, rctl);
}
EXPORT_SYMBOL_IF_KUNIT(nll_hw_set_filter);

/* Switch the card's test of checksums on or off. */
void nll_hw_set_rxcsum(struct nll_port *port, bool on)
{
	nll_write(port, NLL_RXCSUM, on ? NLL_RXCSUM_IPOFL | NLL_RXCSUM_TUOFL : 0);
}

/* Set the least time between two interrupts. */
void nll_hw_set_itr(struct nll_port *port)
{
	nll_write(port, NLL_ITR, DIV_ROUND_CLOSEST(port->itr_us * NSEC_PER_USEC, NLL_ITR_NS));
}

/* The receiver may write into its ring, or not. */
static void nll_hw_enable_rx(struct nll_port *port, bool enable)
{
	netif_addr_lock_bh(port->netdev);
	port->rx_enabled = enable;
	nll_hw_set_filter(port);
	netif_addr_unlock_bh(port->netdev);
}

/* Give the card the receive ring, after nll_hw_stop_rx(). */
void nll_hw_start_rx(struct nll_port *port)
{
	nll_hw_set_itr(port);
	nll_write(port, NLL_RDTR, 0);
	nll_write(port, NLL_RADV, 0);

	nll_write(port, NLL_RDBAL, lower_32_bits(port->rx.dma));
	nll_write(port, NLL_RDBAH, upper_32_bits(port->rx.dma));
	nll_write(port, NLL_RDLEN, port->rx.count * sizeof(struct nll_rx_desc));
	nll_write(port, NLL_RDH, 0);
	nll_write(port, NLL_RDT, port->rx.count - 1);
	nll_hw_enable_rx(port, true);
}
EXPORT_SYMBOL_IF_KUNIT(nll_hw_start_rx);

/**
 * nll_hw_stop_rx() - take the receive ring away from the card
 * @port: of the card
 *
 * Only a disabled receiver has no ring: between two writes of head and tail it would have
 * descriptors.
 */
void nll_hw_stop_rx(struct nll_port *port)
{
	nll_hw_enable_rx(port, false);
	nll_flush(port);
	msleep(NLL_RX_STOP_MS);
}
EXPORT_SYMBOL_IF_KUNIT(nll_hw_stop_rx);

/* Take the transmit ring away from the card; no frames are given to it any longer. */
void nll_hw_stop_tx(struct nll_port *port)
{
	u32 tail = nll_read(port, NLL_TDT);
	u32 head;

	/* The link may be down, and the card stuck with what it has. */
	readl_poll_timeout(port->regs + NLL_TDH, head, head == tail, 10, NLL_TX_TIMEOUT_US);
	nll_write(port, NLL_TCTL, 0);
	nll_flush(port);
}

/* Give the card an empty transmit ring, after nll_hw_stop_tx(). */
void nll_hw_start_tx(struct nll_port *port)
{
	nll_write(port, NLL_TDBAL, lower_32_bits(port->tx.dma));
	nll_write(port, NLL_TDBAH, upper_32_bits(port->tx.dma));
	nll_write(port, NLL_TDLEN, port->tx.count * sizeof(struct nll_tx_desc));
	nll_write(port, NLL_TDH, 0);
	nll_write(port, NLL_TDT, 0);
	nll_write(port, NLL_TIDV, 0);
	nll_write(port, NLL_TCTL, NLL_TCTL_EN | NLL_TCTL_PSP | NLL_TCTL_CT | NLL_TCTL_COLD);
}

/* Is there a link? */
bool nll_hw_link_up(struct nll_port *port)
{
	return nll_read(port, NLL_STATUS) & NLL_STATUS_LU;
}

/* Add the card's counters, which this clears, to ours. */
void nll_hw_read_stats(struct nll_port *port)
{
	spin_lock_bh(&port->hw_lock);
	port->hw.crcerrs += nll_read(port, NLL_CRCERRS);
	port->hw.mpc += nll_read(port, NLL_MPC);
	port->hw.rnbc += nll_read(port, NLL_RNBC);
	port->hw.gprc += nll_read(port, NLL_GPRC);
	port->hw.ruc += nll_read(port, NLL_RUC);
	port->hw.roc += nll_read(port, NLL_ROC);
	spin_unlock_bh(&port->hw_lock);
}
