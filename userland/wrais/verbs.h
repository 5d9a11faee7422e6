/* SPDX-License-Identifier: GPL-2.0 */
/* verbs.h - the verbs of wrais; each gets the command line from the verb on. */
#ifndef WRAIS_VERBS_H
#define WRAIS_VERBS_H

#include "opts.h"

int verb_stat(int argc, char **argv);
int verb_switch(int argc, char **argv);
int verb_stalls(int argc, char **argv);

/* Those of all of wrais, whose --help has those of the verb, too. */
extern const struct opts wrais_opts, stat_opts, on_opts, off_opts, stalls_opts;

#endif /* WRAIS_VERBS_H */
