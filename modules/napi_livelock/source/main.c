// SPDX-License-Identifier: GPL-2.0-only
/*
 * main.c - nll_source: devices that send frames to others on their links, at the
 * configured rate, from a timer.
 *
 * The frames go out of 82540EMs of the same machine, which are bound by hand: a device
 * gets this driver only through its driver_override. See
 * Documentation/networking/napi-livelock.rst.
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>

#include "source.h"

static struct nll_source nll_source = {
	.devices = LIST_HEAD_INIT(nll_source.devices),
	.mutex = __MUTEX_INITIALIZER(nll_source.mutex),
	.lock = __SPIN_LOCK_UNLOCKED(nll_source.lock),
};

static void set_up(struct nll_device *dev)
{
	unsigned int i;

	for (i = 0; i < NLL_SLOTS; i++)
		dev->ring[i].addr = cpu_to_le64(dev->buffers_dma + i * NLL_BUFFER);
	writel(~0, dev->regs + NLL_IMC);
	writel(0, dev->regs + NLL_RCTL);
	writel(0, dev->regs + NLL_TCTL);
	writel(readl(dev->regs + NLL_CTRL) | NLL_CTRL_SLU, dev->regs + NLL_CTRL);
	writel(lower_32_bits(dev->ring_dma), dev->regs + NLL_TDBAL);
	writel(upper_32_bits(dev->ring_dma), dev->regs + NLL_TDBAH);
	writel(NLL_SLOTS * sizeof(*dev->ring), dev->regs + NLL_TDLEN);
	writel(0, dev->regs + NLL_TDH);
	writel(0, dev->regs + NLL_TDT);
	writel(NLL_TIPG_COPPER, dev->regs + NLL_TIPG);
	writel(NLL_TCTL_EN | NLL_TCTL_PSP, dev->regs + NLL_TCTL);
}

static int acquire(struct nll_device *dev)
{
	struct pci_dev *pdev = dev->pdev;
	int error;

	error = pcim_enable_device(pdev);
	if (error)
		return error;
	error = pcim_iomap_regions(pdev, BIT(0), NLL_SOURCE_DRIVER);
	if (error)
		return error;
	dev->regs = pcim_iomap_table(pdev)[0];
	error = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(32));
	if (error)
		return error;
	dev->ring = dmam_alloc_coherent(&pdev->dev, NLL_SLOTS * sizeof(*dev->ring),
					&dev->ring_dma, GFP_KERNEL);
	dev->buffers = dmam_alloc_coherent(&pdev->dev, NLL_SLOTS * NLL_BUFFER,
					   &dev->buffers_dma, GFP_KERNEL);
	if (!dev->ring || !dev->buffers)
		return -ENOMEM;
	pci_set_master(pdev);
	return 0;
}

static int nll_source_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct nll_device *dev;
	int error;

	if (pdev->vendor != NLL_VENDOR || pdev->device != NLL_82540EM) {
		pci_err(pdev, "device %04x:%04x: allowed is %04x:%04x\n", pdev->vendor,
			pdev->device, NLL_VENDOR, NLL_82540EM);
		return -ENODEV;
	}
	dev = devm_kzalloc(&pdev->dev, sizeof(*dev), GFP_KERNEL);
	if (!dev)
		return -ENOMEM;
	dev->pdev = pdev;
	error = acquire(dev);
	if (error)
		return error;
	set_up(dev);
	pci_set_drvdata(pdev, dev);
	mutex_lock(&nll_source.mutex);
	list_add_tail(&dev->node, &nll_source.devices);
	mutex_unlock(&nll_source.mutex);
	return 0;
}

/* Without one of its devices the source stops, and forgets its targets. */
static void nll_source_remove(struct pci_dev *pdev)
{
	struct nll_device *dev = pci_get_drvdata(pdev);

	mutex_lock(&nll_source.mutex);
	nll_shoot_stop(&nll_source);
	nll_target_clear(&nll_source);
	list_del(&dev->node);
	mutex_unlock(&nll_source.mutex);
	writel(0, dev->regs + NLL_TCTL);
	pci_clear_master(pdev);
}

/* No device is taken for its id: it takes driver_override. */
static const struct pci_device_id nll_source_ids[] = {
	{ }
};

static struct pci_driver nll_source_driver = {
	.name = NLL_SOURCE_DRIVER,
	.id_table = nll_source_ids,
	.probe = nll_source_probe,
	.remove = nll_source_remove,
};

static int __init nll_source_init(void)
{
	int error;

	nll_config_defaults(&nll_source.config);
	nll_shoot_init(&nll_source);
	error = pci_register_driver(&nll_source_driver);
	if (!error)
		nll_debugfs_init(&nll_source);
	return error;
}
module_init(nll_source_init);

static void __exit nll_source_exit(void)
{
	nll_debugfs_exit();
	pci_unregister_driver(&nll_source_driver);
}
module_exit(nll_source_exit);

MODULE_DESCRIPTION("Source of frames for receivers on the same links");
MODULE_LICENSE("GPL");
