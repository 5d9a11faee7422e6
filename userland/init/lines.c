// SPDX-License-Identifier: GPL-2.0
/*
 * Standard error of a program, line by line into the kernel log
 *
 * Each line is marked with "| ": a program may quote a kernel's warning
 * without being taken for one.
 */
#include <stdio.h>
#include <string.h>

#include "init.h"

static void lines_flush(struct lines *lines)
{
	lines->text[lines->len] = '\0';
	if (lines->len)
		snprintf(lines->last, sizeof(lines->last), "%.*s",
			 (int)sizeof(lines->last) - 1, lines->text);
	log_line("| %s", lines->text);
	lines->len = 0;
}

void lines_feed(struct lines *lines, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = data[i];

		if (c == '\n') {
			lines_flush(lines);
			continue;
		}
		if (lines->len == sizeof(lines->text) - 1)
			lines_flush(lines);
		if (c == '\t')
			c = ' ';
		lines->text[lines->len++] = c < ' ' || c == 0x7f ? '?' : c;
	}
}

void lines_end(struct lines *lines)
{
	if (lines->len)
		lines_flush(lines);
}
