// SPDX-License-Identifier: GPL-2.0-only
/*
 * The switches and knobs in /proc/sys/kernel/wrais.
 */

#include <linux/init.h>
#include <linux/sysctl.h>

#include "internal.h"

#define WRAIS_SWITCH(_name, _part) {				\
	.procname	= _name,				\
	.data		= &wrais_keys[_part],			\
	.mode		= 0644,					\
	.proc_handler	= proc_do_static_key,			\
}

#define WRAIS_KNOB(_name, _variable, _min, _max) {		\
	.procname	= _name,				\
	.data		= &(_variable),				\
	.maxlen		= sizeof(unsigned int),			\
	.mode		= 0644,					\
	.proc_handler	= proc_douintvec_minmax,		\
	.extra1		= &wrais_limits[_min],			\
	.extra2		= &wrais_limits[_max],			\
}

enum wrais_limit {
	LIMIT_ZERO,
	LIMIT_ONE,
	LIMIT_HEADROOM_PCT,
	LIMIT_FLOOR_PCT,
	LIMIT_RANDOM_PCT,
	LIMIT_NAP_MS,
	LIMIT_WINDOW_MIN_MS,
	LIMIT_WINDOW_MAX_MS,
};

static unsigned int wrais_limits[] = {
	[LIMIT_ZERO]		= 0,
	[LIMIT_ONE]		= 1,
	[LIMIT_HEADROOM_PCT]	= 25,
	[LIMIT_FLOOR_PCT]	= 50,
	[LIMIT_RANDOM_PCT]	= 100,
	[LIMIT_NAP_MS]		= 200,
	[LIMIT_WINDOW_MIN_MS]	= 1000,
	[LIMIT_WINDOW_MAX_MS]	= 300000,
};

static struct ctl_table wrais_table[] = {
	WRAIS_SWITCH("enabled", WRAIS_ENABLED),
	WRAIS_SWITCH("raise", WRAIS_RAISE),
	WRAIS_SWITCH("floor", WRAIS_FLOOR),
	WRAIS_KNOB("floor_pct", wrais_floor_pct, LIMIT_ZERO, LIMIT_FLOOR_PCT),
	WRAIS_KNOB("floor_window_ms", wrais_floor_window_ms,
		   LIMIT_WINDOW_MIN_MS, LIMIT_WINDOW_MAX_MS),
	WRAIS_KNOB("random_pct", wrais_random_pct, LIMIT_ONE, LIMIT_RANDOM_PCT),
#ifdef CONFIG_BFQ_WRAIS_DIRTY
	WRAIS_SWITCH("dirty", WRAIS_DIRTY),
	WRAIS_KNOB("dirty_headroom_pct", wrais_headroom_pct,
		   LIMIT_ONE, LIMIT_HEADROOM_PCT),
	WRAIS_KNOB("nap_ms", wrais_nap_ms, LIMIT_ONE, LIMIT_NAP_MS),
#endif
#ifdef CONFIG_BFQ_WRAIS_TAGS
	WRAIS_SWITCH("tags", WRAIS_TAGS),
#endif
#ifdef CONFIG_BFQ_WRAIS_COPY
	WRAIS_SWITCH("copy_out", WRAIS_COPY_OUT),
#endif
#ifdef CONFIG_BFQ_WRAIS_JOIN
	WRAIS_SWITCH("join", WRAIS_JOIN),
#endif
#ifdef CONFIG_BFQ_WRAIS_FLUSHER
	WRAIS_SWITCH("flusher", WRAIS_FLUSHER),
#endif
#ifdef CONFIG_BFQ_WRAIS_INHERIT
	WRAIS_SWITCH("inherit", WRAIS_INHERIT),
#endif
};

static int __init wrais_sysctl_init(void)
{
	return register_sysctl("kernel/wrais", wrais_table) ? 0 : -ENOMEM;
}
subsys_initcall(wrais_sysctl_init);
