/* SPDX-License-Identifier: GPL-2.0 */
/* program.h - other programs: where they are, and running them. */
#ifndef IPCLAT_PROGRAM_H
#define IPCLAT_PROGRAM_H

#include "types.h"

#define PATH_SIZE	192
#define WORDS_MAX	48U

/* A command line; its last word is followed by NULL. */
struct words {
	const char *word[WORDS_MAX];
	unsigned int count;
};

#define __sentinel	attribute(__sentinel__)

/* NULL ends what is added. */
void add_words(struct words *w, ...) __sentinel;

/* Where @name is: by PATH, unless it has a slash. False when it is no program. */
bool find_program(const char *name, char *path, size_t size);

/*
 * Run a program to its end; NULL ends its words. 0 when it was good. It gets a session
 * of its own: what interrupts us does not end it half-way.
 */
int call(const char *program, ...) __sentinel;
/* The same, and whatever it says is dropped. */
int call_quietly(const char *program, ...) __sentinel;
/* The same, with what it prints, cut off at @size, in @answer; complaints are dropped. */
int ask(char *answer, size_t size, const char *program, ...) __sentinel;

#endif /* IPCLAT_PROGRAM_H */
