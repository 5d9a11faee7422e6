/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tracefs.h - the kernel's tracing files. An instance is named by its name, the
 * top one by NULL; what cannot be written or read ends the program with
 * EXIT_FAILED and one line.
 */
#ifndef LAB_TRACEFS_H
#define LAB_TRACEFS_H

#include <stdbool.h>

#include "types.h"

#define TRACEFS		"/sys/kernel/tracing"

/* Exits with EXIT_UNSUPPORTED when there is no tracefs. */
void tracefs_require(void);

void tracefs_path(char *path, size_t size, const char *instance, const char *file);
void tracefs_write(const char *instance, const char *file, const char *text);
void tracefs_append(const char *instance, const char *file, const char *text);
void tracefs_read(const char *instance, const char *file, char *text, size_t size);

/* A file of the top instance, of any length, into a new file. */
void tracefs_copy(const char *file, const char *to);

/* Lines of a trace: of the kernel, or of trace-cmd report without plugins. */

/* Longer ones are no event, and come in parts. */
#define TRACE_LINE_MAX	4096U

/*
 * What @line tells of @event (": sched_switch:"), and when; NULL if it is about another.
 * @now_ns is as exact as the trace.
 */
const char *trace_fields(const char *line, const char *event, u64 *now_ns);

/*
 * Hand each line of a recording, without its newline, to @take: of the file @path, or of the
 * standard input for "-". Exits with EXIT_FAILED where it cannot be read.
 */
void trace_read(const char *path, void (*take)(void *arg, const char *line), void *arg);

/*
 * Does @line say that events were lost: of the kernel, "CPU:1 [LOST 25 EVENTS]", or of
 * trace-cmd, "CPU:1 [25 EVENTS DROPPED]"? Adds how many to @lost, where it is known; else 1.
 */
bool trace_loses(const char *line, u64 *lost);

/* Say on stderr that so many were lost, if any were. */
void trace_complain(u64 lost);

/* The number behind @key, -1 when @text has no such number. */
long trace_number(const char *text, const char *key);

/* The CPU that wrote @line, "[003]", -1 when it does not say. */
int trace_cpu(const char *line);

#endif
