// SPDX-License-Identifier: GPL-2.0
/*
 * no_dlopen.c - a static program cannot load anything: a library's way to load extensions
 * ends here instead of in the C library (ld --wrap=dlopen).
 */
#include <stddef.h>

void *__wrap_dlopen(const char *file, int mode);

void *__wrap_dlopen(const char *file, int mode)
{
	(void)file;
	(void)mode;
	return NULL;
}
