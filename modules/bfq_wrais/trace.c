// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tracepoints of privileged I/O, in a file of their own because the code
 * that they expand to wants its own include path.
 */

#define CREATE_TRACE_POINTS
#include "trace.h"
