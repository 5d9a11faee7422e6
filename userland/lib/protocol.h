/* SPDX-License-Identifier: GPL-2.0 */
/*
 * protocol.h - the words that the guest and the host have to agree on. The host
 * reads this file (lab/guest/protocol.py): a #define a line, a string or a number.
 */
#ifndef LAB_PROTOCOL_H
#define LAB_PROTOCOL_H

/* The virtio-serial port that carries the results. */
#define RESULT_PORT	"lab.result"

/* On the kernel's command line: the first disk holds the root image. */
#define ROOT_WORD	"lab.root=vda"

/* What PID 1 is to do. */
#define PLAN_FILE	"/lab/plan"

/* No program may be given more seconds: a day. */
#define TIMEOUT_MAX_S	86400

/* Where our own programs are, first in the PATH. */
#define PROGRAM_DIR	"/lab/bin"

/* The kernel modules that the machine asks for. */
#define MODULE_DIR	"/lab/modules"

/* The extents of a file system that wrais-disk lays onto a disk. */
#define DISK_FILE	"/lab/disk"

/* What an interactive shell reads first. */
#define SHELL_START	"/lab/shellrc"

/* The last line of the results. */
#define RESULTS_DONE	"# lab: done"

/* Behind the output of a single command, on a line of its own: its exit status. */
#define COMMAND_EXIT	"# lab: exit "

/* The one result of a guest that could not begin; the reason follows. */
#define GAVE_UP		"not ok 1 init # "

/* Why a program failed: it had run for its whole time. */
#define REASON_TIMEOUT	"timeout"

/* Why a program failed: its exit status follows. */
#define REASON_EXIT	"exit "

/* A program's exit status: a check failed, or the work could not be done. */
#define STATUS_FAILED	1

/* A program's exit status: this machine cannot run it; standard error says why. */
#define STATUS_SKIPPED	4

/* What the lines of PID 1 in the kernel's log begin with, before ": ". */
#define LOG_NAME	"lab"

/* In the kernel's log, with a program's name: what comes now is its doing. */
#define LOG_BEGIN	"begin "

/* In the kernel's log, with a program's name: what comes now is not. */
#define LOG_END		"end "

#endif /* LAB_PROTOCOL_H */
