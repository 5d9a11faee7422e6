// SPDX-License-Identifier: GPL-2.0
/*
 * lottery.c - run a command with lottery tickets, give tickets to a running
 * task, show what a task has. Feels like chrt(1). What all tasks have and get,
 * second by second, is lottery_top.c; tickets that work for others, lottery_lend.c;
 * tickets that are backed by others, lottery_currency.c.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "args.h"
#include "cgroup.h"
#include "diskfile.h"
#include "json.h"
#include "lottery_sched.h"
#include "opts.h"
#include "procfs.h"
#include "verbs.h"

struct options {
	bool set;		/* -t was given */
	bool quantum_set;
	bool reset_on_fork;
	bool all;
	bool limits;
	bool verbose;
	bool json;
	u32 tickets;
	u64 quantum_ns;
	pid_t pid;		/* 0 without -p */
};

static struct options options;

static void take_quantum(const struct opt *row, const char *text)
{
	u64 us;

	if (!parse_number(text, 0, LOTTERY_QUANTUM_MAX / NSEC_PER_USEC, &us) ||
	    (us && us < LOTTERY_QUANTUM_MIN / NSEC_PER_USEC))
		die(EXIT_USAGE, "%s: bad value '%s': allowed 0 or 100..1000000 us", row->name,
		    text);
	options.quantum_ns = us * NSEC_PER_USEC;
}

static const struct opt rows[] = {
	OPT('t', "--tickets", "TICKETS", NUMBER(options.tickets, 0, LOTTERY_TICKETS_MAX, 0),
	    "1..1000000, or 0 to derive them from the nice value", .given = &options.set),
	OPT('q', "--quantum", "MICROS", CALL(take_quantum),
	    "100..1000000, rounded up to ticks; 0 for one tick", .given = &options.quantum_set),
	OPT('R', "--reset-on-fork", NULL, FLAG(options.reset_on_fork),
	    "children start as SCHED_OTHER"),
	OPT('p', "--pid", "PID", NUMBER(options.pid, 1, 1 << 30, 0),
	    "an existing task instead of a command"),
	OPT('a', "--all-tasks", NULL, FLAG(options.all), "with -p: all threads of the process"),
	OPT('m', "--max", NULL, FLAG(options.limits), "show the limits"),
	OPT('v', "--verbose", NULL, FLAG(options.verbose), "say what is done"),
	OPT(0, "--json", NULL, FLAG(options.json), "one JSON object a line"),
	{ }
};

const struct opts lottery_opts = {
	.usage =
"Usage: lottery -t TICKETS [options] COMMAND [ARGUMENT...]\n"
"       lottery -t TICKETS [options] -p PID\n"
"       lottery [-a] [--json] -p PID\n"
"       lottery -m\n"
"       " TOP_SYNOPSIS
"       lottery lend --to PID [options] COMMAND [ARGUMENT...]\n"
"       lottery currency --backing TICKETS [-t TICKETS] COMMAND [ARGUMENT...]\n"
"       lottery currency --group GROUP [--backing TICKETS]\n"
"\n"
"Run a command in the SCHED_LOTTERY class, move a running task there, or show\n"
"what a task has; top shows again and again what all of them are due and get; lend\n"
"runs a command whose tickets work for another task whenever it is blocked; currency\n"
"runs a command that shares some tickets with its children, or shows or changes what\n"
"the tasks of a cgroup share.\n"
"\n",
	.rows = rows,
	.command = true,
	.operand = "COMMAND",
	.verbs = (const struct opts *const []){ &top_opts, &lend_opts, &currency_opts, NULL },
};

static void check(int argc, char **argv, const struct options *o)
{
	bool command = optind < argc;

	if (o->limits && (o->set || o->pid || command))
		die(EXIT_USAGE, "-m goes without tickets, pid and command");
	if (o->limits)
		return;
	if (o->pid)
		args_no_more(argc, argv, optind);
	else if (!command)
		die(EXIT_USAGE, "a command or -p PID is missing, try --help");
	else if (!o->set)
		die(EXIT_USAGE, "'%s': the verbs are top, lend and currency; "
				"for a command -t TICKETS is missing (0..%u)",
		    argv[optind], LOTTERY_TICKETS_MAX);
	if (o->all && !o->pid)
		die(EXIT_USAGE, "-a needs -p PID");
	if (!o->set && (o->quantum_set || o->reset_on_fork))
		die(EXIT_USAGE, "-q and -R need -t TICKETS");
}

