/* SPDX-License-Identifier: GPL-2.0 */
/* lend_tool.h - lottery lend: a command whose tickets work while it waits. */
#ifndef LOTTERY_LEND_TOOL_H
#define LOTTERY_LEND_TOOL_H

#include "types.h"

/* The subcommand, argv[0] is its name; it becomes the command. */
int lottery_lend(int argc, char **argv, const char *usage);

#endif /* LOTTERY_LEND_TOOL_H */
