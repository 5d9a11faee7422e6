// SPDX-License-Identifier: GPL-2.0
/* opts.c - the options of a program as one table. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "files.h"
#include "opts.h"

/* Where the texts of --help begin. */
#define COLUMN	24

/* What getopt_long returns for the first row. */
#define FIRST	256

/* Two a letter, and those in front. */
#define LETTERS_MAX	128

static const struct opt common[] = {
	OPT('h', "--help", NULL, NOTHING, "this text"),
	OPT('V', "--version", NULL, NOTHING, "the version"),
	{ }
};

static bool is_row(const struct opt *row)
{
	return row->name || row->help;
}

static bool is_option(const struct opt *row)
{
	return row->name;
}

/* Both architectures have the low bytes first. */
static void store(const struct opt *row, u64 value)
{
	memcpy(row->to, &value, row->size);
}

static void take_decimal(const struct opt *row, const char *value)
{
	store(row, args_decimal(row->name, value, row->min, row->max, row->allowed) * row->unit);
}

static void take(const struct opt *row, const char *value)
{
	switch (row->kind) {
	case OPT_NOTHING:
		break;
	case OPT_FLAG:
		store(row, row->max);
		break;
	case OPT_NUMBER:
		store(row, args_number(row->name, value, row->min, row->max) * row->unit);
		break;
	case OPT_DECIMAL:
		take_decimal(row, value);
		break;
	case OPT_CHOICE:
		store(row, args_choice(row->name, value, row->names) + row->min);
		break;
	case OPT_RATIO:
		*row->count = args_ratio(value, (u32)row->max, row->to, row->size / sizeof(u32));
		break;
	case OPT_TEXT:
		memcpy(row->to, &value, sizeof(value));
		break;
	case OPT_CALL:
		row->call(row, value);
		break;
	}
}

static void set_usual(const struct opt *row)
{
	if (row->usual)
		store(row, row->usual * (row->unit ? row->unit : 1));
	if (row->text)
		take(row, row->text);
}

/* What may be given. */
static void print_range(const struct opt *row)
{
	unsigned int i;

	if (row->allowed)
		fputs(row->allowed, stdout);
	else if (row->names)
		for (i = 0; row->names[i]; i++)
			printf("%s%s", i ? ", " : "", row->names[i]);
	else
		printf("%llu..%llu", row->min, row->max);
}

/* What it is without the option. */
static void print_usual(const struct opt *row)
{
	if (row->text)
		fputs(row->text, stdout);
	else if (row->names)
		fputs(row->names[row->usual], stdout);
	else if (row->kind == OPT_DECIMAL)
		printf("%.12g", (double)row->usual / MICRO);
	else
		printf("%llu", row->usual);
}

static void print_text(const struct opt *row)
{
	const char *c;

	for (c = row->help; *c; c++) {
		if (*c == '\n')
			printf("\n%*s", COLUMN, "");
		else if (!strncmp(c, "%r", 2))
			print_range(row);
		else if (!strncmp(c, "%d", 2))
			print_usual(row);
		else
			putchar(*c);
		c += !strncmp(c, "%r", 2) || !strncmp(c, "%d", 2);
	}
	putchar('\n');
}

static void print_row(const struct opt *row)
{
	int width;

	if (!row->help)
		return;
	if (!is_option(row)) {
		puts(row->help);
		return;
	}
	width = row->letter ? printf("  -%c, ", row->letter) : printf("      ");
	width += printf("%s%s%s", row->name, row->arg ? " " : "", row->arg ? row->arg : "");
	/* A text without room in this line begins with a new line, or two blanks behind it. */
	if (*row->help != '\n')
		printf("%*s", width < COLUMN ? COLUMN - width : 2, "");
	print_text(row);
}

static void print_rows(const struct opt *row)
{
	for (; is_row(row); row++)
		print_row(row);
}

