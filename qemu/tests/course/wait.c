// SPDX-License-Identifier: GPL-2.0
/*
 * wait.c - waits for its own records alone.
 *
 * wait FILE: save three records, each of which is on the disk before the next one is begun.
 */
#include <stdio.h>
#include <unistd.h>

#define RECORDS	3

int main(int argc, char **argv)
{
	FILE *file = argc == 2 ? fopen(argv[1], "w") : NULL;
	int i;

	if (!file)
		return 1;
	for (i = 1; i <= RECORDS; i++) {
		fprintf(file, "record %d\n", i);
		fflush(file);
		if (fdatasync(fileno(file)))
			return 1;
	}
	return fclose(file) ? 1 : 0;
}
