// SPDX-License-Identifier: GPL-2.0
/* nll-stick.c - stop the transmitter of an 82540EM behind the back of its driver. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "args.h"
#include "opts.h"
#include "types.h"

#define REGISTERS	0x20000
#define TCTL		0x400
#define TCTL_EN		2U

static void stick(const char *directory)
{
	char path[PATH_MAX];
	u32 *registers;
	int fd;

	snprintf(path, sizeof(path), "%s/resource0", directory);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0)
		die(EXIT_FAILED, "%s: %s", path, strerror(errno));
	registers = mmap(NULL, REGISTERS, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (registers == MAP_FAILED)
		die(EXIT_FAILED, "%s: %s", path, strerror(errno));
	registers += TCTL / sizeof(*registers);
	__atomic_store_n(registers, __atomic_load_n(registers, __ATOMIC_RELAXED) & ~TCTL_EN,
			 __ATOMIC_RELAXED);
	munmap(registers - TCTL / sizeof(*registers), REGISTERS);
	close(fd);
}

static const struct opts opts = {
	.usage =
"Usage: nll-stick DIRECTORY\n"
"\n"
"Stop the transmitter of an 82540EM behind the back of its driver: clear TCTL.EN\n"
"through the file resource0 of its directory in sysfs. For a virtual machine.\n"
"\n",
	.rows = (const struct opt []){ { } },
	.operands = OPERANDS_ANY,
};

int main(int argc, char **argv)
{
	args_init("nll-stick");
	if (opts_parse(&opts, argc, argv) + 1 != argc)
		die(EXIT_USAGE, "one directory is needed; see nll-stick --help");
	stick(argv[optind]);
	return EXIT_GOOD;
}
