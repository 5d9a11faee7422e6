// SPDX-License-Identifier: GPL-2.0-only
/*
 * target.c - the receivers.
 *
 * An emulated link loses no frame: one that its receiver has no room for waits in a queue
 * of the emulator that no counter shows. So the source reads the receiver's ring first,
 * and counts as lost at its tail what a real device would have lost there. Intel's cards
 * have registers for it.
 */
#include <linux/inet.h>
#include <linux/io.h>
#include <linux/unaligned.h>

#include "source.h"

#define VIRTIO_CARD	"a virtio card that has a driver, an address and split rings"

static int refuse(const char *what, const char *text, const char *allowed)
{
	pr_notice(NLL_SOURCE_DRIVER ": %s '%s': allowed is %s\n", what, text, allowed);
	return -EINVAL;
}

static struct pci_dev *find_device(const char *text)
{
	unsigned int domain, bus, slot, function;
	char end;

	if (sscanf(text, "%x:%x:%x.%x%c", &domain, &bus, &slot, &function, &end) != 4)
		return NULL;
	return pci_get_domain_bus_and_slot(domain, bus, PCI_DEVFN(slot, function));
}

/* The sender of a device, or NULL. */
static struct nll_device *find_sender(const struct nll_source *s, const struct pci_dev *pdev)
{
	struct nll_device *dev;

	lockdep_assert_held(&s->mutex);
	list_for_each_entry(dev, &s->devices, node)
		if (dev->pdev == pdev)
			return dev;
	return NULL;
}

static int parse_sender(const struct nll_source *s, const char *text, struct nll_target *t)
{
	struct pci_dev *pdev = find_device(text);

	t->dev = pdev ? find_sender(s, pdev) : NULL;
	pci_dev_put(pdev);
	return t->dev ? 0 : refuse("sender", text, "a device that is bound to this driver");
}

/* The registers that are read here are the same on the 82574L. */
static bool has_registers(const struct pci_dev *pdev)
{
	return pdev->vendor == NLL_VENDOR &&
	       (pdev->device == NLL_82540EM || pdev->device == NLL_82574L);
}

static bool can_receive(const struct nll_source *s, struct pci_dev *pdev, struct nll_target *t)
{
	if (has_registers(pdev))
		return !find_sender(s, pdev);
	t->vdev = nll_virtio_get(pdev, t->address);
	return t->vdev;
}

static int parse_receiver(const struct nll_source *s, const char *text, struct nll_target *t)
{
	struct pci_dev *pdev = find_device(text);

	if (pdev && can_receive(s, pdev, t)) {
		t->pdev = pdev;
		return 0;
	}
	pci_dev_put(pdev);
	return refuse("receiver", text, "an 82540EM or 82574L that does not send itself, or "
		      VIRTIO_CARD);
}

static int parse(const struct nll_source *s, const char *text, struct nll_target *t)
{
	char sender[24], receiver[24], ip[24], port[12], more;
	u16 number;
	int error;

	if (sscanf(text, "%23s %23s %23s %11s %c", sender, receiver, ip, port, &more) != 4)
		return refuse("target", text, "SENDER RECEIVER IP PORT");
	if (!in4_pton(ip, -1, (u8 *)&t->ip, -1, NULL))
		return refuse("ip", ip, "an IPv4 address");
	if (kstrtou16(port, 10, &number) || !number)
		return refuse("port", port, "1 to 65535");
	t->port = cpu_to_be16(number);
	error = parse_sender(s, sender, t);
	return error ?: parse_receiver(s, receiver, t);
}

/**
 * nll_target_add() - send to one more receiver
 * @s: the source, which does not run; its mutex is held
 * @text: "SENDER RECEIVER IP PORT", the first two as 0000:00:03.0
 *
 * Return: 0, -EINVAL, -ENOSPC, -ENOMEM.
 */
int nll_target_add(struct nll_source *s, const char *text)
{
	struct nll_target *t = &s->target[s->targets];
	int error;

	if (s->targets == NLL_TARGETS)
		return -ENOSPC;
	memset(t, 0, sizeof(*t));
	error = parse(s, text, t);
	if (error)
		return error;
	if (!t->vdev)
		t->regs = pci_iomap(t->pdev, 0, 0);
	if (!t->vdev && !t->regs) {
		pci_dev_put(t->pdev);
		return -ENOMEM;
	}
	t->index = s->targets++;
	return 0;
}

/* Forget all receivers; the source does not run. */
void nll_target_clear(struct nll_source *s)
{
	while (s->targets) {
		struct nll_target *t = &s->target[--s->targets];

		if (t->regs)
			pci_iounmap(t->pdev, t->regs);
		nll_virtio_put(t->vdev);
		pci_dev_put(t->pdev);
	}
}

/* Store the receiver's hardware address in @address. */
void nll_target_address(const struct nll_target *t, u8 *address)
{
	if (t->vdev) {
		ether_addr_copy(address, t->address);
		return;
	}
	put_unaligned_le32(readl(t->regs + NLL_RAL0), address);
	put_unaligned_le16(readl(t->regs + NLL_RAH0), address + 4);
}

/* How many frames the receiver would take now: its free descriptors; 0 if it does not listen. */
unsigned int nll_target_room(const struct nll_target *t)
{
	u32 head, tail;

	if (t->vdev)
		return nll_virtio_room(t->vdev);
	if (!(readl(t->regs + NLL_RCTL) & NLL_RCTL_EN) ||
	    !(readl(t->regs + NLL_STATUS) & NLL_STATUS_LU))
		return 0;
	head = readl(t->regs + NLL_RDH);
	tail = readl(t->regs + NLL_RDT);
	if (tail < head)
		tail += readl(t->regs + NLL_RDLEN) / sizeof(struct nll_txd);
	return tail - head;
}
