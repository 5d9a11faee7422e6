// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of the class, in a file of their own because the code that
 * they expand to wants its own include path.
 */

#include <linux/mmu_context.h>

#include "sched.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
