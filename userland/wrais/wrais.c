// SPDX-License-Identifier: GPL-2.0
/*
 * wrais.c - run a command whose I/O is privileged, give the privilege to a running task or
 * take it, show which tasks have it. Feels like ionice(1).
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "control.h"
#include "diskfile.h"
#include "json.h"
#include "opts.h"
#include "privilege.h"
#include "verbs.h"

struct options {
	bool set;
	bool unset;
	bool level_set;
	bool ignore;
	bool all;
	bool verbose;
	bool json;
	unsigned int level;
	const char *cgroup;	/* NULL: none */
	pid_t pid;		/* 0 without -p */
};

static struct options options;

static const struct opt rows[] = {
	OPT('n', "--level", "LEVEL", NUMBER(options.level, 0, IOPRIO_LEVEL_MAX, 0),
	    "in the real-time I/O class, %r, 0 comes first (%d)", .given = &options.level_set),
	OPT('g', "--cgroup", "CGROUP", TEXT(options.cgroup, NULL),
	    "join this cgroup (below " CGROUP_ROOT ") instead of\nthe class; with -n both"),
	OPT('t', "--ignore", NULL, FLAG(options.ignore),
	    "run the command even if it cannot be privileged"),
	OPT('p', "--pid", "PID", NUMBER(options.pid, 1, 1 << 30, 0),
	    "an existing task instead of a command"),
	OPT('s', "--set", NULL, FLAG(options.set), "with -p: make it privileged"),
	OPT('u', "--unset", NULL, FLAG(options.unset), "with -p: take the I/O class away"),
	OPT('a', "--all-tasks", NULL, FLAG(options.all), "with -p: all threads"),
	OPT('v', "--verbose", NULL, FLAG(options.verbose), "say what is done"),
	OPT(0, "--json", NULL, FLAG(options.json), "one JSON object a line"),
	{ }
};

const struct opts wrais_opts = {
	.usage =
"Usage: wrais [-n LEVEL] [-g CGROUP] [-t] [-v] [--] COMMAND [ARGUMENT...]\n"
"       wrais [-a] [--json] -p PID\n"
"       wrais {-s | -u} [-n LEVEL] [-g CGROUP] [-a] [-v] -p PID\n"
"       wrais stat [--json]\n"
"       wrais on|off [PART...]\n"
"       wrais stalls [-t MS] [-a] [--seconds S] [--json] {-p PID | [--] COMMAND...}\n"
"       wrais stalls [-t MS] [-a] [--json] --trace FILE -p PID\n"
"\n"
"Run a command with privileged I/O from its first instruction on, show or change\n"
"the privilege of a running task; show the kernel's counters, switch its parts,\n"
"report long waits with their kernel stacks.\n"
"\n",
	.rows = rows,
	.tail = "\nParts: raise dirty copy_out inherit tags floor\n",
	.command = true,
	.verbs = (const struct opts *const []){
		&stat_opts, &on_opts, &off_opts, &stalls_opts, NULL
	},
	.operand = "COMMAND",
};

static void check(int argc, char **argv, const struct options *o)
{
	if (o->set && o->unset)
		die(EXIT_USAGE, "-s and -u exclude each other");
	if (o->pid) {
		args_no_more(argc, argv, optind);
		if (!o->set && (o->level_set || o->cgroup))
			die(EXIT_USAGE, "-n and -g need -s to change pid %d", o->pid);
		if (o->ignore)
			die(EXIT_USAGE, "-t goes with a command");
		return;
	}
	if (optind == argc)
		die(EXIT_USAGE, "a command or -p PID is missing, try --help");
	if (o->set || o->unset || o->all)
		die(EXIT_USAGE, "-s, -u and -a need -p PID");
}

#define SWITCHED_OFF	"privileges are switched off: wrais on"

static bool switched_off(void)
{
	u64 enabled;

	return !wrais_get(WRAIS_MASTER, &enabled) && !enabled;
}

/* NULL, or why @tid cannot be what is asked for. */
static const char *change(const struct options *o, pid_t tid)
{
	static char missing[PATH_MAX + 64];
	int error = 0;

	if (!wrais_supported())
		return WRAIS_MISSING;
	if (o->cgroup)
		error = cgroup_join(o->cgroup, tid);
	if (error == -ENOENT) {
		snprintf(missing, sizeof(missing), "cgroup '%s' does not exist", o->cgroup);
		return missing;
	}
	if (!error && (o->level_set || !o->cgroup))
		error = ioprio_change(tid, (struct ioprio){ IO_RT, o->level });
	if (error == -EPERM || error == -EACCES)
		return "not permitted (CAP_SYS_NICE, or write access to the cgroup)";
	return error ? strerror(-error) : NULL;
}

