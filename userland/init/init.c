// SPDX-License-Identifier: GPL-2.0
/* init.c - PID 1: the result stream, programs, the plan. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "init.h"
#include "procfs.h"

/* A program that says more than this has gone mad. */
#define OUTPUT_MAX	(16UL << 20)
/* How long a killed process may take to go away. */
#define KILL_WAIT_NS	(10 * NSEC_PER_SEC)
/* As timeout(1) says it. */
#define EXIT_TIMEOUT	124

#define PORTS	"/sys/class/virtio-ports"
#define INDENT	"  "

struct program {
	const char *name;
	u64 timeout_s;		/* 0: no limit */
	char **argv;		/* ends with NULL */
};

static struct {
	void (*carry_out)(void);
	bool defer;
	struct program *programs;
	size_t nr_programs;
} plan;

/* The run of a program, and what came of it. */
struct run {
	const struct program *program;
	pid_t pid;
	int out;		/* where its output and its errors are read */
	int err;
	bool merge;		/* both are the output, byte by byte */
	bool ended;
	bool timed_out;
	bool flooded;		/* more output than the stream takes */
	bool survivors;		/* processes that do not die */
	int status;		/* as from wait(2) */
	size_t out_bytes;
	char line[512];		/* of its errors */
	size_t line_len;
	char last_line[200];
};

/*
 * The result stream: in memory, and on the virtio-serial port RESULT_PORT after
 * report_send(). Deferred, it is kept until the plan is done: an exit to the host
 * in the middle of a measurement would be part of the measurement.
 */
static FILE *report;
static char *report_text;
static size_t report_size;
static bool deferred;
static bool inside_line;
static int port = -1;

char refusal[256];

/* SIGCHLD, and SIGALRM at the deadline of a program. */
static int signals = -1;

/* The name of a port arrives a moment after the port. */
static bool port_opens(void *unused)
{
	DIR *dir = opendir(PORTS);
	struct dirent *entry;
	char path[300], name[64];

	(void)unused;
	while (dir && port < 0 && (entry = readdir(dir))) {
		snprintf(path, sizeof(path), PORTS "/%s/name", entry->d_name);
		if (read_text(path, name, sizeof(name)) <= 0 || strcmp(name, RESULT_PORT "\n"))
			continue;
		snprintf(path, sizeof(path), "/dev/%s", entry->d_name);
		port = open(path, O_WRONLY | O_CLOEXEC);
	}
	if (dir)
		closedir(dir);
	return port >= 0;
}

static void report_send(void)
{
	int err;

	if (deferred)
		return;
	fflush(report);
	err = write_all(port, report_text, report_size);
	if (err)
		complain("result port: %s", strerror(-err));
	rewind(report);
}

static void report_byte(char c)
{
	if (putc_unlocked(c, report) == EOF)
		die(EXIT_FAILED, "no memory");
}

/*
 * Each line of a program's errors is marked with "| " in the kernel log: a program
 * may quote a kernel's warning without being taken for one.
 */
static void end_error_line(struct run *run)
{
	run->line[run->line_len] = '\0';
	if (run->line_len)
		snprintf(run->last_line, sizeof(run->last_line), "%.*s",
			 (int)sizeof(run->last_line) - 1, run->line);
	complain("| %s", run->line);
	run->line_len = 0;
}

static void take_errors(struct run *run, const char *data, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = data[i];

		if (c == '\n' || run->line_len == sizeof(run->line) - 1)
			end_error_line(run);
		if (c == '\t')
			c = ' ';
		if (c != '\n')
			run->line[run->line_len++] = c < ' ' || c == 0x7f ? '?' : c;
	}
}

/* Unless it is to arrive byte by byte, it is indented: it cannot pass for a result. */
static void take_output(struct run *run, const char *data, size_t len)
{
	run->out_bytes += len;
	run->flooded = !run->merge && run->out_bytes > OUTPUT_MAX;
	for (size_t i = 0; !run->flooded && i < len; i++) {
		if (!run->merge && !inside_line)
			fputs(INDENT, report);
		report_byte(data[i]);
		inside_line = data[i] != '\n';
	}
	report_send();
}

