// SPDX-License-Identifier: GPL-2.0-only
/* /sys/class/net/DEVICE/nll: how a port receives. */

#include <linux/capability.h>
#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/rtnetlink.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/sysfs.h>
#include <linux/user_namespace.h>

#include "nll.h"

static const char * const nll_mode_names[NLL_MODES] = {
	[NLL_INTERRUPT] = "interrupt",
	[NLL_POLL] = "poll",
	[NLL_NAPI] = "napi",
};

/* A number: its field in struct nll_port, and its range. */
struct nll_number {
	struct device_attribute attr;
	size_t offset;
	unsigned int min;
	unsigned int max;
};

static struct nll_port *nll_port_of(struct device *dev)
{
	return netdev_priv(to_net_dev(dev));
}

static unsigned int *nll_value(struct device *dev, const struct nll_number *number)
{
	return (void *)nll_port_of(dev) + number->offset;
}

static bool nll_may_set(struct device *dev)
{
	return ns_capable(dev_net(to_net_dev(dev))->user_ns, CAP_NET_ADMIN);
}

static ssize_t nll_number_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nll_number *number = container_of(attr, struct nll_number, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*nll_value(dev, number)));
}

static ssize_t nll_number_store(struct device *dev, struct device_attribute *attr,
				const char *buf, size_t size)
{
	struct nll_number *number = container_of(attr, struct nll_number, attr);
	unsigned int value;
	int err;

	if (!nll_may_set(dev))
		return -EPERM;
	err = kstrtouint(buf, 10, &value);
	if (err)
		return -EINVAL;
	if (value < number->min || value > number->max)
		return -EINVAL;
	WRITE_ONCE(*nll_value(dev, number), value);
	return size;
}

#define NLL_NUMBER(name, low, high) {						\
	.attr = __ATTR(name, 0644, nll_number_show, nll_number_store),		\
	.offset = offsetof(struct nll_port, name),				\
	.min = low,								\
	.max = high,								\
}

static struct nll_number nll_quota = NLL_NUMBER(quota, 1, NLL_QUOTA_MAX);
static struct nll_number nll_poll_us = NLL_NUMBER(poll_us, NLL_POLL_MIN_US, NLL_POLL_MAX_US);

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n", nll_mode_names[READ_ONCE(nll_port_of(dev)->mode)]);
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t size)
{
	int mode = sysfs_match_string(nll_mode_names, buf);

	if (!nll_may_set(dev))
		return -EPERM;
	if (mode < 0)
		return -EINVAL;
	if (!rtnl_trylock())
		return restart_syscall();
	nll_port_set_mode(nll_port_of(dev), mode);
	rtnl_unlock();
	return size;
}
static DEVICE_ATTR_RW(mode);

static struct attribute *nll_attrs[] = {
	&dev_attr_mode.attr,
	&nll_quota.attr.attr,
	&nll_poll_us.attr.attr,
	NULL
};

const struct attribute_group nll_sysfs_group = {
	.name = "nll",
	.attrs = nll_attrs,
};
