/* SPDX-License-Identifier: GPL-2.0 */
/* app_engine.h - the ways in which applications read. */
#ifndef WRAIS_APP_ENGINE_H
#define WRAIS_APP_ENGINE_H

#include "types.h"

/* No read is longer. */
#define APP_READ_MAX	(64U * 1024)
/* Reads of one thread that are under way at a time. */
#define APP_BATCH_MAX	16U

enum app_engine {
	APP_PREAD,		/* through the page cache, with readahead */
	APP_MMAP,		/* page faults */
	APP_DIRECT,		/* O_DIRECT */
	APP_AIO,		/* O_DIRECT, io_submit(2) */
	APP_URING,		/* O_DIRECT, io_uring_enter(2) */
};

/* Whole pages of the file. */
struct app_read {
	u64 offset;
	u32 bytes;
	u32 thread;
};

struct app_io;

/*
 * Open @path, of @size bytes, for one thread. Exits with EXIT_FAILED, or with
 * EXIT_UNSUPPORTED when the kernel lacks the engine.
 */
struct app_io *app_io_open(enum app_engine engine, const char *path, u64 size);

/*
 * Read all @count (at most APP_BATCH_MAX) and wait until the last has ended; exits with
 * EXIT_FAILED when one of them fails.
 */
void app_io_read(struct app_io *io, const struct app_read *const *reads, unsigned int count);

void app_io_close(struct app_io *io);

#endif /* WRAIS_APP_ENGINE_H */