/* Exit with the one line that explains why a call for @pid failed. */
static void __noreturn refused(pid_t pid, int error)
{
	switch (error) {
	case EINVAL:
	case E2BIG:
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	case EPERM:
	case EACCES:
		die(EXIT_FAILED, LOTTERY_DENIED);
	case ESRCH:
		die(EXIT_FAILED, "pid %d: no such task", pid);
	default:
		die(EXIT_FAILED, "pid %d: %s", pid, strerror(error));
	}
}

/* Like attr_get(); exits on errors and on a kernel without tickets. */
static bool get(pid_t pid, struct lottery_attr *attr, bool may_be_gone)
{
	if (attr_get(pid, attr)) {
		if (errno == ESRCH && may_be_gone)
			return false;
		refused(pid, errno);
	}
	if (attr->size < ATTR_SIZE_VER2)
		die(EXIT_UNSUPPORTED, LOTTERY_MISSING);
	return true;
}

static int nice_of(pid_t pid)
{
	return getpriority(PRIO_PROCESS, (id_t)pid);
}

static void show_tickets(pid_t pid, const char *when, const struct lottery_attr *attr)
{
	if (attr->sched_policy != SCHED_LOTTERY)
		printf("pid %d's %s tickets: none\n", pid, when);
	else if (attr->sched_tickets)
		printf("pid %d's %s tickets: %u\n", pid, when, attr->sched_tickets);
	else
		printf("pid %d's %s tickets: %u (derived from nice %d)\n", pid, when,
		       tickets_of_nice(attr->sched_nice), attr->sched_nice);
}

static void show_policy(pid_t pid, const char *when, const struct lottery_attr *attr)
{
	const char *name = policy_name(attr->sched_policy);
	const char *reset = attr->sched_flags & ATTR_RESET_ON_FORK ?
			    "|SCHED_RESET_ON_FORK" : "";

	if (name)
		printf("pid %d's %s scheduling policy: %s%s\n", pid, when, name, reset);
	else
		printf("pid %d's %s scheduling policy: %u%s\n", pid, when,
		       attr->sched_policy, reset);
}

static void show_quantum(pid_t pid, const char *when, const struct lottery_attr *attr)
{
	if (attr->sched_policy != SCHED_LOTTERY)
		return;
	if (attr->sched_runtime)
		printf("pid %d's %s quantum: %llu us\n", pid, when,
		       attr->sched_runtime / NSEC_PER_USEC);
	else
		printf("pid %d's %s quantum: one tick\n", pid, when);
}

/* What /proc/PID/sched says of loans, and of the currency of the process. */
struct dealings {
	u32 backing;		/* 0 without a currency */
	pid_t maker;		/* 0 when it is gone */
	unsigned int loans;
	struct loan_ask loan[LOTTERY_LOANS_MAX];
};

static struct dealings dealings_of(pid_t pid)
{
	char path[64], text[8192], *line, *rest = text;
	struct dealings d = { 0 };

	snprintf(path, sizeof(path), "/proc/%d/sched", pid);
	if (read_text(path, text, sizeof(text)) < 0)
		return d;
	while ((line = strsep(&rest, "\n"))) {
		struct loan_ask *loan = &d.loan[d.loans];

		if (sscanf(line, "lottery.currency : %u", &d.backing) == 1 ||
		    sscanf(line, "lottery.currency.pid : %d", &d.maker) == 1)
			continue;
		if (sscanf(line, "lottery.loan.%d : %u", &loan->pid, &loan->tickets) == 2 &&
		    ++d.loans == LOTTERY_LOANS_MAX)
			break;
	}
	return d;
}

static void show_dealings(pid_t pid, const char *when)
{
	struct dealings d = dealings_of(pid);
	unsigned int i;

	if (d.backing && d.maker)
		printf("pid %d's %s currency: %u tickets, made by pid %d\n", pid, when,
		       d.backing, d.maker);
	else if (d.backing)
		printf("pid %d's %s currency: %u tickets\n", pid, when, d.backing);
	for (i = 0; i < d.loans; i++) {
		if (d.loan[i].tickets)
			printf("pid %d's %s loan: %u tickets to pid %d\n", pid, when,
			       d.loan[i].tickets, d.loan[i].pid);
		else
			printf("pid %d's %s loan: all tickets to pid %d\n", pid, when,
			       d.loan[i].pid);
	}
}

static void show_json_dealings(pid_t pid)
{
	struct dealings d = dealings_of(pid);
	unsigned int i;

	json_number("currency", d.backing);
	json_number("currency_pid", (u64)d.maker);
	json_list("loans");
	for (i = 0; i < d.loans; i++) {
		json_object(NULL);
		json_number("pid", (u64)d.loan[i].pid);
		json_number("tickets", d.loan[i].tickets);
		json_end();
	}
	json_end();
}

