/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tracefs.h - the kernel's tracing files. An instance is named by its name, the
 * top one by NULL; what cannot be written or read ends the program with
 * EXIT_FAILED and one line.
 */
#ifndef LAB_TRACEFS_H
#define LAB_TRACEFS_H

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

#endif /* LAB_TRACEFS_H */
