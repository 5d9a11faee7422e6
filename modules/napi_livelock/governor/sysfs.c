// SPDX-License-Identifier: GPL-2.0-only
/* /sys/class/net/DEVICE/governor: how a device receives, and its counters. */

#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <linux/rxgov/governor.h>

#include "decide.h"

static const char *const rxgov_modes[RXGOV_MODES] = {
	[RXGOV_OFF]	= "off",
	[RXGOV_POLL]	= "poll",
	[RXGOV_AUTO]	= "auto",
};

static const char *const rxgov_whys[RXGOV_WHYS] = {
	[RXGOV_WHY_NONE]		= "interrupts",
	[RXGOV_WHY_ASKED]		= "asked",
	[RXGOV_WHY_WANTED]	= "wanted",
	[RXGOV_WHY_LIMIT]		= "limit",
	[RXGOV_WHY_HOT]		= "hot",
};

/* A number: its field in struct rxgov_params, and its range. */
struct rxgov_number {
	struct device_attribute attr;
	size_t offset;
	unsigned int min;
	unsigned int max;
};

static unsigned int *rxgov_value(struct net_device *dev, const struct rxgov_number *number)
{
	return (void *)&dev->governor + number->offset;
}

static ssize_t rxgov_number_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct rxgov_number *number = container_of(attr, struct rxgov_number, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*rxgov_value(to_net_dev(dev), number)));
}

/*
 * The CPU's account is that of all devices, and the key that of the machine: the owner of a
 * network namespace alone may not change them.
 */
static bool rxgov_may_set(void)
{
	return capable(CAP_NET_ADMIN);
}

static ssize_t rxgov_number_store(struct device *dev, struct device_attribute *attr,
				  const char *buf, size_t size)
{
	struct rxgov_number *number = container_of(attr, struct rxgov_number, attr);
	struct net_device *net = to_net_dev(dev);
	unsigned int value;
	int err;

	if (!rxgov_may_set())
		return -EPERM;
	err = kstrtouint(buf, 10, &value);
	if (err)
		return err;
	if (value < number->min || value > number->max)
		return -EINVAL;
	WRITE_ONCE(*rxgov_value(net, number), value);
	return size;
}

#define RXGOV_NUMBER(_name, _min, _max)						\
static struct rxgov_number rxgov_##_name = {					\
	.attr = __ATTR(_name, 0644, rxgov_number_show, rxgov_number_store),	\
	.offset = offsetof(struct rxgov_params, _name),		\
	.min = _min,								\
	.max = _max,								\
}

RXGOV_NUMBER(limit, 1, 95);
RXGOV_NUMBER(high, RXGOV_HIGH_MIN, 100);
RXGOV_NUMBER(low, 1, RXGOV_HIGH_MIN - 1);
RXGOV_NUMBER(quota, 1, 4096);
RXGOV_NUMBER(round_us, RXGOV_ROUND_MIN_US, RXGOV_ROUND_MAX_US);
RXGOV_NUMBER(hold_us, RXGOV_HOLD_MIN_US, RXGOV_HOLD_MAX_US);

/* The key is on for as long as a device has something governed. */
static void rxgov_count_device(struct net_device *net)
{
	bool on = net->governor.mode;
	struct napi_struct *n;

	ASSERT_RTNL();
	list_for_each_entry(n, &net->napi_list, dev_list)
		on |= n->governed.mode;
	if (on == net->governor.on)
		return;
	net->governor.on = on;
	if (on)
		static_branch_inc(&rxgov_key);
	else
		static_branch_dec(&rxgov_key);
}

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  rxgov_modes[READ_ONCE(to_net_dev(dev)->governor.mode)]);
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t size)
{
	struct net_device *net = to_net_dev(dev);
	int mode = sysfs_match_string(rxgov_modes, buf);
	struct napi_struct *n;

	if (!rxgov_may_set())
		return -EPERM;
	if (mode < 0)
		return mode;
	if (!rtnl_trylock())
		return restart_syscall();
	WRITE_ONCE(net->governor.mode, mode);
	list_for_each_entry(n, &net->napi_list, dev_list)
		if (rxgov_can_govern(n))
			WRITE_ONCE(n->governed.mode, mode);
	rxgov_count_device(net);
	rtnl_unlock();
	return size;
}

