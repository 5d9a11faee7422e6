/* SPDX-License-Identifier: GPL-2.0-only */
/* Every switch of an instance between interrupts and rounds, and why. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM net_governor

#if !defined(NLL_GOVERNOR_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NLL_GOVERNOR_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

/* Readers of traces know the numbers only. */
TRACE_DEFINE_ENUM(NLL_WHY_NONE);
TRACE_DEFINE_ENUM(NLL_WHY_ASKED);
TRACE_DEFINE_ENUM(NLL_WHY_WANTED);
TRACE_DEFINE_ENUM(NLL_WHY_LIMIT);
TRACE_DEFINE_ENUM(NLL_WHY_HOT);

#define nll_show_why(why)							\
	__print_symbolic(why, { NLL_WHY_NONE, "interrupts" }, { NLL_WHY_ASKED, "asked" }, \
			 { NLL_WHY_WANTED, "wanted" }, { NLL_WHY_LIMIT, "limit" },	\
			 { NLL_WHY_HOT, "hot" })

/* The caller has NAPI_STATE_SCHED. */
TRACE_EVENT(nll_governor_switch,
	    TP_PROTO(const struct napi_struct *n, u64 delay), TP_ARGS(n, delay),

	    TP_STRUCT__entry(__string(name, n->dev->name)
			     __field(unsigned int, napi)
			     __field(unsigned int, why)
			     __field(unsigned int, wanted)
			     __field(u64, gap)
			     __field(u64, delay)),

	    TP_fast_assign(__assign_str(name);
			   __entry->napi = n->napi_id;
			   __entry->why = n->governed.why;
			   __entry->wanted = n->governed.wanted;
			   __entry->gap = n->governed.gap;
			   __entry->delay = delay;),

	    TP_printk("dev=%s napi=%u why=%s wanted=%u/256 gap_ns=%llu delay_ns=%llu",
		      __get_str(name), __entry->napi, nll_show_why(__entry->why),
		      __entry->wanted, __entry->gap, __entry->delay)
);

/* Softirqs are off. */
TRACE_EVENT(nll_governor_backlog,
	    TP_PROTO(unsigned int cpu, u64 owed), TP_ARGS(cpu, owed),

	    TP_STRUCT__entry(__field(unsigned int, cpu)
			     __field(u64, owed)),

	    TP_fast_assign(__entry->cpu = cpu;
			   __entry->owed = owed;),

	    TP_printk("cpu=%u owed_ns=%llu", __entry->cpu, __entry->owed)
);

#endif /* NLL_GOVERNOR_TRACE_H */

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
