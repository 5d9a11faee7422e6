// SPDX-License-Identifier: GPL-2.0
/* PID 1: from the kernel's hand-over to power off */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "init.h"

static int prepare(struct plan *plan, char *why, size_t size)
{
	int err;

	mounts_base();
	system_log_open();
	err = process_init();
	if (err) {
		snprintf(why, size, "signalfd: %s", strerror(-err));
		return err;
	}
	if (cmdline_has(ROOT_WORD)) {
		err = mounts_root_image(why, size);
		if (err)
			return err;
	}
	mounts_extra();
	system_prepare();
	return plan_load(PLAN_FILE, plan, why, size);
}

/* The host shall read why there is no result, not only that there is none. */
static void give_up(const char *why)
{
	log_line("%s", why);
	report_line("KTAP version 1");
	report_line("1..1");
	report_line(GAVE_UP "%s", why);
	report_line(RESULTS_DONE);
}

static void carry_out(const struct plan *plan)
{
	switch (plan->mode) {
	case PLAN_PLAN:
		run_programs(plan);
		break;
	case PLAN_COMMAND:
		run_command(plan);
		break;
	case PLAN_SHELL:
		run_shell(plan);
		break;
	}
}

/*
 * Who runs out of memory in the library says so and exits, as every program does.
 * PID 1 must not: the kernel would panic.
 */
static void power_off_at_exit(void)
{
	if (getpid() == 1)
		system_power_off();
}

int main(void)
{
	struct plan plan = { .mode = PLAN_PLAN };
	char why[256];
	int err;

	atexit(power_off_at_exit);
	err = prepare(&plan, why, sizeof(why));
	if (report_open())
		log_line("no result port after %llu s", DEVICE_WAIT_S);
	else if (err)
		give_up(why);
	else
		carry_out(&plan);
	report_close();
	log_line("power off");
	system_power_off();
}
