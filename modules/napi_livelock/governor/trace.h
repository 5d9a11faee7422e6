/* SPDX-License-Identifier: GPL-2.0-only */
/* Every switch of an instance between interrupts and rounds, and why. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM rxgov

#if !defined(RXGOV_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define RXGOV_TRACE_H

#include <linux/netdevice.h>
#include <linux/tracepoint.h>

/* Readers of traces know the numbers only. */
TRACE_DEFINE_ENUM(RXGOV_WHY_NONE);
TRACE_DEFINE_ENUM(RXGOV_WHY_ASKED);
TRACE_DEFINE_ENUM(RXGOV_WHY_WANTED);
TRACE_DEFINE_ENUM(RXGOV_WHY_LIMIT);
TRACE_DEFINE_ENUM(RXGOV_WHY_HOT);

#define rxgov_show_why(why)							\
	__print_symbolic(why, { RXGOV_WHY_NONE, "interrupts" }, { RXGOV_WHY_ASKED, "asked" }, \
			 { RXGOV_WHY_WANTED, "wanted" }, { RXGOV_WHY_LIMIT, "limit" },	\
			 { RXGOV_WHY_HOT, "hot" })

/* The caller has NAPI_STATE_SCHED. */
TRACE_EVENT(rxgov_switch,
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
		      __get_str(name), __entry->napi, rxgov_show_why(__entry->why),
		      __entry->wanted, __entry->gap, __entry->delay)
);

/* Softirqs are off. */
TRACE_EVENT(rxgov_backlog,
	    TP_PROTO(unsigned int cpu, u64 deficit), TP_ARGS(cpu, deficit),

	    TP_STRUCT__entry(__field(unsigned int, cpu)
			     __field(u64, deficit)),

	    TP_fast_assign(__entry->cpu = cpu;
			   __entry->deficit = deficit;),

	    TP_printk("cpu=%u deficit_ns=%llu", __entry->cpu, __entry->deficit)
);

#endif /* RXGOV_TRACE_H */

/* This part must be outside protection */
#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
