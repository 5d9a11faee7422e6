// SPDX-License-Identifier: GPL-2.0
/*
 * Entries that need no program: without the root image there is
 * neither a shell nor a cat
 */
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "cgroup.h"
#include "clock.h"
#include "files.h"
#include "init.h"
#include "procfs.h"

#define KMEMLEAK	"/sys/kernel/debug/kmemleak"
/* kmemleak keeps quiet about an object that is younger than 5 s. */
#define KMEMLEAK_AGE_NS	(5200 * NSEC_PER_MSEC)
/* Into the first scan, which takes seconds [us]. */
#define SCAN_CUT_US	50000

/* @cat FILE: the file as output */
static void builtin_cat(char **argv)
{
	s64 copied = copy_file(argv[1], STDOUT_FILENO);

	if (copied < 0)
		die(EXIT_FAILED, "%s: %s", argv[1], strerror((int)-copied));
}

/* Does nothing, and so ends a scan early. */
static void cut_short(int sig)
{
	(void)sig;
}

/*
 * The first scan notes a checksum of each object that it has found no pointer to.
 * One that is cut short has found hardly any, so it notes those of all objects
 * and reports none (scan_should_stop() in mm/kmemleak.c): less work, and the
 * second scan is as strict.
 */
static int note_checksums(void)
{
	const struct sigaction action = { .sa_handler = cut_short };
	const struct itimerval soon = { .it_value.tv_usec = SCAN_CUT_US };
	const struct itimerval off = { 0 };
	int err;

	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	err = write_text(KMEMLEAK, "scan\n");
	setitimer(ITIMER_REAL, &off, NULL);
	return err;
}

/*
 * @kmemleak: bad if kmemleak suspects a leak. It takes two scans: an object
 * whose checksum changed since the last one is given the benefit of the doubt.
 */
static void builtin_kmemleak(char **argv)
{
	const s64 begin = now_ns();
	s64 suspects;
	int err;

	(void)argv;
	err = note_checksums();
	if (err == -ENOENT)
		die(EXIT_SKIPPED, "this kernel has no kmemleak");
	sleep_until_ns(begin + KMEMLEAK_AGE_NS);
	if (!err)
		err = write_text(KMEMLEAK, "scan\n");
	suspects = err ? err : copy_file(KMEMLEAK, STDOUT_FILENO);
	if (suspects < 0)
		die(EXIT_FAILED, KMEMLEAK ": %s", strerror((int)-suspects));
	if (suspects)
		die(EXIT_FAILED, "leaks are suspected");
}

/* @insmod NAME [PARAM=VALUE ...]: a module that the host put into the guest */
static void builtin_insmod(char **argv)
{
	char params[512] = "";
	size_t len = 0;
	int err;

	for (char **param = argv + 2; *param && len < sizeof(params); param++)
		len += snprintf(params + len, sizeof(params) - len, "%s ", *param);
	err = len < sizeof(params) ? module_load(argv[1], params) : -E2BIG;
	if (err)
		die(EXIT_FAILED, MODULE_DIR "/%s.ko: %s", argv[1], strerror(-err));
}

/* @rmmod NAME */
static void builtin_rmmod(char **argv)
{
	int err = module_unload(argv[1]);

	if (err)
		die(EXIT_FAILED, "%s: %s", argv[1], strerror(-err));
}

static const struct builtin {
	const char *name;
	int min_args;
	int max_args;
	void (*run)(char **argv);
} builtins[] = {
	{ "@cat", 1, 1, builtin_cat },
	{ "@insmod", 1, INT_MAX, builtin_insmod },
	{ "@kmemleak", 0, 0, builtin_kmemleak },
	{ "@rmmod", 1, 1, builtin_rmmod },
};

static const char usage[] = "@cat FILE, @insmod NAME [PARAM=VALUE ...], @kmemleak, @rmmod NAME";

void __noreturn builtin_run(char **argv)
{
	int nr_args = 0;

	args_init(argv[0]);
	while (argv[nr_args + 1])
		nr_args++;
	for (size_t i = 0; i < ARRAY_SIZE(builtins); i++) {
		const struct builtin *b = &builtins[i];

		if (strcmp(b->name, argv[0]) || nr_args < b->min_args || nr_args > b->max_args)
			continue;
		b->run(argv);
		exit(EXIT_GOOD);
	}
	die(EXIT_USAGE, "no such builtin with %d arguments (%s)", nr_args, usage);
}
