// SPDX-License-Identifier: GPL-2.0-only
/* /sys/class/net/DEVICE/governor: how a device receives, and its counters. */

#include <linux/device.h>
#include <linux/kstrtox.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/string.h>
#include <linux/sysfs.h>

#include <linux/nll/governor.h>

#include "decide.h"

static const char *const nll_governings[NLL_GOVERNINGS] = {
	[NLL_GOVERN_OFF]	= "off",
	[NLL_GOVERN_POLL]	= "poll",
	[NLL_GOVERN_AUTO]	= "auto",
};

static const char *const nll_whys[NLL_WHYS] = {
	[NLL_WHY_NONE]		= "interrupts",
	[NLL_WHY_ASKED]		= "asked",
	[NLL_WHY_WANTED]	= "wanted",
	[NLL_WHY_LIMIT]		= "limit",
	[NLL_WHY_HOT]		= "hot",
};

/* A number: its field in struct nll_governor_params, and its range. */
struct nll_number {
	struct device_attribute attr;
	size_t offset;
	unsigned int min;
	unsigned int max;
};

static unsigned int *nll_value(struct net_device *dev, const struct nll_number *number)
{
	return (void *)&dev->governor + number->offset;
}

static ssize_t nll_number_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct nll_number *number = container_of(attr, struct nll_number, attr);

	return sysfs_emit(buf, "%u\n", READ_ONCE(*nll_value(to_net_dev(dev), number)));
}

/*
 * The CPU's account is that of all devices, and the key that of the machine: the owner of a
 * network namespace alone may not change them.
 */
static bool nll_may_set(void)
{
	return capable(CAP_NET_ADMIN);
}

static ssize_t nll_number_store(struct device *dev, struct device_attribute *attr,
				const char *buf, size_t size)
{
	struct nll_number *number = container_of(attr, struct nll_number, attr);
	struct net_device *net = to_net_dev(dev);
	unsigned int value;
	int err;

	if (!nll_may_set())
		return -EPERM;
	err = kstrtouint(buf, 10, &value);
	if (err)
		return err;
	if (value < number->min || value > number->max)
		return -EINVAL;
	WRITE_ONCE(*nll_value(net, number), value);
	return size;
}

#define NLL_NUMBER(_name, _min, _max)						\
static struct nll_number nll_##_name = {					\
	.attr = __ATTR(_name, 0644, nll_number_show, nll_number_store),	\
	.offset = offsetof(struct nll_governor_params, _name),		\
	.min = _min,								\
	.max = _max,								\
}

NLL_NUMBER(limit, 1, 95);
NLL_NUMBER(high, NLL_HIGH_MIN, 100);
NLL_NUMBER(low, 1, NLL_HIGH_MIN - 1);
NLL_NUMBER(quota, 1, 4096);
NLL_NUMBER(round_us, NLL_ROUND_MIN_US, NLL_ROUND_MAX_US);
NLL_NUMBER(hold_us, NLL_GOVERN_HOLD_MIN_US, NLL_GOVERN_HOLD_MAX_US);

/* The key is on for as long as a device has something governed. */
static void nll_count_device(struct net_device *net)
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
		static_branch_inc(&nll_governor_key);
	else
		static_branch_dec(&nll_governor_key);
}

static ssize_t mode_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%s\n",
			  nll_governings[READ_ONCE(to_net_dev(dev)->governor.mode)]);
}

static ssize_t mode_store(struct device *dev, struct device_attribute *attr,
			  const char *buf, size_t size)
{
	struct net_device *net = to_net_dev(dev);
	int mode = sysfs_match_string(nll_governings, buf);
	struct napi_struct *n;

	if (!nll_may_set())
		return -EPERM;
	if (mode < 0)
		return mode;
	if (!rtnl_trylock())
		return restart_syscall();
	WRITE_ONCE(net->governor.mode, mode);
	list_for_each_entry(n, &net->napi_list, dev_list)
		if (nll_can_govern(n))
			WRITE_ONCE(n->governed.mode, mode);
	nll_count_device(net);
	rtnl_unlock();
	return size;
}

