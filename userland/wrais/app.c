// SPDX-License-Identifier: GPL-2.0
/* app.c - start-ups of real applications' shape. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "app.h"
#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "files.h"
#include "probe.h"
#include "random.h"

/* Reads that do not go on where their thread's last one ended. */
#define RANDOM_PERCENT	20U

/* 0.4, 1.4, 2.3, 5 and 10 s on an idle disk of 30 MB/s and 300 us a request, about. */
const struct app_shape app_shapes[] = {
	{ .engine = APP_URING, .threads = 2, .reads = 700, .min_kib = 4, .max_kib = 12,
	  .batch = 4, .stage = 70, .work_us = 150, .rest_us = 500 },
	{ .engine = APP_DIRECT, .threads = 4, .reads = 1500, .min_kib = 4, .max_kib = 24,
	  .batch = 1, .stage = 100, .work_us = 100, .rest_us = 15000 },
	{ .engine = APP_MMAP, .threads = 3, .reads = 1000, .min_kib = 4, .max_kib = 64,
	  .batch = 1, .stage = 50, .work_us = 300, .rest_us = 10000 },
	{ .engine = APP_AIO, .threads = 7, .reads = 2000, .min_kib = 4, .max_kib = 64,
	  .batch = 3, .stage = 140, .work_us = 1000, .rest_us = 80000 },
	{ .engine = APP_PREAD, .threads = 5, .reads = 2800, .min_kib = 4, .max_kib = 64,
	  .batch = 1, .stage = 100, .work_us = 1000, .rest_us = 200000 },
};

static_assert(ARRAY_SIZE(app_shapes) == APPS, "a shape for each name");

struct app {
	const struct app_shape *shape;
	const struct probe_options *o;
	struct app_read *plan;
	pthread_barrier_t stage;
	pthread_mutex_t lock;
	struct probe_result *result;	/* @lock */
};

struct app_thread {
	struct app *app;
	u32 number;
	pthread_t thread;
};

/*
 * The reads of all threads in their order. Which thread has which is random, so that the
 * threads have to wait for each other behind a stage.
 */
static struct app_read *plan(const struct app_shape *shape, u64 size, u64 seed)
{
	struct random random = { seed };
	u32 pages = (u32)(size / PAGE_BYTES), last = APP_READ_MAX / PAGE_BYTES, i;
	struct app_read *reads = xcalloc(shape->reads, sizeof(*reads));
	u64 *next = xcalloc(shape->threads, sizeof(*next));

	for (i = 0; i < shape->threads; i++)
		next[i] = (u64)pages / shape->threads * i * PAGE_BYTES;
	for (i = 0; i < shape->reads; i++) {
		struct app_read *r = &reads[i];

		r->thread = random_below(&random, shape->threads);
		r->bytes = random_between(&random, shape->min_kib * 1024 / PAGE_BYTES,
					  shape->max_kib * 1024 / PAGE_BYTES) * PAGE_BYTES;
		r->offset = next[r->thread];
		if (random_below(&random, 100) < RANDOM_PERCENT || r->offset + r->bytes > size)
			r->offset = (u64)random_below(&random, pages - last) * PAGE_BYTES;
		else
			next[r->thread] += r->bytes;
	}
	free(next);
	return reads;
}

static void read_batch(struct app *app, struct app_io *io, const struct app_read *const *reads,
		       unsigned int count)
{
	u64 begin = now_ns(), ns, bytes = 0;
	unsigned int i;

	app_io_read(io, reads, count);
	ns = now_ns() - begin;
	for (i = 0; i < count; i++)
		bytes += reads[i]->bytes;
	pthread_mutex_lock(&app->lock);
	probe_account(app->result, PROBE_READ, ns);
	app->result->reads += count;
	app->result->read_bytes += bytes;
	pthread_mutex_unlock(&app->lock);
	work_for_ns(count * app->shape->work_us * NSEC_PER_USEC);
}

/* This thread's reads of [@first, @end). */
static void run_stage(struct app_thread *t, struct app_io *io, u32 first, u32 end)
{
	const struct app_read *batch[APP_BATCH_MAX];
	struct app *app = t->app;
	unsigned int count = 0;

	for (; first < end; first++) {
		if (app->plan[first].thread != t->number)
			continue;
		batch[count++] = &app->plan[first];
		if (count < app->shape->batch)
			continue;
		read_batch(app, io, batch, count);
		count = 0;
	}
	if (count)
		read_batch(app, io, batch, count);
}

static void *run_thread(void *arg)
{
	struct app_thread *t = arg;
	const struct app_shape *shape = t->app->shape;
	const struct probe_options *o = t->app->o;
	struct app_io *io = app_io_open(shape->engine, o->file, (u64)o->pages * PAGE_BYTES);
	u32 first;

	for (first = 0; first < shape->reads; first += shape->stage) {
		u32 end = first + shape->stage;

		run_stage(t, io, first, end < shape->reads ? end : shape->reads);
		pthread_barrier_wait(&t->app->stage);
		sleep_until_ns(now_ns() + shape->rest_us * NSEC_PER_USEC);
	}
	app_io_close(io);
	return NULL;
}

static void check(int error, const char *what)
{
	if (error)
		die(EXIT_FAILED, "%s: %s", what, strerror(error));
}

void app_run(const struct probe_options *o, struct probe_result *result)
{
	const struct app_shape *shape = o->app;
	struct app_thread *threads = xcalloc(shape->threads, sizeof(*threads));
	struct app app = { .shape = shape, .o = o, .result = result };
	u32 i;

	app.plan = plan(shape, (u64)o->pages * PAGE_BYTES, o->seed);
	check(pthread_mutex_init(&app.lock, NULL), "pthread_mutex_init");
	check(pthread_barrier_init(&app.stage, NULL, shape->threads), "pthread_barrier_init");
	for (i = 0; i < shape->threads; i++) {
		threads[i] = (struct app_thread){ .app = &app, .number = i };
		check(pthread_create(&threads[i].thread, NULL, run_thread, &threads[i]),
		      "pthread_create");
	}
	for (i = 0; i < shape->threads; i++)
		check(pthread_join(threads[i].thread, NULL), "pthread_join");
	pthread_barrier_destroy(&app.stage);
	pthread_mutex_destroy(&app.lock);
	free(app.plan);
	free(threads);
}
