/* SPDX-License-Identifier: GPL-2.0 */
/*
 * target.h - what tools in the way of chrt(1) act on: a command that they
 * become, or the threads of a process.
 */
#ifndef LAB_TARGET_H
#define LAB_TARGET_H

#include <sys/types.h>

#include "types.h"

/* As a shell has them. */
#define EXIT_NOT_EXECUTABLE	126
#define EXIT_NOT_FOUND		127

/* The exit code of a process that ended with @status, as of wait(2). */
int exit_code_of(int status);

/* Become the command; exits when that is not possible. */
void __noreturn become(char **command);

/*
 * Call @treat(@arg, tid) for each thread of process @pid; with @again also for
 * those that a thread started before it was treated. How many calls returned
 * true; 0 also when there is no such process. Exits with EXIT_FAILED when there
 * are too many.
 */
unsigned int each_thread(pid_t pid, bool (*treat)(const void *arg, pid_t tid),
			 const void *arg, bool again);

#endif /* LAB_TARGET_H */
