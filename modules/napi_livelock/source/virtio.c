// SPDX-License-Identifier: GPL-2.0-only
/*
 * virtio.c - receivers that are virtio cards: their ring is in memory.
 *
 * Their driver may go at any time, and its rings with it: it is unbound, or the machine
 * sleeps. vring_del_virtqueue() takes a queue off the device's list, under its lock,
 * before it frees queue and ring. So while the lock is held, all queues on the list exist.
 *
 * A ring that gets another size (ethtool -G) is freed without that lock, after its queue
 * has been reset. On one CPU that is enough; on several do not do it while the source
 * runs.
 */
#include <linux/etherdevice.h>
#include <linux/virtio_config.h>
#include <linux/virtio_ring.h>
#include <uapi/linux/virtio_net.h>

#include "source.h"

static int take_virtio(struct device *dev, void *found)
{
	if (!is_virtio_device(dev))
		return 0;
	*(struct device **)found = get_device(dev);
	return 1;
}

/* Its driver has found an address and agreed on split rings; it does not go meanwhile. */
static bool is_fit(struct virtio_device *vdev, u8 *address)
{
	lockdep_assert_held(&vdev->dev.mutex);
	if (!vdev->dev.driver || vdev->id.device != VIRTIO_ID_NET ||
	    !__virtio_test_bit(vdev, VIRTIO_NET_F_MAC) ||
	    __virtio_test_bit(vdev, VIRTIO_F_RING_PACKED))
		return false;
	virtio_cread_bytes(vdev, offsetof(struct virtio_net_config, mac), address, ETH_ALEN);
	return true;
}

/**
 * nll_virtio_get() - find the virtio card that a PCI device is
 * @pdev: the device
 * @address: stores the card's hardware address
 *
 * Return: the card, referenced; NULL without a driver, an address and split rings.
 */
struct virtio_device *nll_virtio_get(struct pci_dev *pdev, u8 *address)
{
	struct device *dev = NULL;
	bool fit;

	device_for_each_child(&pdev->dev, &dev, take_virtio);
	if (!dev)
		return NULL;
	device_lock(dev);
	fit = is_fit(dev_to_virtio(dev), address);
	device_unlock(dev);
	if (fit)
		return dev_to_virtio(dev);
	put_device(dev);
	return NULL;
}

/* Drop the card's reference; it may be NULL. */
void nll_virtio_put(struct virtio_device *vdev)
{
	if (vdev)
		put_device(&vdev->dev);
}

/* The buffers that the driver has offered and the device has not used; of the first queue, rx. */
static u16 offered(struct virtio_device *vdev)
{
	struct virtqueue *vq = list_first_entry_or_null(&vdev->vqs, struct virtqueue, list);
	const struct vring *ring;

	if (!vq || READ_ONCE(vq->reset))
		return 0;
	ring = virtqueue_get_vring(vq);
	return virtio16_to_cpu(vdev, READ_ONCE(ring->avail->idx)) -
	       virtio16_to_cpu(vdev, READ_ONCE(ring->used->idx));
}

/**
 * nll_virtio_room() - how many frames the card would take now
 * @vdev: the card
 *
 * Others hold the lock with interrupts on, so an interrupt must not wait for it.
 *
 * Return: the free buffers of its ring; 0 without a ring.
 */
unsigned int nll_virtio_room(struct virtio_device *vdev)
{
	unsigned int room;

	if (!spin_trylock(&vdev->vqs_list_lock))
		return 0;
	room = offered(vdev);
	spin_unlock(&vdev->vqs_list_lock);
	return room;
}
