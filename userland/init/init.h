/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Private map of PID 1 of the lab's guest
 *
 * PID 1 mounts what a test needs, carries out the plan that the host put into
 * the initramfs, reports on a virtio-serial port and powers the machine off.
 */
#ifndef LAB_INIT_H
#define LAB_INIT_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))
#define __noreturn	__attribute__((__noreturn__))
#define __printf(fmt, first)	__attribute__((__format__(printf, fmt, first)))

#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL

/* How long a device may take to appear after boot. */
#define DEVICE_WAIT_S	10

/* util.c APIs: */
long long now_ns(void);
void pause_ms(long ms);
bool wait_for(bool (*ready)(void *arg), void *arg, int seconds);
int write_all(int fd, const void *data, size_t len);
int write_file(const char *path, const char *text);
char *read_file(const char *path, size_t *len);
void *xrealloc(void *ptr, size_t size);

/* log.c APIs: one record a line in the kernel log, hence on the console */
void log_open(void);
__printf(1, 2) void log_line(const char *fmt, ...);

/* mounts.c APIs: */
void mounts_base(void);
void mounts_extra(void);
int mounts_root_image(char *why, size_t size);

/* system.c APIs: */
bool cmdline_has(const char *word);
void system_prepare(void);
__noreturn void system_power_off(void);

/* plan.c APIs: */
enum plan_mode { PLAN_PLAN, PLAN_SHELL, PLAN_COMMAND };

struct plan_entry {
	const char *name;
	long timeout_s;		/* 0: no limit */
	char **argv;		/* ends with NULL */
};

struct plan {
	enum plan_mode mode;
	bool defer;
	const char *term;	/* shell mode: TERM, NULL: linux */
	unsigned short rows;
	unsigned short cols;
	struct plan_entry *entries;
	size_t nr_entries;
};

int plan_load(const char *path, struct plan *plan, char *why, size_t size);

/* report.c APIs: the result stream */
int report_open(void);
void report_defer(bool defer);
void report_raw(const void *data, size_t len);
__printf(1, 2) void report_line(const char *fmt, ...);
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

void process_init(void);
void process_run(const struct plan_entry *entry, bool merge, output_fn output,
		 struct outcome *outcome);
int exit_code(int status);
pid_t process_shell(const char *tty);
void process_wait_for(pid_t pid);

/* builtin.c APIs: argv[0] starts with '@' */
int builtin_run(char **argv);

/* modes.c APIs: */
void run_entries(const struct plan *plan);
void run_command(const struct plan *plan);
void run_shell(const struct plan *plan);

#endif /* LAB_INIT_H */