static DEVICE_ATTR_RW(mode);

/* The reason of an instance whose mode is off is not updated. */
static enum rxgov_why rxgov_why_of(const struct napi_struct *n)
{
	return READ_ONCE(n->governed.mode) ? READ_ONCE(n->governed.why) : RXGOV_WHY_NONE;
}

static ssize_t napi_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct net_device *net = to_net_dev(dev);
	struct napi_struct *n;
	ssize_t size = 0;

	if (!rtnl_trylock())
		return restart_syscall();
	list_for_each_entry(n, &net->napi_list, dev_list)
		if (rxgov_can_govern(n))
			size += sysfs_emit_at(buf, size, "%u %s %s\n", n->napi_id,
					      rxgov_modes[READ_ONCE(n->governed.mode)],
					      rxgov_whys[rxgov_why_of(n)]);
	rtnl_unlock();
	return size;
}

static ssize_t napi_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t size)
{
	struct net_device *net = to_net_dev(dev);
	struct napi_struct *n;
	int mode, err = -ENXIO;
	char word[8], more;
	unsigned int id;

	if (!rxgov_may_set())
		return -EPERM;
	if (sscanf(buf, "%u %7s %c", &id, word, &more) != 2)
		return -EINVAL;
	mode = match_string(rxgov_modes, RXGOV_MODES, word);
	if (mode < 0)
		return mode;
	if (!rtnl_trylock())
		return restart_syscall();
	list_for_each_entry(n, &net->napi_list, dev_list) {
		if (n->napi_id != id || !rxgov_can_govern(n))
			continue;
		WRITE_ONCE(n->governed.mode, mode);
		err = 0;
	}
	rxgov_count_device(net);
	rtnl_unlock();
	return err ?: size;
}

static DEVICE_ATTR_RW(napi);

static ssize_t stats_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct net_device *net = to_net_dev(dev);
	u64 switches = 0, dropped = 0, rounds[RXGOV_WHYS] = { };
	struct napi_struct *n;
	ssize_t size;
	int why;

	if (!rtnl_trylock())
		return restart_syscall();
	list_for_each_entry(n, &net->napi_list, dev_list) {
		switches += READ_ONCE(n->governed.switches);
		/* Switched off in a round: by interrupts since. */
		switches += READ_ONCE(n->governed.why) != rxgov_why_of(n);
		dropped += READ_ONCE(n->governed.dropped);
		for (why = 0; why < RXGOV_WHYS; why++)
			rounds[why] += READ_ONCE(n->governed.rounds[why]);
	}
	rtnl_unlock();

	size = sysfs_emit(buf, "switches %llu\ndropped %llu\nsockets %u\n", switches, dropped,
			  READ_ONCE(rxgov_hot_nr));
	for (why = 0; why < RXGOV_WHYS; why++)
		size += sysfs_emit_at(buf, size, "%s %llu\n", rxgov_whys[why], rounds[why]);
	return size;
}

static DEVICE_ATTR_RO(stats);

static struct attribute *rxgov_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_napi.attr,
	&dev_attr_stats.attr,
	&rxgov_limit.attr.attr,
	&rxgov_high.attr.attr,
	&rxgov_low.attr.attr,
	&rxgov_quota.attr.attr,
	&rxgov_round_us.attr.attr,
	&rxgov_hold_us.attr.attr,
	NULL
};

const struct attribute_group rxgov_group = {
	.name = "governor",
	.attrs = rxgov_attrs,
};

/* A device is about to be registered. */
void rxgov_init(struct net_device *dev)
{
	dev->governor = (struct rxgov_params) {
		.limit = 50,
		.high = RXGOV_HIGH_DEFAULT,
		.low = RXGOV_LOW_DEFAULT,
		.quota = 64,
		.round_us = 200,
		.hold_us = 20000,
	};
}

/* A device goes, under RTNL; its files are gone. */
void rxgov_exit(struct net_device *dev)
{
	if (dev->governor.on)
		static_branch_dec(&rxgov_key);
	dev->governor.on = false;
}
