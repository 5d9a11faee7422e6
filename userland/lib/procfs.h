/* SPDX-License-Identifier: GPL-2.0 */
/* procfs.h - small files of /proc and /sys, and what they say of a task. */
#ifndef LAB_PROCFS_H
#define LAB_PROCFS_H

#include <sys/types.h>

#include "types.h"

/* Read a whole small file as a string; its length, or -errno (-EFBIG). */
int read_text(const char *path, char *buffer, size_t size);

/* Write @text with one write(2); 0 or -errno. */
int write_text(const char *path, const char *text);

/* Read a file that holds one decimal number; 0 or -errno. */
int read_number(const char *path, u64 *value);

/* What /proc/PID/stat says. Ticks are those of sysconf(_SC_CLK_TCK). */
struct task_stat {
	char name[64];		/* those of kernel threads are longer than 15 */
	char state;		/* 'R', 'S', 'D', 'T', 'Z' ... */
	u64 user_ticks;
	u64 system_ticks;
	long priority;		/* 20 + nice, or below 0 while real time */
	long nice;
	u64 started_ticks;	/* after boot: tells tasks of the same number apart */
	unsigned int cpu;	/* where it runs or ran last */
};

/* 0 or -errno (-ENOENT or -ESRCH when the task is gone). Times are of all threads. */
int read_task_stat(pid_t pid, struct task_stat *stat);

/* The same of one thread of process @pid, times too. */
int read_thread_stat(pid_t pid, pid_t tid, struct task_stat *stat);

/* The task is in interruptible sleep, and on no run queue any more. */
bool task_asleep(pid_t pid);

/*
 * The thread ids of process @pid, at most @room of them; how many it has, or
 * -errno.
 */
int read_threads(pid_t pid, pid_t *tids, unsigned int room);

/*
 * How many more processes the caller may have: the smallest of pid_max,
 * threads-max and RLIMIT_NPROC, less some that are there already.
 */
u64 process_room(void);

#define PROCESS_LIMITS	"pid_max, threads-max, RLIMIT_NPROC"

/* Exits with EXIT_USAGE unless @text (of @what) is 1..process_room(). */
u32 tasks_argument(const char *what, const char *text);

#endif /* LAB_PROCFS_H */
