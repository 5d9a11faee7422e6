/* SPDX-License-Identifier: GPL-2.0 */
/*
 * app.h - start-ups of real applications' shape: several threads read pieces of
 * a file, a fifth of them at random, compute between them and wait for each
 * other.
 */
#ifndef WRAIS_APP_H
#define WRAIS_APP_H

#include "app_engine.h"
#include "types.h"

struct probe_options;
struct probe_result;

/* One application; all that is random in it depends on its name's place alone. */
struct app_shape {
	enum app_engine engine;
	u32 threads;
	u32 reads;		/* of all threads */
	u32 min_kib;		/* of a read; whole pages */
	u32 max_kib;
	u32 batch;		/* reads that a thread has under way at a time */
	u32 stage;		/* reads after which all wait for each other */
	u32 work_us;		/* CPU time behind each read */
	u32 rest_us;		/* behind each stage, waiting for something else */
};

/* In the order of APP_NAMES. */
extern const struct app_shape app_shapes[];

#define APP_NAMES	"app-uring", "app-direct", "app-mmap", "app-aio", "app-pread"
#define APPS		5

/* Run it on @o->file, of @o->pages pages. Exits with EXIT_FAILED when it cannot be read. */
void app_run(const struct probe_options *o, struct probe_result *result);

#endif /* WRAIS_APP_H */
