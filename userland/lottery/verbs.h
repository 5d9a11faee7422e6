/* SPDX-License-Identifier: GPL-2.0 */
/* verbs.h - lottery lend and lottery currency. */
#ifndef LOTTERY_VERBS_H
#define LOTTERY_VERBS_H

/* These take what comes after "lottery"; argv[0] is the verb. They become a command. */
int lottery_lend(int argc, char **argv, const char *usage);
/* Or show or change a cgroup: then an exit code. */
int lottery_currency(int argc, char **argv, const char *usage);

#endif /* LOTTERY_VERBS_H */
