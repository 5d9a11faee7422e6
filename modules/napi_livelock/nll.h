/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private map of the driver: what a port is, and what each file does with it
 *
 *	main.c		PCI functions and network devices
 *	port.c		a port: up and down, interrupts, NAPI, switching
 *	poller.c	the rounds in which ports are polled
 *	polled.c	which ports those are
 *	rx.c, tx.c	rings
 *	frame.h		which frames are taken
 *	pool.c		the buffers that the stack gets
 *	strategy.c	when to switch
 *	window.c	the CPU's time
 *	hw.c		registers
 *	ethtool.c, sysfs.c, trace.h	what people see and set
 */
#ifndef NLL_H
#define NLL_H

#include <linux/hrtimer_types.h>
#include <linux/io.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/spinlock.h>

#include "hw.h"
#include "pool.h"
#include "strategy.h"
#include "window.h"

#define NLL_NAME	"napi_livelock"

/* A frame of this size fits a small buffer, between its headroom and its end. */
#define NLL_SMALL_FRAME	(NLL_POOL_SMALL - NET_SKB_PAD - NET_IP_ALIGN - \
			 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
#define NLL_LARGE_FRAME	(NLL_POOL_LARGE - NET_SKB_PAD - NET_IP_ALIGN - \
			 SKB_DATA_ALIGN(sizeof(struct skb_shared_info)))
/* However little time there is: what a port gets in every window, frames. */
#define NLL_QUOTA_LEAST	8

/* A large buffer counts as this many small ones, the memory that it takes. */
#define NLL_LARGE_COUNTS	(NLL_POOL_LARGE / NLL_POOL_SMALL)

/**
 * struct nll_params - what a person may set, see sysfs.c for ranges and defaults
 * @limit: per cent of a CPU's time for receiving
 * @high: per cent of buffers or ring that make a port poll
 * @low: per cent of both that let it return
 * @quota: frames of a port before it is the next one's turn
 * @hold_us: how long a port has to be calm before it returns
 * @poll_us: from one round of polling to the next
 * @buffers: small buffers that the stack may keep
 */
struct nll_params {
	unsigned int limit;
	unsigned int high;
	unsigned int low;
	unsigned int quota;
	unsigned int hold_us;
	unsigned int poll_us;
	unsigned int buffers;
};

/* What ethtool -S shows beyond the card's own counters. */
struct nll_counters {
	u64 interrupts;
	u64 polls;
	u64 rounds;
	u64 turns;
	u64 held;
	u64 limited;
	u64 backlog_drops;
	u64 no_buffer;
	u64 bad_crc;
	u64 bad_frame;
	u64 too_long;
	u64 too_short;
	u64 bad_checksum;
	u64 rx_ns;
	u64 switches[NLL_ASKED + 1];
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

/**
 * struct nll_rx_ring - receive descriptors
 * @desc: the descriptors
 * @dma: their address
 * @count: how many there are
 * @next: the next one that the card will have written
 * @discarding: in the middle of a frame that is too long
 * @stuck: the next frame had to stay where it is
 * @pages: a buffer each half, the card's for good: frames are copied
 * @pages_dma: their addresses
 *
 * Most frames under which machines break down are small. To copy one costs less
 * than to map a new buffer, and leaves the stack with a small one.
 */
struct nll_rx_ring {
	struct nll_rx_desc *desc;
	dma_addr_t dma;
	unsigned int count;
	unsigned int next;
	bool discarding;
	bool stuck;
	struct page **pages;
	dma_addr_t *pages_dma;
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
 * @next: the next one to fill
 * @clean: the oldest one that is not known to be sent
 * @buffers: what they send
 */
struct nll_tx_ring {
	struct nll_tx_desc *desc;
	dma_addr_t dma;
	unsigned int count;
	unsigned int next;
	unsigned int clean;
	struct nll_tx_buffer *buffers;
};

/**
 * struct nll_port - a card and its network device
 * @regs: its registers
 * @netdev: the network device
 * @pdev: the PCI function
 * @lock: of everything that decides who receives, and of the receive ring
 * @up: frames may be received
 * @strategy: how
 * @params: as set
 * @rx: the receive ring
 * @small: buffers for small frames
 * @large: buffers for the others
 * @max_frame: the longest frame allowed, frame check sequence included
 * @rxcsum: whether to believe the card's checksums
 * @drops: frames that the stack dropped since the last switch
 * @counters: for ethtool -S
 * @napi: receives in the modes napi and hybrid
 * @irq_began: when its last interrupt came, by local_clock()
 * @irq_task: whom it interrupted; only compared
 * @polled: the port in the list of those that are polled
 * @is_polled: it is in there
 * @waits: for the applications to catch up; nothing is taken before
 * @waits_since: when that began, jiffies
 * @fed: the start of the window in which frames were last taken in a round
 * @tx: the transmit ring
 * @tx_napi: cleans it
 * @hw: the card's counters
 * @hw_lock: of these
 * @rx_count: length of the receive ring when the port comes up
 * @tx_count: that of the transmit ring
 */
struct nll_port {
	void __iomem *regs;
	struct net_device *netdev;
	struct pci_dev *pdev;

