// SPDX-License-Identifier: GPL-2.0
/* wrais-api.c - the interfaces of privileged I/O: refusals first, then the rest. */
#include <getopt.h>
#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "validate.h"

static const char usage[] =
"Usage: wrais-api [options]\n"
"\n"
"Test the interfaces of privileged I/O: the real-time I/O class, the switches\n"
"(kernel.wrais, and files in debugfs), and the cgroup attribute io.wrais.\n"
"Another user, root without capabilities and the root of a user namespace may not be\n"
"privileged: each must get its error and change nothing. Parts that the kernel was\n"
"built without are skipped. The output is KTAP. Switches and numbers are put back at\n"
"the end. Needs root.\n"
"\n"
"  -D, --disk DEV      read this disk, with bfq, to see whose requests are raised\n"
"                      (nullb0); nothing is written\n"
TEST_USAGE;

static void parse(int argc, char **argv)
{
	static const struct option longs[] = {
		{ "disk", required_argument, NULL, 'D' },
		{ "ktap", no_argument, NULL, 'k' },
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'V' },
		{ }
	};
	int c;

	while ((c = getopt_long(argc, argv, ":D:hV", longs, NULL)) != -1) {
		switch (c) {
		case 'D':
			api.disk = optarg;
			break;
		default:
			args_validator(c, argv, usage);
		}
	}
	args_no_more(argc, argv, optind);
}

int main(int argc, char **argv)
{
	struct ktap k;

	args_init("wrais-api");
	parse(argc, argv);
	wrais_require();
	if (geteuid())
		die(EXIT_FAILED, "be root: the tests drop privileges");
	wrais_save();
	ktap_start(&k, API_GROUPS);
	api_priority(&k);
	api_bad_values(&k);
	api_sysctl_users(&k);
	api_cgroup(&k);
	api_switches(&k);
	api_knobs(&k);
	api_counters(&k);
	api_proc(&k);
	api_effects(&k);
	wrais_restore();
	return ktap_finish(&k);
}
