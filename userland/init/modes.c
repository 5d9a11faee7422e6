// SPDX-License-Identifier: GPL-2.0
/* What a plan can ask for: programs, one command, a shell */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "diskfile.h"
#include "init.h"
#include "procfs.h"

/* As timeout(1) says it. */
#define EXIT_TIMEOUT	124

static void report_bad(size_t number, const char *name, const struct outcome *o)
{
	const char *colon = *o->last_error ? ": " : "";

	if (o->survivors)
		report_line("not ok %zu %s # processes survive SIGKILL", number, name);
	else if (o->timed_out)
		report_line("not ok %zu %s # " REASON_TIMEOUT, number, name);
	else if (o->flooded)
		report_line("not ok %zu %s # too much output", number, name);
	else if (WIFSIGNALED(o->status))
		report_line("not ok %zu %s # signal %d", number, name, WTERMSIG(o->status));
	else
		report_line("not ok %zu %s # " REASON_EXIT "%d%s%s", number, name,
			    WEXITSTATUS(o->status), colon, o->last_error);
}

static void report_outcome(size_t number, const char *name, const struct outcome *o)
{
	bool ended = !o->survivors && !o->timed_out && !o->flooded && WIFEXITED(o->status);

	if (ended && WEXITSTATUS(o->status) == 0)
		report_line("ok %zu %s", number, name);
	else if (ended && WEXITSTATUS(o->status) == EXIT_SKIPPED)
		report_line("ok %zu %s # SKIP %s", number, name, o->last_error);
	else
		report_bad(number, name, o);
}

/*
 * During the boot the console is kept short. From now on it shows everything:
 * the stacks behind a complaint are mere information to the kernel.
 */
static void console_verbose(void)
{
	write_text("/proc/sys/kernel/printk", "8\n");
}

void run_programs(const struct plan *plan)
{
	console_verbose();
	report_line("KTAP version 1");
	report_line("1..%zu", plan->nr_programs);
	report_defer(plan->defer);
	for (size_t i = 0; i < plan->nr_programs; i++) {
		const struct program *program = &plan->programs[i];
		struct outcome outcome;

		log_line(LOG_BEGIN "%s", program->name);
		process_run(program, false, report_output, &outcome);
		report_output_end();
		report_outcome(i + 1, program->name, &outcome);
		log_line(LOG_END "%s", program->name);
	}
	report_line(RESULTS_DONE);
}

static void command_output(const char *data, size_t len)
{
	report_raw(data, len);
}

/*
 * The newline in front of the last line is the stream's, not the command's:
 * what comes before it is the command's output, byte by byte.
 */
void run_command(const struct plan *plan)
{
	const struct program *program = &plan->programs[0];
	struct outcome outcome;

	console_verbose();
	log_line(LOG_BEGIN "%s", program->name);
	process_run(program, true, command_output, &outcome);
	log_line(LOG_END "%s", program->name);
	report_line("\n" COMMAND_EXIT "%d",
		    outcome.timed_out ? EXIT_TIMEOUT : exit_code_of(outcome.status));
}

/* The console that was named last is the one a person looks at. */
static bool console_path(char *path, size_t size)
{
	char text[256];
	char *name;

	if (read_text("/sys/class/tty/console/active", text, sizeof(text)) < 0)
		return false;
	text[strcspn(text, "\n")] = '\0';
	name = strrchr(text, ' ');
	snprintf(path, size, "/dev/%s", name ? name + 1 : text);
	return true;
}

static void set_window_size(const char *tty, const struct plan *plan)
{
	struct winsize size = { .ws_row = plan->rows, .ws_col = plan->cols };
	int fd = open(tty, O_RDWR | O_NOCTTY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (size.ws_row && size.ws_col)
		ioctl(fd, TIOCSWINSZ, &size);
	close(fd);
}

void run_shell(const struct plan *plan)
{
	char tty[300];
	pid_t pid;

	if (!console_path(tty, sizeof(tty))) {
		log_line("no console for a shell");
		return;
	}
	if (plan->term)
		setenv("TERM", plan->term, 1);
	set_window_size(tty, plan);
	pid = process_shell(tty);
	if (pid < 0)
		log_line("cannot start a shell: %s", strerror(errno));
	else
		process_wait_for(pid);
}
