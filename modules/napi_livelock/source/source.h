/* SPDX-License-Identifier: GPL-2.0 */
/* source.h - the private map of nll_source, a source of frames on the links of the receivers. */
#ifndef NLL_SOURCE_H
#define NLL_SOURCE_H

#include <linux/etherdevice.h>
#include <linux/hrtimer.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/virtio.h>

#include "../rate.h"
#include "../stamp.h"

#define NLL_SOURCE_DRIVER	"nll_source"
#define NLL_VENDOR		0x8086
#define NLL_82540EM		0x100e
#define NLL_82574L		0x10d3

#define NLL_TARGETS	8
#define NLL_SLOTS	256	/* of the transmit ring */
#define NLL_BUFFER	2048	/* of a slot */

#define NLL_HEADERS	(14 + 20 + 8)	/* Ethernet, IPv4, UDP */
#define NLL_SIZE_MIN	(NLL_HEADERS + (unsigned int)sizeof(struct nll_stamp))
#define NLL_SIZE_MAX	1514
#define NLL_OVERSIZE	1800

/* The registers of the 82540EM and the 82574L that a source needs. */
#define NLL_CTRL	0x0000
#define NLL_STATUS	0x0008
#define NLL_IMC		0x00d8
#define NLL_RCTL	0x0100
#define NLL_TCTL	0x0400
#define NLL_TIPG	0x0410
#define NLL_RDLEN	0x2808
#define NLL_RDH		0x2810
#define NLL_RDT		0x2818
#define NLL_TDBAL	0x3800
#define NLL_TDBAH	0x3804
#define NLL_TDLEN	0x3808
#define NLL_TDH		0x3810
#define NLL_TDT		0x3818
#define NLL_RAL0	0x5400
#define NLL_RAH0	0x5404

#define NLL_CTRL_SLU	BIT(6)
#define NLL_STATUS_LU	BIT(1)
#define NLL_RCTL_EN	BIT(1)
#define NLL_TCTL_EN	BIT(1)
#define NLL_TCTL_PSP	BIT(3)
#define NLL_TIPG_COPPER	(10 | 8 << 10 | 6 << 20)
#define NLL_TXD_EOP	BIT(24)
#define NLL_TXD_IFCS	BIT(25)

/* A legacy transmit descriptor. */
struct nll_txd {
	__le64 addr;
	__le32 lower;		/* length and command */
	__le32 upper;
};

/**
 * enum nll_malformed - the fault of a malformed frame
 * @NLL_GOOD: none
 * @NLL_TRUNCATED: the frame ends before its IP packet does
 * @NLL_LENGTH: the UDP header says more than the IP packet holds
 * @NLL_CHECKSUM: the checksum of the UDP header is wrong
 * @NLL_IP_CHECKSUM: the checksum of the IP header is wrong
 * @NLL_OVERSIZED: the frame is longer than the link allows
 * @NLL_STRAY: none, but it is for the UDP port NLL_STRAY_PORTS above the target's
 * @NLL_MALFORMED: how many there are
 */
enum nll_malformed {
	NLL_GOOD,
	NLL_TRUNCATED,
	NLL_LENGTH,
	NLL_CHECKSUM,
	NLL_IP_CHECKSUM,
	NLL_OVERSIZED,
	NLL_STRAY,
	NLL_MALFORMED,
};

#define NLL_STRAY_PORTS	1000

/* Their order is the enum's; ends with NULL. */
extern const char *const nll_malformed_names[];

/**
 * struct nll_config - the configuration of a run
 * @rate: of each target; target i starts with seed + i
 * @start_ns: CLOCK_MONOTONIC, or 0 for now
 * @duration_ns: how long frames are due
 * @warmup_ms: the part of it before the window
 * @lag_ms: time behind the last frame before the run counts as done
 * @tick_ns: least time between two shots: frames due within it leave together
 * @size: of a frame, without its check sequence
 * @malformed: the fault of every n-th frame
 * @every: that n, 0 for none
 */
struct nll_config {
	struct nll_rate_params rate;
	u64 start_ns;
	u64 duration_ns;
	u32 warmup_ms;
	u32 lag_ms;
	u32 tick_ns;
	u32 size;
	u32 malformed;
	u32 every;
};

/**
 * struct nll_counts - the frames for a target
 * @due: by the rate
 * @sent: handed to the wire while the receiver had room
 * @tail: not sent: the receiver had no descriptor left, or did not listen
 * @full: how often the receiver's ring was found full, where it had room before
 * @malformed: of those sent, how many were malformed
 */
