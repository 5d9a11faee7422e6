// SPDX-License-Identifier: GPL-2.0
/* memory.c - memory, or the end of the program with EXIT_FAILED and one line. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "args.h"
#include "memory.h"

static void *checked(void *memory)
{
	if (!memory)
		die(EXIT_FAILED, "no memory");
	return memory;
}

void *xmalloc(size_t size)
{
	return checked(malloc(size));
}

void *xcalloc(size_t count, size_t size)
{
	return checked(calloc(count, size));
}

void *xrealloc(void *old, size_t size)
{
	return checked(realloc(old, size));
}

char *xstrdup(const char *text)
{
	return checked(strdup(text));
}

void *xshared(size_t size)
{
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return checked(page == MAP_FAILED ? NULL : page);
}
