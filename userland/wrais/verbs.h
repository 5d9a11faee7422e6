/* SPDX-License-Identifier: GPL-2.0 */
/* verbs.h - the verbs of wrais; each gets the command line from the verb on. */
#ifndef WRAIS_VERBS_H
#define WRAIS_VERBS_H

#include "types.h"

int verb_stat(int argc, char **argv);
int verb_switch(int argc, char **argv);
int verb_stalls(int argc, char **argv);

/* The help text of all of wrais. */
extern const char wrais_usage[];

#endif /* WRAIS_VERBS_H */
