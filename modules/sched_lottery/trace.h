/* SPDX-License-Identifier: GPL-2.0-only */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM sched_lottery

#if !defined(_SCHED_LOTTERY_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define _SCHED_LOTTERY_TRACE_H

#include <linux/tracepoint.h>

/*
 * All events have the CPU whose lottery it is, the task, its tickets, and the tickets and
 * tasks in the pool after the event.
 */
DECLARE_EVENT_CLASS(lottery_task,
		    TP_PROTO(struct rq *rq, struct task_struct *p), TP_ARGS(rq, p),

		    TP_STRUCT__entry(__field(int, cpu)
				     __field(pid_t, pid)
				     __array(char, comm, TASK_COMM_LEN)
				     __field(u64, tickets)
				     __field(u64, total)
				     __field(unsigned int, contenders)),

		    TP_fast_assign(__entry->cpu = cpu_of(rq);
				   __entry->pid = p->pid;
				   memcpy(__entry->comm, p->comm, TASK_COMM_LEN);
				   __entry->tickets = p->lottery.counted;
				   __entry->total = rq->lottery.owned;
				   __entry->contenders = lottery_entries(&rq->lottery);),

		    TP_printk("cpu=%d pid=%d comm=%s tickets=%llu total=%llu contenders=%u",
			      __entry->cpu, __entry->pid, __entry->comm, __entry->tickets,
			      __entry->total, __entry->contenders)
);

/* The task won a draw among the contenders, itself included. */
DEFINE_EVENT(lottery_task, lottery_draw,
	     TP_PROTO(struct rq *rq, struct task_struct *p), TP_ARGS(rq, p));

DEFINE_EVENT(lottery_task, lottery_enqueue,
	     TP_PROTO(struct rq *rq, struct task_struct *p), TP_ARGS(rq, p));

DEFINE_EVENT(lottery_task, lottery_dequeue,
	     TP_PROTO(struct rq *rq, struct task_struct *p), TP_ARGS(rq, p));

#endif /* _SCHED_LOTTERY_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
