// SPDX-License-Identifier: GPL-2.0-only
/* /sys/class/net/DEVICE/nll: how a port receives. */

#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include "nll.h"

const struct nll_params nll_params_default = {
	.limit = 50,
	.high = 40,
	.low = 20,
	.quota = 32,
	.hold_us = 50000,
	.poll_us = 1000,
	.buffers = 160,
};

/* A number: where it is in struct nll_params, and what it may be. */
struct nll_attribute {
	struct device_attribute attr;
	size_t offset;
	unsigned int min;
	unsigned int max;
};

static struct nll_port *nll_port_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

static unsigned int *nll_param(struct nll_params *params, const struct nll_attribute *attribute)
{
	return (void *)params + attribute->offset;
}

static ssize_t nll_number_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nll_attribute *attribute = container_of(attr, struct nll_attribute, attr);

	return sysfs_emit(buf, "%u\n", *nll_param(&nll_port_of(dev)->params, attribute));
}

static ssize_t nll_number_store(struct device *dev, struct device_attribute *attr,
				const char *buf, size_t size)
{
	struct nll_attribute *attribute = container_of(attr, struct nll_attribute, attr);
	struct nll_port *port = nll_port_of(dev);
	struct nll_params params;
	unsigned long flags;
	unsigned int value;
	int err;

	err = kstrtouint(buf, 10, &value);
	if (err)
		return -EINVAL;
	if (value < attribute->min || value > attribute->max)
		return -EINVAL;

	spin_lock_irqsave(&port->lock, flags);
	params = port->params;
	*nll_param(&params, attribute) = value;
	if (params.low < params.high)
		port->params = params;
	else
		err = -EINVAL;
	spin_unlock_irqrestore(&port->lock, flags);
	return err ?: size;
}

#define NLL_NUMBER(name, low, high) {						\
	.attr = __ATTR(name, 0644, nll_number_show, nll_number_store),		\
	.offset = offsetof(struct nll_params, name),				\
	.min = low,								\
	.max = high,								\
}

static struct nll_attribute nll_limit = NLL_NUMBER(limit, 1, NLL_LIMIT_MAX);
static struct nll_attribute nll_high = NLL_NUMBER(high, 1, 100);
static struct nll_attribute nll_low = NLL_NUMBER(low, 0, 99);
static struct nll_attribute nll_quota = NLL_NUMBER(quota, 1, NLL_RING_MAX);
static struct nll_attribute nll_hold_us = NLL_NUMBER(hold_us, NLL_HOLD_MIN_US, NLL_HOLD_MAX_US);
static struct nll_attribute nll_poll_us = NLL_NUMBER(poll_us, NLL_POLL_MIN_US, NLL_POLL_MAX_US);
static struct nll_attribute nll_buffers = NLL_NUMBER(buffers, 32, 2048);

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", nll_mode_names[nll_port_of(dev)->strategy.mode]);
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t size)
{
	int mode = sysfs_match_string(nll_mode_names, buf);

	if (mode < 0)
		return -EINVAL;
	nll_port_set_mode(nll_port_of(dev), mode);
	return size;
}
static DEVICE_ATTR_RW(mode);

static ssize_t state_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nll_port *port = nll_port_of(dev);

	return sysfs_emit(buf, "%s\n", !READ_ONCE(port->up) ? "down" :
			  READ_ONCE(port->strategy.polling) ? "poll" : "interrupt");
}
static DEVICE_ATTR_RO(state);

static struct attribute *nll_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_state.attr,
	&nll_limit.attr.attr,
	&nll_high.attr.attr,
	&nll_low.attr.attr,
	&nll_quota.attr.attr,
	&nll_hold_us.attr.attr,
	&nll_poll_us.attr.attr,
	&nll_buffers.attr.attr,
	NULL
};

const struct attribute_group nll_sysfs_group = {
	.name = "nll",
	.attrs = nll_attrs,
};