static void __noreturn help(const struct opts *opts)
{
	const struct opts *const *verb;

	fputs(opts->usage, stdout);
	print_rows(opts->rows);
	print_rows(common);
	for (verb = opts->verbs; verb && *verb; verb++) {
		if (!(*verb)->name)
			fputs((*verb)->usage, stdout);
		else if (is_row((*verb)->rows))
			printf("\nOptions of %s:\n", (*verb)->name);
		print_rows((*verb)->rows);
	}
	args_help(opts->tail ? opts->tail : "");
}

static void print_names(const char *const *names)
{
	for (; names && *names; names++)
		printf("%s ", *names);
}

static void print_words(const struct opt *row)
{
	u64 number;

	for (; is_row(row); row++) {
		if (!is_option(row) || !row->help)
			continue;
		if (row->letter)
			printf("-%c ", row->letter);
		printf("%s|", row->name);
		print_names(row->names);
		/* few enough to be told one by one */
		if (row->kind == OPT_NUMBER && row->max - row->min < 10)
			for (number = row->min; number <= row->max; number++)
				printf("%llu ", number);
		else if (row->arg && !row->names)
			fputs(row->arg, stdout);
		putchar('\n');
	}
}

static void __noreturn words(const struct opts *opts, char **typed)
{
	const struct opts *const *verb, *chosen = opts;

	for (verb = opts->verbs; verb && *verb; verb++)
		if (*typed && (*verb)->name && !strcmp(*typed, (*verb)->name))
			chosen = *verb;
	print_words(chosen->rows);
	print_words(common);
	if (chosen->words)
		chosen->words(typed);
	putchar('|');
	for (verb = chosen->verbs; verb && *verb && !*typed; verb++)
		printf("%s ", (*verb)->name ? (*verb)->name : "");
	print_names(chosen->operand_names);
	puts(chosen->operand ? chosen->operand : "");
	args_help("");
}

/* What getopt_long is told of one row: its letter, and its long name as the next of @options. */
static void add(const struct opt *row, int value, struct option **options, char *letters)
{
	size_t length = strlen(letters);

	if (row->letter)
		snprintf(letters + length, 3, "%c%s", row->letter, row->arg ? ":" : "");
	if (*row->name)
		*(*options)++ = (struct option){ row->name + 2, !!row->arg, NULL, value };
}

/* The same of all; the space for the letters is enough. */
static struct option *add_all(const struct opts *opts, char *letters)
{
	const struct opt *row = opts->rows;
	struct option *options, *next;

	while (is_row(row))
		row++;
	next = xcalloc((size_t)(row - opts->rows) + ARRAY_SIZE(common), sizeof(*options));
	options = next;
	snprintf(letters, 3, "%s:", opts->command ? "+" : "");
	for (row = opts->rows; is_row(row); row++)
		if (is_option(row))
			add(row, FIRST + (int)(row - opts->rows), &next, letters);
	for (row = common; is_row(row); row++) {
		add(row, row->letter, &next, letters);
		next[-1].has_arg = row->letter == 'h' ? optional_argument : no_argument;
	}
	return options;
}

static const struct opt *find(const struct opts *opts, int c)
{
	const struct opt *row;

	if (c >= FIRST)
		return &opts->rows[c - FIRST];
	for (row = opts->rows; is_row(row); row++)
		if (is_option(row) && row->letter == c)
			return row;
	return NULL;
}

int opts_parse(const struct opts *opts, int argc, char **argv)
{
	char letters[LETTERS_MAX];
	struct option *options = add_all(opts, letters);
	const struct opt *row;
	int c;

	for (row = opts->rows; is_row(row); row++)
		if (is_option(row))
			set_usual(row);
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (c == 'h' && optarg && !strcmp(optarg, "words"))
			words(opts, argv + optind);
		if (c == 'h' && !optarg)
			help(opts->whole ? opts->whole : opts);
		if (c == 'V')
			args_version();
		row = find(opts, c);
		if (!row)
			args_refuse(c, argv);
		if (opts->seen)
			opts->seen(row);
		take(row, optarg);
		if (row->given)
			*row->given = true;
	}
	free(options);
	if (!opts->command && optind < argc && (unsigned int)(argc - optind) > opts->operands)
		args_no_more(argc, argv, optind + (int)opts->operands);
	return optind;
}
