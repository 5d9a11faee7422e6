/* SPDX-License-Identifier: GPL-2.0 */
/* memory.h - memory, or the end of the program with EXIT_FAILED and one line. */
#ifndef LAB_MEMORY_H
#define LAB_MEMORY_H

#include <stddef.h>

void *xmalloc(size_t size);
void *xcalloc(size_t count, size_t size);
void *xrealloc(void *old, size_t size);
char *xstrdup(const char *text);

/* Zeros that a process shares with those that it forks; given back by munmap(2). */
void *xshared(size_t size);

#endif /* LAB_MEMORY_H */
