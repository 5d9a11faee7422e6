/* SPDX-License-Identifier: GPL-2.0 */
/* affinity.h - CPUs: which there are, and on which of them a task may run. */
#ifndef LAB_AFFINITY_H
#define LAB_AFFINITY_H

#include <sys/types.h>

#include "opts.h"

/* Masks are one u64: the lab's machines have at most 64 CPUs. */
#define CPUS_MAX	64U

/* Numbers of CPUs, on any machine. */
#define CPU_NUMBERS_MAX	8192U

/* The CPUs @pid (0: the caller) may run on; 0 on error. */
u64 affinity_of(pid_t pid);

/* 0 or -errno. */
int affinity_set(pid_t pid, u64 mask);

/* The lowest CPU the caller may run on. */
unsigned int first_cpu(void);

unsigned int count_cpus(u64 mask);

/* The value of --cpu; exits with EXIT_USAGE when the caller may not run there. */
unsigned int cpu_argument(const char *text);

/* The same as the call of a row, CALL_TO(cpu_option, o.cpu). */
void cpu_option(const struct opt *row, const char *value);

/* Those the caller may run on, lowest first, the first @room of them; how many. */
unsigned int allowed_cpus(unsigned int *cpus, unsigned int room);

/*
 * Bind the caller to one CPU, below CPU_NUMBERS_MAX; exits with EXIT_FAILED when that
 * cannot be done.
 */
void pin_to_cpu(unsigned int cpu);

#endif /* LAB_AFFINITY_H */