static void show_json(pid_t tid, const struct privilege *p)
{
	json_open();
	json_number("pid", (u64)tid);
	json_text("class", p->prio.class < IO_CLASSES ? ioprio_classes[p->prio.class] : "?");
	json_number("level", p->prio.level);
	json_text("cgroup", p->cgroup);
	json_bool("cgroup_privileged", p->by_cgroup);
	json_bool("enabled", p->enabled);
	json_bool("privileged", privileged(p));
	json_close();
}

static const char *reason(const struct privilege *p)
{
	if (!p->enabled)
		return SWITCHED_OFF;
	if (p->prio.class == IO_RT && p->by_cgroup)
		return "real-time I/O class, cgroup";
	if (p->prio.class == IO_RT)
		return "real-time I/O class";
	return p->by_cgroup ? "cgroup" : "neither real-time I/O class nor privileged cgroup";
}

static void show_table(pid_t tid, const char *when, const struct privilege *p)
{
	const char *class = p->prio.class < IO_CLASSES ? ioprio_classes[p->prio.class] : "?";

	printf("pid %d's %s I/O class: %s, level %u\n", tid, when, class, p->prio.level);
	printf("pid %d's %s cgroup: %s\n", tid, when, p->cgroup[0] ? p->cgroup : "none");
	printf("pid %d's %s I/O is privileged: %s (%s)\n", tid, when,
	       privileged(p) ? "yes" : "no", reason(p));
}

/* False when the task is gone. */
static bool show(const struct options *o, pid_t tid, const char *when)
{
	struct privilege p;
	int error = privilege_read(tid, &p);

	if (error == -ESRCH)
		return false;
	if (error)
		die(EXIT_FAILED, "pid %d: %s", tid, strerror(-error));
	if (o->json)
		show_json(tid, &p);
	else
		show_table(tid, when, &p);
	return true;
}

static bool exists(pid_t tid)
{
	struct ioprio prio;

	return ioprio_read(tid, &prio) != -ESRCH;
}

/* Show or change one task as @arg, the options, says; false when it is gone. */
static bool treat(const void *arg, pid_t tid)
{
	const struct options *o = arg;
	const char *why = NULL;
	int error;

	if (!exists(tid))
		return false;
	if (o->set)
		why = change(o, tid);
	if (why && !exists(tid))
		return false;
	if (why)
		die(wrais_supported() ? EXIT_FAILED : EXIT_UNSUPPORTED, "pid %d: %s", tid, why);
	if (o->unset) {
		error = ioprio_change(tid, (struct ioprio){ IO_NONE, 0 });
		if (error)
			die(EXIT_FAILED, "pid %d: %s", tid, strerror(-error));
	}
	if ((o->set || o->unset) && !o->verbose)
		return true;
	return show(o, tid, o->set || o->unset ? "new" : "current");
}

/* The privilege is taken before the command is there: nothing races with it. */
static void __noreturn launch(const struct options *o, char **command)
{
	const char *why;

	if (!o->ignore && wrais_supported() && switched_off())
		die(EXIT_UNSUPPORTED, "%s, or -t to run it anyway", SWITCHED_OFF);
	why = change(o, 0);
	if (why && !o->ignore)
		die(wrais_supported() ? EXIT_FAILED : EXIT_UNSUPPORTED, "%s", why);
	if (o->verbose)
		show(o, getpid(), "new");
	become(command);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(int argc, char **argv);
	} verbs[] = {
		{ "stat", verb_stat },
		{ "on", verb_switch },
		{ "off", verb_switch },
		{ "stalls", verb_stalls },
	};
	const struct options *o = &options;
	unsigned int i;

	args_init("wrais");
	for (i = 0; argc > 1 && i < ARRAY_SIZE(verbs); i++)
		if (!strcmp(argv[1], verbs[i].name))
			return verbs[i].run(argc - 1, argv + 1);
	opts_parse(&wrais_opts, argc, argv);
	check(argc, argv, o);
	if (!o->pid)
		launch(o, argv + optind);
	else if (o->all ? !each_thread(o->pid, treat, o, o->set || o->unset) : !treat(o, o->pid))
		die(EXIT_FAILED, "pid %d: no such task", o->pid);
	finish_output();
	return EXIT_GOOD;
}
