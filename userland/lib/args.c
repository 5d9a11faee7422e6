// SPDX-License-Identifier: GPL-2.0
/* args.c - what every program does with its command line. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "files.h"

const char *args_program = LOG_NAME;

void args_init(const char *program)
{
	args_program = program;
	opterr = 0;
}

static void say(const char *format, va_list args)
{
	char prefix[64];

	fflush(stdout);
	snprintf(prefix, sizeof(prefix), "%s: ", args_program);
	write_line(STDERR_FILENO, prefix, format, args);
}

void complain(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

void die(enum exit_code code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	exit(code);
}

bool parse_number(const char *text, u64 min, u64 max, u64 *value)
{
	u64 number;
	char *end;

	/* strtoull() takes blanks and signs; a bare number has neither. */
	if (text[0] < '0' || text[0] > '9')
		return false;
	errno = 0;
	number = strtoull(text, &end, 10);
	if (errno || *end || number < min || number > max)
		return false;
	*value = number;
	return true;
}

u64 args_number(const char *what, const char *text, u64 min, u64 max)
{
	u64 value;

	if (!parse_number(text, min, max, &value))
		die(EXIT_USAGE, "%s: bad value '%s': allowed %llu..%llu",
		    what, text, min, max);
	return value;
}

bool parse_decimal(const char *text, u64 *value)
{
	char digits[32];
	size_t whole = strcspn(text, "."), part = 0;

	if (text[whole])
		part = strlen(text + whole + 1);
	if (!whole || part > 6 || (text[whole] && !part) || whole + 6 >= sizeof(digits))
		return false;
	memcpy(digits, text, whole);
	memset(digits + whole, '0', 6);
	memcpy(digits + whole, text + whole + 1, part);
	digits[whole + 6] = '\0';
	return parse_number(digits, 0, ~0ULL, value);
}

u64 args_decimal(const char *what, const char *text, u64 min, u64 max, const char *allowed)
{
	u64 value;

	if (!parse_decimal(text, &value) || value < min || value > max)
		die(EXIT_USAGE, "%s: bad value '%s': allowed %s", what, text, allowed);
	return value;
}

/* How many numbers with ':' between; 0 when there are too many or something else. */
static unsigned int parse_ratio(const char *text, u32 max, u32 *parts, unsigned int room)
{
	unsigned int count = 0;
	char word[16];
	u64 number;

	for (;;) {
		size_t length = strcspn(text, ":");

		if (length >= sizeof(word) || count == room)
			return 0;
		memcpy(word, text, length);
		word[length] = '\0';
		if (!parse_number(word, 1, max, &number))
			return 0;
		parts[count++] = (u32)number;
		if (!text[length])
			return count;
		text += length + 1;
	}
}

unsigned int args_ratio(const char *text, u32 max, u32 *parts, unsigned int room)
{
	unsigned int count = parse_ratio(text, max, parts, room);

	if (count < 2)
		die(EXIT_USAGE, "bad ratio '%s': allowed 2..%u numbers 1..%u with ':' between",
		    text, room, max);
	return count;
}

unsigned int args_choice(const char *what, const char *text,
			 const char *const *names)
{
	char allowed[256] = "";
	unsigned int i;

	for (i = 0; names[i]; i++) {
		size_t used = strlen(allowed);

		if (!strcmp(text, names[i]))
			return i;
		snprintf(allowed + used, sizeof(allowed) - used, "%s%s",
			 i ? ", " : "", names[i]);
	}
	die(EXIT_USAGE, "%s: bad value '%s': allowed %s", what, text, allowed);
}

void args_refuse(int c, char *const *argv)
{
	const char *word = argv[optind - 1];
	bool is_long = !strncmp(word, "--", 2);

	if (c == ':' && is_long)
		die(EXIT_USAGE, "option %s needs a value", word);
	if (c == ':')
		die(EXIT_USAGE, "option -%c needs a value", optopt);
	if (is_long || !optopt)
		die(EXIT_USAGE, "unknown or ambiguous option '%s', try --help", word);
	die(EXIT_USAGE, "unknown option '-%c', try --help", optopt);
}

void args_no_more(int argc, char *const *argv, int index)
{
	if (index < argc)
		die(EXIT_USAGE, "unexpected argument '%s', try --help", argv[index]);
}

void args_help(const char *text)
{
	fputs(text, stdout);
	finish_output();
	exit(EXIT_GOOD);
}

void args_version(void)
{
	printf("%s %s\n", args_program, LAB_VERSION);
	finish_output();
	exit(EXIT_GOOD);
}

void finish_output(void)
{
	if (fflush(stdout) || ferror(stdout))
		die(EXIT_FAILED, "cannot write the output: %s", strerror(errno));
}
