/* SPDX-License-Identifier: GPL-2.0 */
/*
 * init.h - PID 1 of the lab's guest
 *
 * It mounts what a test needs, carries out the plan that the host put into the
 * initramfs, reports on a virtio-serial port and powers the machine off. Its own
 * lines, by complain(), go into the kernel log, hence to the console.
 */
#ifndef LAB_INIT_H
#define LAB_INIT_H

#include <stdio.h>

#include "args.h"

/* How long a device may take to appear after boot. */
#define DEVICE_WAIT_S	10ULL

/* Why there will be no results, for the host to read. */
extern char refusal[256];

#define refuse(...)	(snprintf(refusal, sizeof(refusal), __VA_ARGS__), false)

/*
 * From the kernel's hand-over to the environment of programs. From now on the end of PID 1 is
 * that of the machine.
 */
bool machine_prepare(void);

/* An entry that needs no program: argv[0] starts with '@'. */
void __noreturn builtin_run(char **argv);

#endif