	spinlock_t lock;	/* of who receives, and of the receive ring */
	bool up;
	struct nll_strategy strategy;
	struct nll_params params;
	struct nll_rx_ring rx;
	struct nll_pool small;
	struct nll_pool large;
	unsigned int max_frame;
	bool rxcsum;
	u64 drops;
	struct nll_counters counters;
	struct napi_struct napi;
	u64 irq_began;
	struct task_struct *irq_task;
	struct list_head polled;
	bool is_polled;
	bool waits;
	unsigned long waits_since;
	u64 fed;

	struct nll_tx_ring tx ____cacheline_aligned_in_smp;
	struct napi_struct tx_napi;

	struct nll_hw_counters hw;
	struct mutex hw_lock;	/* of hw */
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

/* port.c APIs: */
extern const char * const nll_mode_names[NLL_MODES];
int nll_port_up(struct nll_port *port);
void nll_port_down(struct nll_port *port);
int nll_port_restart(struct nll_port *port, unsigned int rx_count, unsigned int tx_count);
void nll_port_set_mode(struct nll_port *port, enum nll_mode mode);
void nll_port_init(struct nll_port *port);
void nll_port_carrier(struct nll_port *port);
bool nll_port_round(struct nll_port *port, u64 interval);
void nll_port_round_end(struct nll_port *port);
unsigned int nll_port_held(struct nll_port *port);
void nll_charge(u64 now, u64 ns);

/* polled.c APIs: */
struct nll_port *nll_polled_next(void);
unsigned int nll_polled_count(void);
u64 nll_polled_interval(void);
void nll_polled_add(struct nll_port *port);
void nll_polled_remove(struct nll_port *port);
bool nll_polled_again(void);
void nll_polled_forward(u64 interval);
void nll_polled_init(enum hrtimer_restart (*round)(struct hrtimer *timer));
void nll_polled_exit(void);

/* poller.c APIs: */
void nll_poller_init(void);

/* rx.c APIs: the caller of nll_rx_collect() holds the port's lock */
int nll_rx_alloc(struct nll_port *port, struct nll_rx_ring *ring, unsigned int count);
void nll_rx_free(struct nll_port *port, struct nll_rx_ring *ring);
unsigned int nll_rx_collect(struct nll_port *port, struct list_head *frames,
			    unsigned int budget, bool softirq);
unsigned int nll_rx_waiting(struct nll_port *port);

/**
 * nll_rx_filled() - whether that many frames wait in the ring
 * @port: of the ring
 * @frames: how many
 *
 * Without asking the card, which costs more than all the rest: it fills the
 * descriptors in their order.
 *
 * Return: true if at least that many do.
 */
static inline bool nll_rx_filled(struct nll_port *port, unsigned int frames)
{
	struct nll_rx_ring *ring = &port->rx;
	unsigned int at;

	/* One descriptor is always kept from the card. */
	frames = clamp(frames, 1, ring->count - 1);
	at = ring->next + frames - 1;
	if (at >= ring->count)
		at -= ring->count;
	return le64_to_cpu(READ_ONCE(ring->desc[at].done)) & NLL_RXD_DD;
}

/* tx.c APIs: */
int nll_tx_alloc(struct nll_port *port, struct nll_tx_ring *ring, unsigned int count);
void nll_tx_free(struct nll_port *port, struct nll_tx_ring *ring);
void nll_tx_drop_all(struct nll_port *port);
netdev_tx_t nll_xmit(struct sk_buff *skb, struct net_device *netdev);
int nll_tx_poll(struct napi_struct *napi, int budget);

/* ethtool.c, sysfs.c APIs: */
extern const struct ethtool_ops nll_ethtool_ops;
extern const struct attribute_group nll_sysfs_group;
extern const struct nll_params nll_params_default;

#endif /* NLL_H */
