// SPDX-License-Identifier: GPL-2.0
/* lottery top alone, for a machine that has its files elsewhere. */
#include "args.h"

int lottery_top(int argc, char **argv);

int main(int argc, char **argv)
{
	args_init("lottery");
	return lottery_top(argc, argv);
}
