// SPDX-License-Identifier: GPL-2.0
/*
 * Entries that need no program: without the root image there is
 * neither a shell nor a cat
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init.h"
#include "kmod.h"

#define EXIT_BAD	1
#define EXIT_USAGE	2
#define EXIT_SKIP	4

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
/* kmemleak keeps quiet about an object that is younger than 5 s. */
#define KMEMLEAK_AGE_MS	5200

/* @cat FILE: the file as the output of the entry */
static int builtin_cat(char **argv)
{
	size_t len;
	char *text = read_file(argv[1], &len);

	if (!text) {
		dprintf(STDERR_FILENO, "%s: %s\n", argv[1], strerror(errno));
		return EXIT_BAD;
	}
	return write_all(STDOUT_FILENO, text, len) ? EXIT_BAD : 0;
}

/*
 * @kmemleak: bad if kmemleak suspects a leak. It takes two scans: an object
 * whose checksum changed since the last one is given the benefit of the doubt.
 */
static int builtin_kmemleak(char **argv)
{
	char *text;
	int err;

	(void)argv;
	err = write_file(KMEMLEAK, "scan\n");
	if (err == -ENOENT) {
		dprintf(STDERR_FILENO, "this kernel has no kmemleak\n");
		return EXIT_SKIP;
	}
	pause_ms(KMEMLEAK_AGE_MS);
	if (!err)
		err = write_file(KMEMLEAK, "scan\n");
	text = err ? NULL : read_file(KMEMLEAK, NULL);
	if (!text) {
		dprintf(STDERR_FILENO, KMEMLEAK ": %s\n", strerror(err ? -err : errno));
		return EXIT_BAD;
	}
	write_all(STDOUT_FILENO, text, strlen(text));
	return *text ? EXIT_BAD : 0;
}

/* @insmod NAME [PARAM=VALUE ...]: a module that the host put into the guest */
static int builtin_insmod(char **argv)
{
	char params[512] = "";
	size_t len = 0;
	int err;

	for (char **param = argv + 2; *param && len < sizeof(params); param++)
		len += snprintf(params + len, sizeof(params) - len, "%s ", *param);
	err = len < sizeof(params) ? module_load(argv[1], params) : -E2BIG;
	if (!err)
		return 0;
	dprintf(STDERR_FILENO, "%s/%s.ko: %s\n", MODULE_DIR, argv[1], strerror(-err));
	return EXIT_BAD;
}

/* @rmmod NAME */
static int builtin_rmmod(char **argv)
{
	int err = module_unload(argv[1]);

	if (!err)
		return 0;
	dprintf(STDERR_FILENO, "%s: %s\n", argv[1], strerror(-err));
	return EXIT_BAD;
}

static const struct builtin {
	const char *name;
	int min_args;
	int max_args;
	int (*run)(char **argv);
} builtins[] = {
	{ "@cat", 1, 1, builtin_cat },
	{ "@insmod", 1, INT_MAX, builtin_insmod },
	{ "@kmemleak", 0, 0, builtin_kmemleak },
	{ "@rmmod", 1, 1, builtin_rmmod },
};

static const char usage[] = "@cat FILE, @insmod NAME [PARAM=VALUE ...], @kmemleak, @rmmod NAME";

int builtin_run(char **argv)
{
	int nr_args = 0;

	while (argv[nr_args + 1])
		nr_args++;
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		const struct builtin *b = &builtins[i];

		if (!strcmp(b->name, argv[0]) && nr_args >= b->min_args && nr_args <= b->max_args)
			return b->run(argv);
	}
	dprintf(STDERR_FILENO, "%s with %d arguments: no such builtin (%s)\n", argv[0], nr_args,
		usage);
	return EXIT_USAGE;
}
