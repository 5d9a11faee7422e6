// SPDX-License-Identifier: GPL-2.0
/* ipclat_place.c - where the sides are put on a machine with eight CPUs. */
#include "../../../userland/ipclat/place.h"

#include <stdio.h>

#include "affinity.h"
#include "args.h"

unsigned int allowed_cpus(unsigned int *cpus, unsigned int room)
{
	unsigned int cpu;

	for (cpu = 0; cpu < 8 && cpu < room; cpu++)
		cpus[cpu] = cpu;
	return cpu;
}

int main(int argc, char **argv)
{
	s32 cpu[SIDES];

	args_init("place");
	args_no_more(argc, argv, 2);
	place_sides(argv[1], cpu);
	printf("%d %d\n", cpu[SENDER], cpu[RECEIVER]);
	return EXIT_GOOD;
}