/* Pass on what a pipe holds. Returns as read(2): 0 at the end, -1 if empty. */
static ssize_t run_read(struct run *run, int fd)
{
	static char chunk[65536];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n > 0 && fd == run->err)
		take_errors(run, chunk, n);
	else if (n > 0)
		take_output(run, chunk, n);
	return n;
}

static bool signals_open(void)
{
	sigset_t set;

	sigfillset(&set);
	sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGALRM);
	signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return signals >= 0 || refuse("signalfd: %s", strerror(errno));
}

/* What a child does before it becomes a program. */
static void child_begin(int in, int out, int err)
{
	sigset_t none;

	setsid();
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* 0 or -errno; the reading ends in @run are to be closed in any case. */
static int run_start(struct run *run)
{
	int out[2] = { -1, -1 }, err[2] = { -1, -1 }, error;

	run->pid = -1;
	if (!pipe2(out, O_CLOEXEC) && !pipe2(err, O_CLOEXEC))
		run->pid = fork();
	if (!run->pid) {
		child_begin(open("/dev/null", O_RDWR | O_CLOEXEC), out[1],
			    run->merge ? out[1] : err[1]);
		if (run->program->argv[0][0] == '@')
			builtin_run(run->program->argv);
		become(run->program->argv);
	}
	error = run->pid < 0 ? -errno : 0;
	close(out[1]);
	close(err[1]);
	fcntl(out[0], F_SETFL, O_NONBLOCK);
	fcntl(err[0], F_SETFL, O_NONBLOCK);
	run->out = out[0];
	run->err = err[0];
	return error;
}

/* Reap whatever has ended: PID 1 inherits every orphan. False without any child. */
static bool reap(struct run *run)
{
	struct signalfd_siginfo info;
	bool late = false;
	int status;
	pid_t pid;

	while (read(signals, &info, sizeof(info)) > 0)
		late |= info.ssi_signo == SIGALRM;
	while ((pid = waitpid(-1, &status, WNOHANG)) > 0) {
		if (pid != run->pid)
			continue;
		run->ended = true;
		run->status = status;
	}
	run->timed_out |= late && !run->ended;
	return !pid;
}

/* Until it has ended, or its deadline has come. */
static void run_listen(struct run *run)
{
	struct pollfd fds[] = {
		{ .fd = run->out, .events = POLLIN },
		{ .fd = run->err, .events = POLLIN },
		{ .fd = signals, .events = POLLIN },
	};

	while (!run->ended && !run->timed_out) {
		poll(fds, ARRAY_SIZE(fds), -1);
		for (int i = 0; i < 2; i++)
			if (fds[i].revents && run_read(run, fds[i].fd) == 0)
				fds[i].fd = -1;
		if (fds[2].revents)
			reap(run);
	}
}

static bool none_left(void *run)
{
	/* Again each time: one may have been forked behind the last signal. */
	kill(-1, SIGKILL);
	return !reap(run);
}

/*
 * For the reader of the console log: what waits for what, then every task and
 * run queue, since a task that was lost waits for nothing; and the timers, since one that
 * sleeps for a while may wait for a clock that has stopped.
 */
static void explain_hang(const struct program *program)
{
	static const char *const keys[] = { "l", "w", "t", "q" };

	complain("timeout of %s after %llu s", program->name, program->timeout_s);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		write_text("/proc/sysrq-trigger", keys[i]);
}

/*
 * Run a program to its end or its deadline. Nothing it started lives on: every
 * process but PID 1 is killed.
 */
static void run_whole(struct run *run)
{
	int err;

	/* While it runs the console shows everything: stacks are mere information to the kernel. */
	write_text("/proc/sys/kernel/printk", "8\n");
	complain(LOG_BEGIN "%s", run->program->name);
	err = run_start(run);
	if (err) {
		run->status = EXIT_NOT_EXECUTABLE << 8;
		snprintf(run->last_line, sizeof(run->last_line), "cannot start: %s",
			 strerror(-err));
	} else {
		alarm(run->program->timeout_s);
		run_listen(run);
		alarm(0);
		if (run->timed_out)
			explain_hang(run->program);
		run->survivors = !wait_until(none_left, run, KILL_WAIT_NS);
		while (run_read(run, run->out) > 0 || run_read(run, run->err) > 0)
			;
		if (run->line_len)
			end_error_line(run);
	}
	close(run->out);
	close(run->err);
	complain(LOG_END "%s", run->program->name);
}

static void report_outcome(size_t number, const struct run *run)
{
	const char *name = run->program->name, *colon = *run->last_line ? ": " : "";
	int code = WEXITSTATUS(run->status);

	if (inside_line)
		report_byte('\n');
	inside_line = false;
	if (run->survivors)
		fprintf(report, "not ok %zu %s # processes survive SIGKILL", number, name);
	else if (run->timed_out)
		fprintf(report, "not ok %zu %s # " REASON_TIMEOUT, number, name);
	else if (run->flooded)
		fprintf(report, "not ok %zu %s # too much output", number, name);
	else if (WIFSIGNALED(run->status))
		fprintf(report, "not ok %zu %s # signal %d", number, name, WTERMSIG(run->status));
	else if (!code)
		fprintf(report, "ok %zu %s", number, name);
	else if (code == EXIT_SKIPPED)
		fprintf(report, "ok %zu %s # SKIP %s", number, name, run->last_line);
	else
		fprintf(report, "not ok %zu %s # " REASON_EXIT "%d%s%s", number, name, code, colon,
			run->last_line);
	report_byte('\n');
}

static void run_programs(void)
{
	fprintf(report, "KTAP version 1\n1..%zu\n", plan.nr_programs);
	report_send();
	deferred = plan.defer;
	for (size_t i = 0; i < plan.nr_programs; i++) {
		struct run run = { .program = &plan.programs[i] };

		run_whole(&run);
		report_outcome(i + 1, &run);
		report_send();
	}
	fputs(RESULTS_DONE "\n", report);
}

/*
 * The newline in front of the last line is the stream's, not the command's:
 * what comes before it is the command's output, byte by byte.
 */
static void run_command(void)
{
	struct run run = { .program = plan.programs, .merge = true };

	run_whole(&run);
	fprintf(report, "\n" COMMAND_EXIT "%d\n",
		run.timed_out ? EXIT_TIMEOUT : exit_code_of(run.status));
}

/*
 * The first of the shells that the root image has, on its own terminal. None is a login shell:
 * the profile of the image would set a PATH without our programs.
 */
static void __noreturn become_shell(const char *tty)
{
	static char *const shells[][4] = {
		{ "/bin/bash", "--rcfile", SHELL_START, NULL },
		{ "/bin/sh", NULL },
		{ "/bin/busybox", "sh", NULL },
	};
	int fd = open(tty, O_RDWR | O_NOCTTY | O_CLOEXEC);

	child_begin(fd, fd, fd);
	ioctl(fd, TIOCSCTTY, 1);
	chdir("/root");
	setenv("ENV", SHELL_START, 1);
	for (size_t i = 0; i < ARRAY_SIZE(shells); i++)
		execv(shells[i][0], shells[i]);
	_exit(EXIT_NOT_FOUND);
}

/* On the console that was named last: a person looks at that one. */
static void run_shell(void)
{
	struct run run = { .out = -1, .err = -1 };
	char names[256], tty[300];
	const char *last;

	if (read_text("/sys/class/tty/console/active", names, sizeof(names)) < 0) {
		complain("no console for a shell");
		return;
	}
	names[strcspn(names, "\n")] = '\0';
	last = strrchr(names, ' ');
	snprintf(tty, sizeof(tty), "/dev/%s", last ? last + 1 : names);
	run.pid = fork();
	if (!run.pid)
		become_shell(tty);
	if (run.pid < 0) {
		complain("cannot start a shell: %s", strerror(errno));
		return;
	}
	run_listen(&run);
	wait_until(none_left, &run, KILL_WAIT_NS);
}

/*
 * The plan: one item a line, fields separated by tabs; in a field \t \n \\ stand
 * for tab, newline and backslash:
 *
 *	mode	plan|shell|command
 *	defer	1
 *	program	NAME	TIMEOUT_S	ARG0	ARG1 ...
 */

static bool unescape(char *field)
{
	static const char letters[] = { 't', 'n', '\\' };
	char *to = field;

	for (const char *from = field; *from; from++) {
		const char *letter = NULL;

		if (*from == '\\') {
			letter = memchr(letters, *++from, sizeof(letters));
			if (!letter)
				return false;
		}
		*to++ = letter ? "\t\n\\"[letter - letters] : *from;
	}
	*to = '\0';
	return true;
}

/* Cut a line at its tabs. The vector ends with NULL; @nr is 0 if it is bad. */
static char **split(char *line, size_t *nr)
{
	char **fields = NULL, *field;
	size_t used = 0;
	bool good = true;

	while ((field = strsep(&line, "\t"))) {
		good &= unescape(field);
		fields = xrealloc(fields, (used + 2) * sizeof(*fields));
		fields[used++] = field;
	}
	fields[used] = NULL;
	*nr = good ? used : 0;
	return fields;
}

static bool add_program(char **fields)
{
	struct program program = { .name = fields[1], .argv = fields + 3 };

	if (!*program.name || !*program.argv[0] ||
	    !parse_number(fields[2], 0, TIMEOUT_MAX_S, &program.timeout_s))
		return false;
	plan.programs = xrealloc(plan.programs, (plan.nr_programs + 1) * sizeof(program));
	plan.programs[plan.nr_programs++] = program;
	return true;
}

/* The line stays: the plan points into it. */
static bool add_item(char *line)
{
	size_t nr;
	char **fields = split(line, &nr);

	if (nr == 2 && !strcmp(fields[0], "mode")) {
		plan.carry_out = !strcmp(fields[1], "plan") ? run_programs :
				 !strcmp(fields[1], "shell") ? run_shell :
				 !strcmp(fields[1], "command") ? run_command : NULL;
		return plan.carry_out;
	}
	if (nr == 2 && !strcmp(fields[0], "defer")) {
		plan.defer = true;
		return !strcmp(fields[1], "1");
	}
	return nr >= 4 && !strcmp(fields[0], "program") && add_program(fields);
}

static bool plan_load(void)
{
	FILE *file = fopen(PLAN_FILE, "re");
	unsigned int number = 1;
	char *line = NULL;
	size_t room = 0;

	if (!file)
		return refuse("plan: " PLAN_FILE ": %s", strerror(errno));
	plan.carry_out = run_programs;
	for (; getline(&line, &room, file) >= 0; number++) {
		line[strcspn(line, "\n")] = '\0';
		if (*line && !add_item(line))
			return refuse("plan: line %u: bad item '%.40s' (mode, defer, program)",
				      number, line);
		line = NULL;
	}
	if (!feof(file))
		return refuse("plan: line %u: %s", number, strerror(errno));
	fclose(file);
	if (plan.carry_out == run_command && plan.nr_programs != 1)
		return refuse("plan: mode command takes 1 program, not %zu", plan.nr_programs);
	return true;
}

int main(void)
{
	bool ready = machine_prepare() && signals_open() && plan_load();

	report = open_memstream(&report_text, &report_size);
	if (!wait_until(port_opens, NULL, DEVICE_WAIT_S * NSEC_PER_SEC))
		die(EXIT_FAILED, "no result port after %llu s", DEVICE_WAIT_S);
	if (ready) {
		plan.carry_out();
	} else {
		/* The host reads why the result is missing, not only that it is. */
		complain("%s", refusal);
		fprintf(report, "KTAP version 1\n1..1\n" GAVE_UP "%s\n" RESULTS_DONE "\n", refusal);
	}
	deferred = false;
	report_send();
}
