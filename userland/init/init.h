/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private map of PID 1 of the lab's guest
 *
 * PID 1 mounts what a test needs, carries out the plan that the host put into
 * the initramfs, reports on a virtio-serial port and powers the machine off.
 */
#ifndef LAB_INIT_H
#define LAB_INIT_H

#include <sys/types.h>

#include "args.h"
#include "types.h"

/* How long a device may take to appear after boot. */
#define DEVICE_WAIT_S	10ULL

/*
 * A line in the kernel log, hence on the console: standard error of PID 1 is
 * the one, before system_log_open() the other.
 */
#define log_line(...)	complain(__VA_ARGS__)

/* mounts.c APIs: */
void mounts_base(void);
void mounts_extra(void);
int mounts_root_image(char *why, size_t size);

/* system.c APIs: */
void system_log_open(void);
bool cmdline_has(const char *word);
void system_prepare(void);
void __noreturn system_power_off(void);

/* plan.c APIs: */
enum plan_mode { PLAN_PLAN, PLAN_SHELL, PLAN_COMMAND };

struct program {
	const char *name;
	u64 timeout_s;		/* 0: no limit */
	char **argv;		/* ends with NULL */
};

struct plan {
	enum plan_mode mode;
	bool defer;
	const char *term;	/* shell mode: TERM, NULL: linux */
	unsigned short rows;
	unsigned short cols;
	struct program *programs;
	size_t nr_programs;
};

int plan_load(const char *path, struct plan *plan, char *why, size_t size);

/* report.c APIs: the result stream */
int report_open(void);
void report_defer(bool defer);
void report_raw(const void *data, size_t len);
void report_line(const char *fmt, ...) __printf(1, 2);
void report_output(const char *data, size_t len);
void report_output_end(void);
void report_close(void);

/* lines.c APIs: cut a byte stream into log lines and remember the last one */
struct lines {
	char text[512];
	size_t len;
	char last[200];
};

void lines_feed(struct lines *lines, const char *data, size_t len);
void lines_end(struct lines *lines);

/* process.c APIs: */
struct outcome {
	bool timed_out;
	bool flooded;		/* more output than the stream takes */
	bool survivors;		/* processes that do not die */
	int status;		/* as from wait(2) */
	char last_error[200];	/* last line of standard error */
};

typedef void (*output_fn)(const char *data, size_t len);

int process_init(void);
void process_run(const struct program *program, bool merge, output_fn output,
		 struct outcome *outcome);
pid_t process_shell(const char *tty);
void process_wait_for(pid_t pid);

/* builtin.c APIs: argv[0] starts with '@' */
void __noreturn builtin_run(char **argv);

/* modes.c APIs: */
void run_programs(const struct plan *plan);
void run_command(const struct plan *plan);
void run_shell(const struct plan *plan);

#endif /* LAB_INIT_H */
