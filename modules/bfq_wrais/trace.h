/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM wrais

#if !defined(_WRAIS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _WRAIS_TRACE_H

#include <linux/blkdev.h>
#include <linux/fs.h>
#include <linux/tracepoint.h>
#include <linux/wrais/part.h>

#include "waits.h"

TRACE_DEFINE_ENUM(WRAIS_DIRTY_BREAKS);
TRACE_DEFINE_ENUM(WRAIS_DIRTY_NAPS);
TRACE_DEFINE_ENUM(WRAIS_DIRTY_RELEASES);
TRACE_DEFINE_ENUM(WRAIS_INHERITS);
TRACE_DEFINE_ENUM(WRAIS_FLOOR_TURNS);
TRACE_DEFINE_ENUM(WRAIS_THINK_TURNS);
TRACE_DEFINE_ENUM(WRAIS_RANDOM_TURNS);
TRACE_DEFINE_ENUM(WRAIS_FELLOW_TURNS);
TRACE_DEFINE_ENUM(WRAIS_OVERDUE_TURNS);
TRACE_DEFINE_ENUM(WRAIS_LATE_TURNS);
TRACE_DEFINE_ENUM(WRAIS_FOR_FLUSHER);
TRACE_DEFINE_ENUM(WRAIS_FOR_FOLIO);
TRACE_DEFINE_ENUM(WRAIS_FOR_METADATA);
TRACE_DEFINE_ENUM(WRAIS_FOR_TAG);
TRACE_DEFINE_ENUM(WRAIS_FOR_JOURNAL);

/* A request of the queue of @pid goes out of turn. */
TRACE_EVENT(wrais_turn,
	    TP_PROTO(struct request_queue *q, pid_t pid, enum wrais_event why),
	    TP_ARGS(q, pid, why),

	    TP_STRUCT__entry(__field(dev_t, dev)
			     __field(pid_t, pid)
			     __field(int, why)),

	    TP_fast_assign(__entry->dev = q->disk ? disk_devt(q->disk) : 0;
			   __entry->pid = pid;
			   __entry->why = why;),

	    TP_printk("dev=%d:%d pid=%d why=%s", MAJOR(__entry->dev),
		      MINOR(__entry->dev), __entry->pid,
		      __print_symbolic(__entry->why,
				       { WRAIS_INHERITS, "inherit" },
				       { WRAIS_FLOOR_TURNS, "floor" },
				       { WRAIS_RANDOM_TURNS, "random" },
				       { WRAIS_FELLOW_TURNS, "fellow" },
				       { WRAIS_OVERDUE_TURNS, "overdue" },
				       { WRAIS_LATE_TURNS, "late" },
				       { WRAIS_THINK_TURNS, "think" }))
);

/* The verdict on a writer that is to be throttled; pages. */
TRACE_EVENT(wrais_throttle,
	    TP_PROTO(enum wrais_event verdict, unsigned long dirty, unsigned long thresh),
	    TP_ARGS(verdict, dirty, thresh),

	    TP_STRUCT__entry(__field(int, verdict)
			     __field(unsigned long, dirty)
			     __field(unsigned long, thresh)),

	    TP_fast_assign(__entry->verdict = verdict;
			   __entry->dirty = dirty;
			   __entry->thresh = thresh;),

	    TP_printk("verdict=%s dirty=%lu thresh=%lu",
		      __print_symbolic(__entry->verdict,
				       { WRAIS_DIRTY_BREAKS, "pass" },
				       { WRAIS_DIRTY_NAPS, "nap" },
				       { WRAIS_DIRTY_RELEASES, "release" }),
		      __entry->dirty, __entry->thresh)
);

/* A privileged task begins to wait for others, or has waited. */
TRACE_EVENT(wrais_wait,
	    TP_PROTO(enum wrais_wait what, bool begins),
	    TP_ARGS(what, begins),

	    TP_STRUCT__entry(__field(int, what)
			     __field(bool, begins)),

	    TP_fast_assign(__entry->what = what;
			   __entry->begins = begins;),

	    TP_printk("what=%s %s",
		      __print_symbolic(__entry->what,
				       { WRAIS_FOR_FLUSHER, "flusher" },
				       { WRAIS_FOR_FOLIO, "folio" },
				       { WRAIS_FOR_METADATA, "metadata" },
				       { WRAIS_FOR_TAG, "tag" },
				       { WRAIS_FOR_JOURNAL, "journal" }),
		      __entry->begins ? "begins" : "ends")
);

#endif /* _WRAIS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
