// SPDX-License-Identifier: GPL-2.0
/*
 * Lines of PID 1 in the kernel log
 *
 * Through /dev/kmsg a line is one record: it can neither tear a kernel message
 * nor be torn, and its order among the kernel's own is exact, so that a splat
 * between "lab: begin NAME" and "lab: end NAME" belongs to NAME.
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static int kmsg = -1;

void log_open(void)
{
	kmsg = open("/dev/kmsg", O_WRONLY | O_CLOEXEC);
}

void log_line(const char *fmt, ...)
{
	char text[900] = "<4>lab: ";
	size_t head = strlen(text);
	va_list args;

	va_start(args, fmt);
	vsnprintf(text + head, sizeof(text) - head - 1, fmt, args);
	va_end(args);
	strcat(text, "\n");
	write_all(kmsg < 0 ? STDERR_FILENO : kmsg, text, strlen(text));
}