static void show_json(pid_t pid, const struct lottery_attr *attr)
{
	const char *name = policy_name(attr->sched_policy);
	bool lottery = attr->sched_policy == SCHED_LOTTERY;
	u32 tickets = attr->sched_tickets ? attr->sched_tickets :
					    tickets_of_nice(attr->sched_nice);

	json_open();
	json_number("pid", (u64)pid);
	json_text("policy", name ? name : "unknown");
	json_number("tickets", lottery ? tickets : 0);
	json_bool("derived", lottery && !attr->sched_tickets);
	json_signed("nice", attr->sched_nice);
	json_number("quantum_ns", lottery ? attr->sched_runtime : 0);
	json_bool("reset_on_fork", attr->sched_flags & ATTR_RESET_ON_FORK);
	show_json_dealings(pid);
	json_close();
}

static void show(const struct options *o, pid_t pid, const char *when,
		 const struct lottery_attr *attr)
{
	if (o->json) {
		show_json(pid, attr);
		return;
	}
	if (!o->set || o->verbose)
		show_policy(pid, when, attr);
	show_tickets(pid, when, attr);
	if (!o->set || o->verbose) {
		show_quantum(pid, when, attr);
		show_dealings(pid, when);
	}
}

/*
 * What was not asked to change stays as it is for a task that is in the class
 * already; another one starts with the defaults.
 */
static void change(const struct options *o, pid_t pid, const struct lottery_attr *old)
{
	struct lottery_attr new = lottery_attr_of(o->tickets, o->quantum_ns, nice_of(pid));

	if (old->sched_policy == SCHED_LOTTERY) {
		if (!o->quantum_set)
			new.sched_runtime = old->sched_runtime;
		new.sched_flags = old->sched_flags & ATTR_RESET_ON_FORK;
	}
	if (o->reset_on_fork)
		new.sched_flags |= ATTR_RESET_ON_FORK;
	if (attr_set(pid, &new))
		refused(pid, errno);
}

/* Show one task, or change it and show both. False when it is gone. */
static bool treat(const struct options *o, pid_t pid, bool may_be_gone)
{
	struct lottery_attr attr;

	if (!get(pid, &attr, may_be_gone))
		return false;
	if (!o->set || !o->json)
		show(o, pid, "current", &attr);
	if (!o->set)
		return true;
	change(o, pid, &attr);
	if (get(pid, &attr, may_be_gone))
		show(o, pid, "new", &attr);
	return true;
}

static bool treat_thread(const void *arg, pid_t tid)
{
	return treat(arg, tid, true);
}

static void show_limits(const struct options *o)
{
	int error = lottery_probe();

	if (error && error != EPERM)
		refused(0, error);
	if (o->json) {
		json_open();
		json_number("tickets_min", 1);
		json_number("tickets_max", LOTTERY_TICKETS_MAX);
		json_number("quantum_min_ns", LOTTERY_QUANTUM_MIN);
		json_number("quantum_max_ns", LOTTERY_QUANTUM_MAX);
		json_close();
		return;
	}
	printf("SCHED_LOTTERY min/max tickets\t: 1/%u\n", LOTTERY_TICKETS_MAX);
	printf("SCHED_LOTTERY min/max quantum\t: %llu/%llu us\n",
	       LOTTERY_QUANTUM_MIN / NSEC_PER_USEC, LOTTERY_QUANTUM_MAX / NSEC_PER_USEC);
	printf("SCHED_LOTTERY tickets of nice -20/0/19\t: %u/%u/%u\n",
	       tickets_of_nice(-20), tickets_of_nice(0), tickets_of_nice(19));
}

static void __noreturn run_command(const struct options *o, char **command)
{
	struct lottery_attr attr;

	get(0, &attr, false);
	change(o, 0, &attr);
	if (o->verbose) {
		get(0, &attr, false);
		show(o, getpid(), "new", &attr);
	}
	become(command);
}

int main(int argc, char **argv)
{
	const struct options *o = &options;

	args_init("lottery");
	if (argc > 1 && !strcmp(argv[1], "top"))
		return lottery_top(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "lend"))
		return lottery_lend(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "currency"))
		return lottery_currency(argc - 1, argv + 1);
	opts_parse(&lottery_opts, argc, argv);
	check(argc, argv, o);
	if (o->limits)
		show_limits(o);
	else if (!o->pid)
		run_command(o, argv + optind);
	else if (!o->all)
		treat(o, o->pid, false);
	else if (!each_thread(o->pid, treat_thread, o, o->set))
		refused(o->pid, ESRCH);
	finish_output();
	return EXIT_GOOD;
}
