/* SPDX-License-Identifier: GPL-2.0 */
/* files.h - lines, whole files, pipes: what read(2) and write(2) do in parts. */
#ifndef LAB_FILES_H
#define LAB_FILES_H

#include <stdarg.h>
#include <stddef.h>

#include "types.h"

/* Write all of @data; 0 or -errno. */
int write_all(int fd, const void *data, size_t size);

/*
 * @prefix, the text and a newline with one write(2), so that lines of several
 * processes do not mix; what is longer than a record of /dev/kmsg is cut.
 * 0 or -errno.
 */
int write_line(int fd, const char *prefix, const char *format, va_list args);

/* Copy the file @path, of any length, to @to; how many bytes, or -errno. */
s64 copy_file(const char *path, int to);

/* Memory, or the end of the program with EXIT_FAILED and one line. */

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);

/* Zeros that a process shares with those that it forks; given back by munmap(2). */
void *xshared(size_t size);

#endif
