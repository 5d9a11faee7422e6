/* SPDX-License-Identifier: GPL-2.0 */
/*
 * opts.h - the options of a program as one table: a row is what the command line takes, what
 * is refused, where it goes, and what --help says of it.
 *
 *	static const struct opt rows[] = {
 *		HEADING("the frames:"),
 *		OPT('n', "--ports", "N", NUMBER(o.ports, 1, 8, 1), "cards, %r (%d)"),
 *		OPT(0, "--on", "MS", SCALED(o.on_ns, 1, 600000, 10, NSEC_PER_MSEC),
 *		    "how long frames are sent (%d),\nand none"),
 *		OPT(0, "--driver", "NAME", TEXT(o.driver, "e1000"), "of the cards (%d)"),
 *		OPT(0, "--hog", NULL, FLAG(o.hog), "run a hog", .given = &o.changed),
 *		OPT(0, "--set", "NAME=VALUE", CALL(add_set), "of each card"),
 *		{ }
 *	};
 *
 * --help and --version come by themselves, as the last ones. For completion there is
 * --help=words: a line for each row, "-n --ports|N", behind the bar the names that the value
 * may have, or what --help calls it; in the last line, without an option, what operands are.
 */
#ifndef LAB_OPTS_H
#define LAB_OPTS_H

#include "types.h"

enum opt_kind {
	OPT_NOTHING,		/* it is taken, and has no effect */
	OPT_FLAG,		/* @max goes to @to */
	OPT_NUMBER,		/* @min..@max, times @unit */
	OPT_DECIMAL,		/* the same; all but @unit in millionths */
	OPT_CHOICE,		/* the index in @names, and @min more */
	OPT_RATIO,		/* @room numbers of 1..@max at most; how many goes to @count */
	OPT_TEXT,
	OPT_CALL,
};

struct opt {
	const char *name;	/* with its "--"; NULL: a heading; "": the letter alone */
	char letter;		/* 0: none */
	const char *arg;	/* what --help calls the value; NULL: it has none */
	enum opt_kind kind;
	void *to;
	unsigned int size;	/* bytes there */
	u64 min;
	u64 max;
	u64 usual;		/* @to has it before the command line is read; 0: as it was */
	u64 unit;
	const char *text;	/* the usual value of a text or a call; NULL: none */
	const char *const *names;	/* ends with NULL */
	unsigned int *count;
	void (*call)(const struct opt *row, const char *value);
	const char *allowed;	/* in place of the range */
	/* NULL: not in --help; has %r for the range or the names, %d for what is usual */
	const char *help;
	bool *given;		/* set when the option is there */
	u32 tag;		/* for the program */
};

#define OPT(letter_, name_, arg_, kind_, ...) \
	{ .name = name_, .letter = letter_, .arg = arg_, kind_, .help = __VA_ARGS__ }
#define HEADING(help_)	{ .help = help_ }

/* Kinds; @d is a variable of any width, and @usual in units. */
#define TO(d)		.to = &(d), .size = sizeof(d)
#define NOTHING		.kind = OPT_NOTHING
#define FLAG(d)		SETS(d, true)
#define SETS(d, value)	.kind = OPT_FLAG, TO(d), .max = value
#define NUMBER(d, least, most, usually)	SCALED(d, least, most, usually, 1)
#define SCALED(d, least, most, usually, units) \
	.kind = OPT_NUMBER, TO(d), .min = least, .max = most, .usual = usually, .unit = units
#define DECIMAL(d, least, most, usually, units, range) \
	.kind = OPT_DECIMAL, TO(d), .min = least, .max = most, .usual = usually, \
	.unit = units, .allowed = range
#define CHOICE(d, names_, usually) \
	.kind = OPT_CHOICE, TO(d), .names = names_, .usual = usually
#define RATIO(d, most, count_) \
	.kind = OPT_RATIO, TO(d), .max = most, .count = &(count_)
#define TEXT(d, usually)	.kind = OPT_TEXT, TO(d), .text = usually
#define CALL(fn)	.kind = OPT_CALL, .call = fn
#define CALL_TO(fn, d)	.kind = OPT_CALL, .call = fn, TO(d)

/* Of programs with one kind of output: KTAP of the tests, JSON of others. */
#define KTAP_OPT	OPT(0, "--ktap", NULL, NOTHING, "no effect, the output is always KTAP")
#define JSON_OPT	OPT(0, "--json", NULL, NOTHING, "no effect, the output is always JSON")

/* What the --help of a test program ends with, for it has no manual page. */
#define TEST_TAIL \
"\n" \
"The exit status is 0 when all went well, 1 when a test failed, 2 for bad input (and\n" \
"nothing was changed), 3 when the kernel or the machine lacks what is tested, 4 when\n" \
"this machine can run none of the tests.\n"

#define OPERANDS_ANY	(~0U)

struct opts {
	const char *usage;	/* above the options in --help */
	const struct opt *rows;	/* ends with an empty one */
	const char *tail;	/* below them, NULL: nothing */
	unsigned int operands;	/* how many there may be */
	bool command;		/* the options end where the first operand is */
	const char *name;	/* of a verb; without one its usage is a heading in --help */
	/* Whose --help is printed for a verb, NULL: it has its own. */
	const struct opts *whole;
	/* Verbs, whose options are in this --help, too; ends with NULL. */
	const struct opts *const *verbs;
	/* Told of each option before it is taken, NULL: nothing is. */
	void (*seen)(const struct opt *row);
	/* For completion: what operands may be, as a row's value, and a function for more lines. */
	const char *operand;	/* FILE, COMMAND ... */
	const char *const *operand_names;	/* ends with NULL */
	void (*words)(char **typed);	/* gets what stands before */
};

/*
 * Read the command line; the index of the first operand, which is optind, too. Exits with
 * EXIT_USAGE when something on it is not allowed, and with EXIT_GOOD behind --help and
 * --version.
 */
int opts_parse(const struct opts *opts, int argc, char **argv);

#endif /* LAB_OPTS_H */
