/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private map of the driver: what a port is, and what each file does with it
 *
 *	main.c		PCI functions and network devices
 *	port.c		a port: up and down, interrupts, NAPI, the modes
 *	rx.c, tx.c	rings
 *	frame.h		which frames are taken
 *	hw.c		registers
 *	ethtool.c, sysfs.c	what people see and set
 */
#ifndef NLL_H
#define NLL_H

#include <linux/hrtimer_types.h>
#include <linux/io.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "hw.h"

#define NLL_NAME	"napi_livelock"

/* The frames of a turn of polling: one poll of NAPI, which never has more. */
#define NLL_QUOTA_MAX		NAPI_POLL_WEIGHT
/* From the end of a turn to the next one [us]. */
#define NLL_POLL_MIN_US		100
#define NLL_POLL_MAX_US		10000

struct page_pool;

/**
 * enum nll_mode - how a port receives
 * @NLL_INTERRUPT: in the interrupt handler, which is never masked; NAPI only cleans
 *	what was sent
 * @NLL_POLL: in NAPI, which a timer schedules; no interrupt but that of the link
 * @NLL_NAPI: in NAPI, as every driver does
 */
enum nll_mode {
	NLL_INTERRUPT,
	NLL_POLL,
	NLL_NAPI,
	NLL_MODES,
};

/* What ethtool -S shows beyond the card's own counters. Written by the receiver. */
struct nll_counters {
	u64 interrupts;
	u64 polls;
	u64 backlog_drops;
	u64 no_buffer;
	u64 bad_crc;
	u64 bad_frame;
	u64 too_long;
	u64 too_short;
	u64 bad_checksum;
	u64 tx_busy;
	u64 tx_timeouts;
};

/* The card's counters, which reading clears. */
struct nll_hw_counters {
	u64 crcerrs;
	u64 mpc;
	u64 rnbc;
	u64 gprc;
	u64 ruc;
	u64 roc;
};

/* The place of a received frame: @offset bytes into a page of the pool. */
struct nll_rx_buffer {
	struct page *page;
	unsigned int offset;
};

/**
 * struct nll_rx_ring - receive descriptors
 * @desc: the descriptors
 * @dma: their address
 * @count: how many there are
 * @next: the next one that the card will have written
 * @discarding: in the middle of a frame that is too long
 * @buffers: one for each descriptor, never without a page
 * @pool: source of their pages
 *
 * @next, @discarding and @buffers belong to the receiver: the interrupt handler, which is
 * never entered twice, in the mode interrupt, else the owner of NAPI_STATE_SCHED. Only the
 * latter takes pages from the pool.
 */
struct nll_rx_ring {
	struct nll_rx_desc *desc;
	dma_addr_t dma;
	unsigned int count;
	unsigned int next;
	bool discarding;
	struct nll_rx_buffer *buffers;
	struct page_pool *pool;
};

struct nll_tx_buffer {
	struct sk_buff *skb;
	dma_addr_t dma;
	unsigned int len;
};

/**
 * struct nll_tx_ring - transmit descriptors
 * @desc: the descriptors
 * @dma: their address
 * @count: how many there are
 * @buffers: what they send
 * @next: the next one to fill; written under the lock of the queue
 * @clean: the oldest one that is not known to be sent; written by NAPI
 */
struct nll_tx_ring {
	struct nll_tx_desc *desc;
	dma_addr_t dma;
	unsigned int count;
	struct nll_tx_buffer *buffers;
	unsigned int next ____cacheline_aligned_in_smp;
	unsigned int clean ____cacheline_aligned_in_smp;
};

/**
 * struct nll_port - a card and its network device
 * @regs: its registers
 * @netdev: the network device
 * @dev: the PCI function, which rings and buffers are mapped for
 * @irq: its interrupt
 * @unmasked: the causes of interrupts that are not masked
 * @mode: how it receives
 * @quota: frames of a turn in the mode poll
 * @poll_us: from the end of a turn to the next one [us]
 * @up: rings exist, and the card has them
 * @rx_enabled: the card may write into the receive ring; under netif_addr_lock
 * @max_frame: the longest frame allowed, frame check sequence included
 * @rxcsum: whether to trust the card's checksums
 * @itr_us: least time between two interrupts [us]
 * @napi: cleans sent frames, and receives in the modes poll and napi
 * @timer: begins a turn in the mode poll
 * @rx: the receive ring
 * @counters: for ethtool -S
 * @tx: the transmit ring
 * @reset: begins anew when the card stops sending
 * @hw: the card's counters
 * @hw_lock: of these
 * @rx_count: length of the receive ring when the port comes up
 * @tx_count: that of the transmit ring
 *
 * @mode, @up, @itr_us and the counts change under RTNL; @mode only while nothing is
 * received.
 */
struct nll_port {
	void __iomem *regs;
	struct net_device *netdev;
	struct device *dev;
	int irq;

	u32 unmasked;
	enum nll_mode mode;
	unsigned int quota;
	unsigned int poll_us;
	bool up;
	bool rx_enabled;
	bool rxcsum;
	unsigned int max_frame;
	unsigned int itr_us;
	struct napi_struct napi;
	struct hrtimer timer;
	struct nll_rx_ring rx;
	struct nll_counters counters;

	struct nll_tx_ring tx;
	struct work_struct reset;

	struct nll_hw_counters hw;
	spinlock_t hw_lock;	/* of hw */
	unsigned int rx_count;
	unsigned int tx_count;
};

static inline u32 nll_read(struct nll_port *port, u32 reg)
{
	return readl(port->regs + reg);
}

static inline void nll_write(struct nll_port *port, u32 reg, u32 value)
{
	writel(value, port->regs + reg);
}

/* Post what was written. */
static inline void nll_flush(struct nll_port *port)
{
	nll_read(port, NLL_STATUS);
}

/* port.c APIs: all but the first one under RTNL */
void nll_port_init(struct nll_port *port);
int nll_port_up(struct nll_port *port);
void nll_port_down(struct nll_port *port);
int nll_port_resize(struct nll_port *port, unsigned int rx_count, unsigned int tx_count);
void nll_port_set_mode(struct nll_port *port, enum nll_mode mode);

/* rx.c APIs: */
int nll_rx_alloc(struct nll_port *port, struct nll_rx_ring *ring, unsigned int count);
void nll_rx_free(struct nll_port *port, struct nll_rx_ring *ring);
void nll_rx_reset(struct nll_rx_ring *ring);
bool nll_rx_next(struct nll_port *port, struct sk_buff **skb);
unsigned int nll_rx_receive(struct nll_port *port, unsigned int budget);
bool nll_rx_any(const struct nll_port *port);
unsigned int nll_rx_waiting(struct nll_port *port);
#if IS_ENABLED(CONFIG_KUNIT)
int nll_rx_fill(struct nll_rx_ring *ring, unsigned int at, gfp_t gfp);
#endif

/* tx.c APIs: */
int nll_tx_alloc(struct nll_port *port, struct nll_tx_ring *ring, unsigned int count);
void nll_tx_free(struct nll_port *port, struct nll_tx_ring *ring);
void nll_tx_drop_all(struct nll_port *port);
void nll_tx_clean(struct nll_port *port, int budget);
bool nll_tx_any(const struct nll_port *port);
netdev_tx_t nll_xmit(struct sk_buff *skb, struct net_device *netdev);

/* ethtool.c, sysfs.c APIs: */
extern const struct ethtool_ops nll_ethtool_ops;
extern const struct attribute_group nll_sysfs_group;

#endif /* NLL_H */
