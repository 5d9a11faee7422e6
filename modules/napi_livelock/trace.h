/* SPDX-License-Identifier: GPL-2.0-only */
/* Every switch of a port between interrupts and polling, and why. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM napi_livelock

#if !defined(NLL_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NLL_TRACE_H

#include <linux/math64.h>
#include <linux/tracepoint.h>

#include "nll.h"

/* Readers of traces know the numbers only. */
TRACE_DEFINE_ENUM(NLL_INTERRUPT);
TRACE_DEFINE_ENUM(NLL_POLL);
TRACE_DEFINE_ENUM(NLL_NAPI);
TRACE_DEFINE_ENUM(NLL_HYBRID);
TRACE_DEFINE_ENUM(NLL_DROPS);
TRACE_DEFINE_ENUM(NLL_HELD);
TRACE_DEFINE_ENUM(NLL_RING);
TRACE_DEFINE_ENUM(NLL_LIMIT);
TRACE_DEFINE_ENUM(NLL_CALM);
TRACE_DEFINE_ENUM(NLL_ASKED);

#define nll_show_mode(mode)							\
	__print_symbolic(mode, { NLL_INTERRUPT, "interrupt" }, { NLL_POLL, "poll" },	\
			 { NLL_NAPI, "napi" }, { NLL_HYBRID, "hybrid" })

#define nll_show_reason(reason)							\
	__print_symbolic(reason, { NLL_DROPS, "drops" }, { NLL_HELD, "held" },	\
			 { NLL_RING, "ring" }, { NLL_LIMIT, "limit" },		\
			 { NLL_CALM, "calm" }, { NLL_ASKED, "asked" })

/* The port's lock is held. */
TRACE_EVENT(nll_switch,
	    TP_PROTO(struct nll_port *port, enum nll_reason reason), TP_ARGS(port, reason),

	    TP_STRUCT__entry(__string(name, port->netdev->name)
			     __field(unsigned int, mode)
			     __field(unsigned int, reason)
			     __field(bool, polling)
			     __field(unsigned int, held)
			     __field(unsigned int, ring)
			     __field(unsigned int, hold_us)),

	    TP_fast_assign(__assign_str(name);
			   __entry->mode = port->strategy.mode;
			   __entry->reason = reason;
			   __entry->polling = port->strategy.polling;
			   __entry->held = nll_port_held(port);
			   __entry->ring = port->up ? nll_rx_waiting(port) : 0;
			   __entry->hold_us = div_u64(port->strategy.hold, NSEC_PER_USEC);),

	    TP_printk("dev=%s mode=%s to=%s reason=%s held=%u ring=%u hold_us=%u",
		      __get_str(name), nll_show_mode(__entry->mode),
		      __entry->polling ? "poll" : "interrupt",
		      nll_show_reason(__entry->reason), __entry->held, __entry->ring,
		      __entry->hold_us)
);

#endif /* NLL_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
