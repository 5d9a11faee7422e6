/* SPDX-License-Identifier: GPL-2.0 */
/*
 * args.h - what every program does with its command line: one-line errors,
 * exit codes, strict numbers.
 */
#ifndef LAB_ARGS_H
#define LAB_ARGS_H

#include "protocol.h"
#include "types.h"

#define LAB_VERSION	"1.0"

enum exit_code {
	EXIT_GOOD = 0,
	EXIT_FAILED = STATUS_FAILED,	/* a check failed, or the work could not be done */
	EXIT_USAGE = 2,		/* bad input; nothing was changed */
	EXIT_UNSUPPORTED = 3,	/* the running kernel lacks something */
	EXIT_SKIPPED = STATUS_SKIPPED,	/* in a guest: this machine cannot run it */
};

enum output {
	OUTPUT_TABLE,
	OUTPUT_JSON,
	OUTPUT_KTAP,
};

extern const char *args_program;

/* Remember the name that starts every message. */
void args_init(const char *program);

/* "PROGRAM: message" on stderr. */
void complain(const char *format, ...) __printf(1, 2);

/* The same, then exit with @code. */
void __noreturn die(enum exit_code code, const char *format, ...) __printf(2, 3);

/*
 * A decimal number and nothing else (no sign, no blanks, no unit). Exits with
 * EXIT_USAGE, naming @what, the value and the range, when it is anything else
 * or outside @min..@max.
 */
u64 args_number(const char *what, const char *text, u64 min, u64 max);

/* The same without the exit: false when @text is not such a number. */
bool parse_number(const char *text, u64 min, u64 max, u64 *value);

#define MICRO	1000000ULL

/* A decimal number with up to six digits behind the point, in millionths: the same two. */
bool parse_decimal(const char *text, u64 *value);
u64 args_decimal(const char *what, const char *text, u64 min, u64 max, const char *allowed);

/*
 * The parts of a ratio (10:1, 3:2:1 ...), 2..@room numbers 1..@max; how many. Exits with
 * EXIT_USAGE when @text is not a ratio.
 */
unsigned int args_ratio(const char *text, u32 max, u32 *parts, unsigned int room);

/* The index of @text in @names (ends with NULL); exits with EXIT_USAGE. */
unsigned int args_choice(const char *what, const char *text,
			 const char *const *names);

/* For getopt_long's '?' and ':' (the option string starts with ':'). */
void __noreturn args_refuse(int c, char *const *argv);

/* Exits with EXIT_USAGE when operands are left over from @index on. */
void args_no_more(int argc, char *const *argv, int index);

void __noreturn args_help(const char *text);
void __noreturn args_version(void);

/* Exits with EXIT_FAILED when what was printed did not reach its reader. */
void finish_output(void);

#endif /* LAB_ARGS_H */