struct nll_counts {
	u64 due;
	u64 sent;
	u64 tail;
	u64 full;
	u64 malformed;
};

/**
 * struct nll_effort - the cost of sending
 * @shots: how often the timer fired
 * @timer_ns: time in its function
 * @late_max_ns: the largest delay of a frame
 * @busy: shots after which the transmit ring was not empty
 */
struct nll_effort {
	u64 shots;
	u64 timer_ns;
	u64 late_max_ns;
	u64 busy;
};

/**
 * struct nll_device - a device that sends
 * @node: in the list of all
 * @pdev: the device
 * @regs: its registers
 * @ring: transmit descriptors, each with a buffer of its own
 * @ring_dma: their address for the device
 * @buffers: NLL_SLOTS times NLL_BUFFER bytes
 * @buffers_dma: their address for the device
 * @tail: the next free slot
 */
struct nll_device {
	struct list_head node;
	struct pci_dev *pdev;
	void __iomem *regs;
	struct nll_txd *ring;
	dma_addr_t ring_dma;
	u8 *buffers;
	dma_addr_t buffers_dma;
	u32 tail;
};

/**
 * struct nll_target - a receiver
 * @dev: its sender
 * @pdev: its device, which another driver has; referenced
 * @regs: its registers; only read; NULL for a virtio card
 * @vdev: a virtio card, referenced; NULL for one with registers
 * @address: of a virtio card; others have theirs in registers
 * @ip: destination address
 * @port: destination port
 * @index: of the target
 * @good: headers of a frame for it
 * @bad: headers of a malformed one
 * @bad_size: length of that on the wire
 * @full: its ring was full at the last test
 * @rate: the times of its frames
 * @next_ns: when the next one is due
 * @seq: its number
 * @total: counts since the start
 * @before: the part of these before the window
 */
struct nll_target {
	struct nll_device *dev;
	struct pci_dev *pdev;
	void __iomem *regs;
	struct virtio_device *vdev;
	u8 address[ETH_ALEN];
	__be32 ip;
	__be16 port;
	u32 index;
	u8 good[NLL_HEADERS];
	u8 bad[NLL_HEADERS];
	u32 bad_size;
	bool full;
	struct nll_rate rate;
	u64 next_ns;
	u64 seq;
	struct nll_counts total;
	struct nll_counts before;
};

enum nll_state {
	NLL_IDLE,
	NLL_RUNNING,
	NLL_LAG,
	NLL_DONE,
};

/**
 * struct nll_source - the source: one timer for all devices
 * @devices: that send
 * @mutex: to start, stop and configure, and to add or remove a device
 * @config: of the next run
 * @target: the receivers
 * @targets: how many
 * @timer: the next shot
 * @lock: for everything below, and for what changes in a target during a run
 * @state: of the run
 * @window_ns: when the window begins
 * @end_ns: when it ends and no more frames are due
 * @windowed: the window has begun
 * @effort: since the start
 * @before: the part of it before the window
 */
struct nll_source {
	struct list_head devices;
	struct mutex mutex;	/* see above */
	struct nll_config config;
	struct nll_target target[NLL_TARGETS];
	unsigned int targets;
	struct hrtimer timer;
	spinlock_t lock;	/* see above */
	enum nll_state state;
	u64 window_ns;
	u64 end_ns;
	bool windowed;
	struct nll_effort effort;
	struct nll_effort before;
};

/* frame.c APIs: */

void nll_frame_build(const struct nll_config *c, struct nll_target *t);
void nll_frame_put(const struct nll_config *c, struct nll_target *t, u64 seq, u64 now);

/* target.c APIs: */

int nll_target_add(struct nll_source *s, const char *text);
void nll_target_clear(struct nll_source *s);
void nll_target_address(const struct nll_target *t, u8 *address);
unsigned int nll_target_room(const struct nll_target *t);

/* virtio.c APIs: */

struct virtio_device *nll_virtio_get(struct pci_dev *pdev, u8 *address);
void nll_virtio_put(struct virtio_device *vdev);
unsigned int nll_virtio_room(struct virtio_device *vdev);

/* shoot.c APIs: */

void nll_shoot_init(struct nll_source *s);
int nll_shoot_start(struct nll_source *s);
void nll_shoot_stop(struct nll_source *s);

/* config.c APIs: */

void nll_config_defaults(struct nll_config *c);
int nll_config_parse(struct nll_config *config, char *text);
int nll_config_show(const struct nll_config *c, char *text, size_t size);

/* debugfs.c APIs: */

void nll_debugfs_init(struct nll_source *s);
void nll_debugfs_exit(void);

#endif /* NLL_SOURCE_H */
