/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The 82540EM: its registers and descriptors.
 *
 * Names and bits are those of the "PCI/PCI-X Family of Gigabit Ethernet Controllers
 * Software Developer's Manual".
 */
#ifndef NLL_HW_H
#define NLL_HW_H

#include <linux/bits.h>
#include <linux/types.h>

struct net_device;
struct nll_port;

#define NLL_VENDOR_INTEL	0x8086
#define NLL_DEVICE_82540EM	0x100e

/* Registers */
#define NLL_CTRL	0x0000
#define NLL_STATUS	0x0008
#define NLL_EERD	0x0014
#define NLL_ICR		0x00c0	/* reading clears it */
#define NLL_ITR		0x00c4	/* in units of NLL_ITR_NS */
#define NLL_ICS		0x00c8
#define NLL_IMS		0x00d0
#define NLL_IMC		0x00d8
#define NLL_RCTL	0x0100
#define NLL_TCTL	0x0400
#define NLL_TIPG	0x0410
#define NLL_RDBAL	0x2800
#define NLL_RDBAH	0x2804
#define NLL_RDLEN	0x2808
#define NLL_RDH		0x2810
#define NLL_RDT		0x2818
#define NLL_RDTR	0x2820
#define NLL_RADV	0x282c
#define NLL_TDBAL	0x3800
#define NLL_TDBAH	0x3804
#define NLL_TDLEN	0x3808
#define NLL_TDH		0x3810
#define NLL_TDT		0x3818
#define NLL_TIDV	0x3820
#define NLL_CRCERRS	0x4000	/* the statistics are cleared by reading */
#define NLL_MPC		0x4010
#define NLL_GPRC	0x4074
#define NLL_RNBC	0x40a0
#define NLL_RUC		0x40a4
#define NLL_ROC		0x40ac
#define NLL_RXCSUM	0x5000
#define NLL_MTA		0x5200
#define NLL_RAL		0x5400
#define NLL_RAH		0x5404

#define NLL_CTRL_ASDE	BIT(5)	/* detect the speed */
#define NLL_CTRL_SLU	BIT(6)	/* set the link up */
#define NLL_CTRL_FRCSPD	BIT(11)
#define NLL_CTRL_FRCDPX	BIT(12)
#define NLL_CTRL_RST	BIT(26)
#define NLL_CTRL_VME	BIT(30)	/* strip VLAN tags */

#define NLL_STATUS_FD	BIT(0)
#define NLL_STATUS_LU	BIT(1)
#define NLL_STATUS_SPEED	GENMASK(7, 6)

#define NLL_EERD_START	BIT(0)
#define NLL_EERD_DONE	BIT(4)
#define NLL_EERD_ADDR	GENMASK(15, 8)
#define NLL_EERD_DATA	GENMASK(31, 16)

#define NLL_ITR_NS	256
#define NLL_ITR_MAX_US	16776	/* 16 bits of them */

/* Interrupt causes: ICR, ICS, IMS, IMC */
#define NLL_INT_TXDW	BIT(0)	/* a frame was sent */
#define NLL_INT_LSC	BIT(2)	/* the link changed */
#define NLL_INT_RXDMT0	BIT(4)	/* few descriptors left */
#define NLL_INT_RXO	BIT(6)	/* overrun */
#define NLL_INT_RXT0	BIT(7)	/* a frame was received */
#define NLL_INT_RX	(NLL_INT_RXDMT0 | NLL_INT_RXO | NLL_INT_RXT0)

#define NLL_RCTL_EN	BIT(1)
#define NLL_RCTL_UPE	BIT(3)	/* all unicast frames */
#define NLL_RCTL_MPE	BIT(4)	/* all multicast frames */
#define NLL_RCTL_LPE	BIT(5)	/* more than 1522 bytes */
#define NLL_RCTL_BAM	BIT(15)	/* broadcasts */

#define NLL_TCTL_EN	BIT(1)
#define NLL_TCTL_PSP	BIT(3)	/* pad short frames */
#define NLL_TCTL_CT	(0x0f << 4)
#define NLL_TCTL_COLD	(0x40 << 12)
#define NLL_TIPG_COPPER	(10 | 10 << 10 | 10 << 20)

#define NLL_RAH_AV	BIT(31)
#define NLL_RA_ENTRIES	16
#define NLL_MTA_ENTRIES	128

#define NLL_RXCSUM_IPOFL	BIT(8)
#define NLL_RXCSUM_TUOFL	BIT(9)

/* Buffers are 2048 bytes (RCTL.BSIZE 0), the frame check sequence included. */
#define NLL_RX_BUFFER	2048
#define NLL_FCS		4

struct nll_rx_desc {
	__le64 addr;
	__le64 done;	/* see NLL_RXD_ */
};

/* The second half of a receive descriptor, as the card writes it. */
#define NLL_RXD_LEN	GENMASK_ULL(15, 0)
#define NLL_RXD_DD	BIT_ULL(32)	/* done */
#define NLL_RXD_EOP	BIT_ULL(33)	/* the last one of a frame */
#define NLL_RXD_IXSM	BIT_ULL(34)	/* no checksum was looked at */
#define NLL_RXD_TCPCS	BIT_ULL(37)	/* that of TCP or UDP was */
#define NLL_RXD_CE	BIT_ULL(40)	/* bad frame check sequence */
#define NLL_RXD_SE	BIT_ULL(41)
#define NLL_RXD_SEQ	BIT_ULL(42)
#define NLL_RXD_CXE	BIT_ULL(44)
#define NLL_RXD_TCPE	BIT_ULL(45)	/* bad checksum of TCP or UDP */
#define NLL_RXD_IPE	BIT_ULL(46)	/* bad checksum of IP */
#define NLL_RXD_RXE	BIT_ULL(47)
#define NLL_RXD_BAD	(NLL_RXD_SE | NLL_RXD_SEQ | NLL_RXD_CXE | NLL_RXD_RXE)

struct nll_tx_desc {
	__le64 addr;
	__le32 cmd;
	__le32 status;
};

#define NLL_TXD_EOP	BIT(24)
#define NLL_TXD_IFCS	BIT(25)
#define NLL_TXD_RS	BIT(27)
#define NLL_TXD_DD	BIT(0)

/* Lengths of rings: in units of 128 bytes for the card. */
#define NLL_RING_MIN	64
#define NLL_RING_MAX	4096
#define NLL_RING_STEP	8

/* hw.c APIs: */
int nll_hw_reset(struct nll_port *port);
int nll_hw_read_mac(struct nll_port *port, u8 *addr);
void nll_hw_set_filter(struct nll_port *port);
void nll_hw_set_rxcsum(struct nll_port *port, bool on);
void nll_hw_set_itr(struct nll_port *port);
void nll_hw_start_rx(struct nll_port *port);
void nll_hw_stop_rx(struct nll_port *port);
void nll_hw_start_tx(struct nll_port *port);
void nll_hw_stop_tx(struct nll_port *port);
bool nll_hw_link_up(struct nll_port *port);
void nll_hw_read_stats(struct nll_port *port);

#endif /* NLL_HW_H */
