// SPDX-License-Identifier: GPL-2.0
/* wrais-api.c - the interfaces of privileged I/O: refusals first, then the rest. */
#include <stdlib.h>
#include <unistd.h>

#include "api.h"
#include "args.h"
#include "opts.h"
#include "validate.h"

static const struct opt rows[] = {
	OPT('D', "--disk", "DEV", TEXT(api.disk, "nullb0"),
	    "read this disk, with bfq, to see whose requests are raised\n(%d); nothing is written"),
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-api [options]\n"
"\n"
"Test the interfaces of privileged I/O: the real-time I/O class, the switches\n"
"(kernel.wrais, and files in debugfs), and the cgroup attribute io.wrais.\n"
"Another user, root without capabilities and the root of a user namespace may not be\n"
"privileged: each must get its error and change nothing. Parts that the kernel was\n"
"built without are skipped. The output is KTAP. Switches and numbers are put back at\n"
"the end. Needs root.\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
};

int main(int argc, char **argv)
{
	struct ktap k;

	args_init("wrais-api");
	opts_parse(&opts, argc, argv);
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
