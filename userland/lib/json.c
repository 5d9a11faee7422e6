// SPDX-License-Identifier: GPL-2.0
/* json.c - JSON on stdout, one object a line. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "json.h"

/* What is open: objects and lists, from the line's own object on. */
static struct level {
	char end;
	bool later;		/* a member has been written already */
} levels[JSON_DEPTH_MAX];

static unsigned int depth;

const char *json_tool;

/* The length of the UTF-8 sequence at @s, 0 when it is not one. */
static unsigned int utf8_length(const unsigned char *s)
{
	unsigned int i, length;

	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	length = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	for (i = 1; i < length; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond U+10FFFF */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

/* Print the character at @s; returns how many bytes it took. */
static unsigned int put_character(const unsigned char *s)
{
	unsigned int length;

	if (*s == '"' || *s == '\\') {
		printf("\\%c", *s);
		return 1;
	}
	if (*s < 0x20 || *s == 0x7f) {
		printf("\\u%04x", *s);
		return 1;
	}
	if (*s < 0x80) {
		putchar(*s);
		return 1;
	}
	length = utf8_length(s);
	if (!length) {
		fputs("\\ufffd", stdout);
		return 1;
	}
	fwrite(s, 1, length, stdout);
	return length;
}

static void put_string(const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	putchar('"');
	while (*s)
		s += put_character(s);
	putchar('"');
}

static void put_key(const char *key)
{
	struct level *level = &levels[depth - 1];

	if (level->later)
		putchar(',');
	level->later = true;
	/* members of a list have none */
	if (!key)
		return;
	put_string(key);
	putchar(':');
}

static void open_level(char begin, char end)
{
	if (depth == ARRAY_SIZE(levels))
		die(EXIT_FAILED, "more than %u levels of JSON", JSON_DEPTH_MAX);
	levels[depth++] = (struct level){ .end = end };
	putchar(begin);
}

void json_open(void)
{
	depth = 0;
	open_level('{', '}');
	json_text("tool", json_tool ? json_tool : args_program);
}

void json_object(const char *key)
{
	put_key(key);
	open_level('{', '}');
}

void json_list(const char *key)
{
	put_key(key);
	open_level('[', ']');
}

void json_end(void)
{
	putchar(levels[--depth].end);
}

void json_text(const char *key, const char *value)
{
	put_key(key);
	put_string(value);
}

void json_number(const char *key, u64 value)
{
	put_key(key);
	printf("%llu", value);
}

void json_signed(const char *key, s64 value)
{
	put_key(key);
	printf("%lld", value);
}

void json_real(const char *key, double value)
{
	put_key(key);
	if (isfinite(value))
		printf("%.9g", value);
	else
		fputs("null", stdout);
}

void json_seconds(const char *key, u64 ns)
{
	put_key(key);
	printf("%llu.%09llu", ns / NSEC_PER_SEC, ns % NSEC_PER_SEC);
}

void json_bool(const char *key, bool value)
{
	put_key(key);
	fputs(value ? "true" : "false", stdout);
}

void json_close(void)
{
	while (depth)
		json_end();
	putchar('\n');
	finish_output();
}
