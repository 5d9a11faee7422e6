/* SPDX-License-Identifier: GPL-2.0 */
/* ipclat.h - what was asked for, and what came of it. */
#ifndef IPCLAT_H
#define IPCLAT_H

#include <stdio.h>

#include "interval.h"
#include "side.h"

#define CHOSEN_MAX	64U
#define PERCENTILES_MAX	16U

enum form { FORM_TABLE, FORM_JSON, FORM_CSV };

/* A mechanism that was asked for, and what came of it. */
struct chosen {
	const struct mechanism *m;
	bool named;		/* by its own name: then it must be there */
	bool back;		/* the sides have changed their CPUs */
	const char *missing;	/* why it was not measured, NULL when it was */
	struct histogram *histogram;	/* cycles, as they were read */
	struct repeat *repeats;
	u32 measured;		/* how many of them */
};

struct percentile {
	const char *text;	/* as it was asked for */
	double q;
};

struct csv_file {
	const char *path;
	FILE *file;
};

struct options {
	struct settings s;
	struct chosen chosen[CHOSEN_MAX];
	unsigned int count;
	const char *list;	/* the text of --mechanism */
	bool available;		/* a name is no demand */
	bool both_ways;
	const char *policy;
	const char *cpus;	/* the text of --cpus */
	const char *side;
	u32 hogs;
	u32 hog_tickets;
	struct percentile percentile[PERCENTILES_MAX];
	unsigned int percentiles;
	struct csv_file histogram, repeats;
	enum form form;
	bool buckets;
};

/* Exits with EXIT_USAGE for anything that is not allowed. */
void parse_options(int argc, char **argv, struct options *o);

/* Names with commas between them; exits with EXIT_USAGE for one that there is not. */
void choose_list(struct options *o, const char *text);
const struct mechanism *find_mechanism(const char *name);
void __noreturn list_mechanisms(void);
/* Exits, with nothing measured, when one that must be there is not. */
void check_mechanisms(struct options *o);

#endif /* IPCLAT_H */
