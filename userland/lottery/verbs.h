/* SPDX-License-Identifier: GPL-2.0 */
/* verbs.h - the verbs of lottery. */
#ifndef LOTTERY_VERBS_H
#define LOTTERY_VERBS_H

#include "opts.h"

/* Those of all of lottery, whose --help has those of the verbs, too. */
extern const struct opts lottery_opts, top_opts, lend_opts, currency_opts;

#define TOP_SYNOPSIS \
"lottery top [-d S] [-n N] [-s KEY] [-b] [--json]\n" \
"       lottery top --trace FILE [-s KEY] [--json]\n"

/* They take what comes after "lottery"; argv[0] is the verb. Exit codes. */
int lottery_top(int argc, char **argv);
/* This one becomes a command, ... */
int lottery_lend(int argc, char **argv);
/* ... and this one, too, or it shows or changes a cgroup. */
int lottery_currency(int argc, char **argv);

#endif /* LOTTERY_VERBS_H */