static DEVICE_ATTR_RW(mode);

/* The reason of an instance whose mode is off is not updated. */
static enum nll_why nll_why_of(const struct napi_struct *n)
{
	return READ_ONCE(n->governed.mode) ? READ_ONCE(n->governed.why) : NLL_WHY_NONE;
}

static ssize_t napi_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct net_device *net = to_net_dev(dev);
	struct napi_struct *n;
	ssize_t size = 0;

	if (!rtnl_trylock())
		return restart_syscall();
	list_for_each_entry(n, &net->napi_list, dev_list)
		if (nll_can_govern(n))
			size += sysfs_emit_at(buf, size, "%u %s %s\n", n->napi_id,
					      nll_governings[READ_ONCE(n->governed.mode)],
					      nll_whys[nll_why_of(n)]);
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

	if (!nll_may_set())
		return -EPERM;
	if (sscanf(buf, "%u %7s %c", &id, word, &more) != 2)
		return -EINVAL;
	mode = match_string(nll_governings, NLL_GOVERNINGS, word);
	if (mode < 0)
		return mode;
	if (!rtnl_trylock())
		return restart_syscall();
	list_for_each_entry(n, &net->napi_list, dev_list) {
		if (n->napi_id != id || !nll_can_govern(n))
			continue;
		WRITE_ONCE(n->governed.mode, mode);
		err = 0;
	}
	nll_count_device(net);
	rtnl_unlock();
	return err ?: size;
}

static DEVICE_ATTR_RW(napi);

static ssize_t stats_show(struct device *dev, struct device_attribute *attr, char *buf)
{
	struct net_device *net = to_net_dev(dev);
	u64 switches = 0, dropped = 0, rounds[NLL_WHYS] = { };
	struct napi_struct *n;
	ssize_t size;
	int why;

	if (!rtnl_trylock())
		return restart_syscall();
	list_for_each_entry(n, &net->napi_list, dev_list) {
		switches += READ_ONCE(n->governed.switches);
		/* Switched off in a round: by interrupts since. */
		switches += READ_ONCE(n->governed.why) != nll_why_of(n);
		dropped += READ_ONCE(n->governed.dropped);
		for (why = 0; why < NLL_WHYS; why++)
			rounds[why] += READ_ONCE(n->governed.rounds[why]);
	}
	rtnl_unlock();

	size = sysfs_emit(buf, "switches %llu\ndropped %llu\nsockets %u\n", switches, dropped,
			  READ_ONCE(nll_hot_nr));
	for (why = 0; why < NLL_WHYS; why++)
		size += sysfs_emit_at(buf, size, "%s %llu\n", nll_whys[why], rounds[why]);
	return size;
}

static DEVICE_ATTR_RO(stats);

static struct attribute *nll_attrs[] = {
	&dev_attr_mode.attr,
	&dev_attr_napi.attr,
	&dev_attr_stats.attr,
	&nll_limit.attr.attr,
	&nll_high.attr.attr,
	&nll_low.attr.attr,
	&nll_quota.attr.attr,
	&nll_round_us.attr.attr,
	&nll_hold_us.attr.attr,
	NULL
};

const struct attribute_group nll_governor_group = {
	.name = "governor",
	.attrs = nll_attrs,
};

/* A device is about to be registered. */
void nll_governor_init(struct net_device *dev)
{
	dev->governor = (struct nll_governor_params) {
		.limit = 50,
		.high = NLL_HIGH_DEFAULT,
		.low = NLL_LOW_DEFAULT,
		.quota = 64,
		.round_us = 200,
		.hold_us = 20000,
	};
}

/* A device goes, under RTNL; its files are gone. */
void nll_governor_exit(struct net_device *dev)
{
	if (dev->governor.on)
		static_branch_dec(&nll_governor_key);
	dev->governor.on = false;
}
