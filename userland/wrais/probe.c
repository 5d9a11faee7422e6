// SPDX-License-Identifier: GPL-2.0
/*
 * probe.c - what an application does that starts: it reads its file page by
 * page, keeps what it read, and writes a page now and then.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "diskfile.h"
#include "files.h"
#include "json.h"
#include "probe.h"
#include "random.h"

/* It keeps the last so many pages, 54 MB. */
#define LINES		13200U

#define WRITE_EVERY	10U

/* The kinds of application other than the plain one. */
#define KIND_FSYNC_EVERY	20U
#define KIND_WRITE_BYTES	70000000ULL
#define KIND_THINK_US		3000U
#define KIND_THINK_EVERY	65536U
#define KIND_ENDLESS_NS		(60 * NSEC_PER_SEC)
#define KIND_WRITE_EVERY	16U
#define KIND_APPEND_US		10000U
#define KIND_APPEND_NS		(40 * NSEC_PER_SEC)

const char *const probe_ops[] = { "open", "read", "write", "fsync", NULL };
static_assert(ARRAY_SIZE(probe_ops) == PROBE_OPS + 1, "a name for each operation");

enum kind {
	PLAIN, FSYNC, WRITE70, THINK, RANDOM, ENDLESS, ENDLESS_RANDOM, ENDLESS_WRITE,
	ENDLESS_FSYNC, APPEND, COMMIT, FIRST_APP, KINDS = FIRST_APP + APPS,
};

const char *const probe_kinds[] = {
	"lprobe", "fsync", "write70", "think", "random", "endless", "endless-random",
	"endless-write", "endless-fsync", "append", "commit", APP_NAMES, NULL
};

static_assert(ARRAY_SIZE(probe_kinds) == KINDS + 1, "a name for each kind");

struct probe {
	const struct probe_options *o;
	struct probe_result *r;
	int in;
	int out;		/* -1 without writes */
	u8 *lines;
	u32 room;		/* pages of lines */
	u32 *order;		/* of the pages, NULL: as they come */
	u32 length;		/* pages of one pass over the file */
	u64 slots;		/* writes of one pass */
	u64 write_pages;	/* of one pass */
	u64 until_think;	/* bytes left to read before the next sleep */
};

struct probe_options probe_defaults(void)
{
	return (struct probe_options){
		.pages = PROBE_PAGES,
		.write_every = WRITE_EVERY,
		.seed = 1,
		.stall_ns = STALL_MS * NSEC_PER_MSEC,
	};
}

void probe_set_endless(struct probe_options *o, u64 ns)
{
	o->endless_ns = ns;
	if (!o->write_only)
		o->write_every = 0;
}

/* A page of the output for each of the input that is not read. */
static void write_only(struct probe_options *o, u64 endless_ns, u32 every)
{
	o->write_only = true;
	o->endless_ns = endless_ns;
	o->write_every = every;
}

void probe_set_kind(struct probe_options *o, unsigned int kind)
{
	switch (kind) {
	case FSYNC:
		o->fsync_every = KIND_FSYNC_EVERY;
		break;
	case WRITE70:
		o->write_bytes = KIND_WRITE_BYTES;
		break;
	case THINK:
		o->think_us = KIND_THINK_US;
		o->think_every = KIND_THINK_EVERY;
		break;
	case RANDOM:
		o->random = true;
		break;
	case ENDLESS_RANDOM:
		o->random = true;
		probe_set_endless(o, KIND_ENDLESS_NS);
		break;
	case ENDLESS:
		probe_set_endless(o, KIND_ENDLESS_NS);
		break;
	case ENDLESS_WRITE:
		write_only(o, KIND_ENDLESS_NS, KIND_WRITE_EVERY);
		o->write_bytes = (u64)PROBE_PAGES * PAGE_BYTES;
		break;
	case ENDLESS_FSYNC:
		write_only(o, KIND_ENDLESS_NS, 1);
		o->fsync_every = 1;
		break;
	case COMMIT:
	case APPEND:
		write_only(o, KIND_APPEND_NS, 1);
		o->think_us = KIND_APPEND_US;
		o->think_every = PAGE_BYTES;
		o->fsync_every = kind == COMMIT;
		break;
	default:
		if (kind >= FIRST_APP)
			o->app = &app_shapes[kind - FIRST_APP];
	}
}

static void begin(struct probe *p, enum probe_op op)
{
	p->r->op = op;
	store64(&p->r->op_begin_ns, now_ns());
}

void probe_account(struct probe_result *r, enum probe_op op, u64 ns)
{
	r->times[op].sum_ns += ns;
	if (ns > r->times[op].max_ns)
		r->times[op].max_ns = ns;
	r->stalls += ns > STALL_MS * NSEC_PER_MSEC;
}

/* The operation that began last has ended. */
static void end(struct probe *p)
{
	struct probe_result *r = p->r;
	u64 now = now_ns(), ns = now - r->op_begin_ns;

	store64(&r->op_begin_ns, 0);
	probe_account(r, r->op, ns);
	if (ns > p->o->stall_ns)
		complain("%s %llu stalled for %.1f ms, at %.3f s", probe_ops[r->op],
			 r->op == PROBE_READ ? r->reads + 1 :
			 r->op == PROBE_WRITE ? r->writes + 1 :
			 r->op == PROBE_FSYNC ? r->fsyncs + 1 : 1,
			 (double)ns / NSEC_PER_MSEC,
			 (double)(now - ns - r->begin_ns) / NSEC_PER_SEC);
}

void probe_close(struct probe_result *r, u64 now)
{
	u64 begun = load64(&r->op_begin_ns);

	if (begun)
		probe_account(r, r->op, now - begun);
	store64(&r->op_begin_ns, 0);
	if (!r->end_ns)
		r->end_ns = now;
}

static void __noreturn failed(const struct probe *p, const char *path)
{
	die(EXIT_FAILED, "cannot %s %s: %s", probe_ops[p->r->op], path, strerror(errno));
}

static int open_one(struct probe *p, const char *path, int flags)
{
	int fd;

	begin(p, PROBE_OPEN);
	fd = open(path, flags | O_CLOEXEC, 0644);
	if (fd < 0)
		failed(p, path);
	end(p);
	return fd;
}

static void open_files(struct probe *p)
{
	struct stat in;

	p->in = open_one(p, p->o->file, O_RDONLY);
	if (fstat(p->in, &in) || (u64)in.st_size / PAGE_BYTES < p->length)
		die(EXIT_USAGE, "%s: is shorter than the %u pages to read", p->o->file,
		    p->length);
	if (p->o->random)
		posix_fadvise(p->in, 0, 0, POSIX_FADV_RANDOM);
	p->out = -1;
	if (p->o->write_every)
		p->out = open_one(p, p->o->output, O_WRONLY | O_CREAT | O_TRUNC);
}

/* Each page once, in an order that depends on the seed alone. */
static u32 *shuffled(u32 count, u64 seed)
{
	struct random random = { seed };
	u32 *order = xcalloc(count, sizeof(*order)), i;

	for (i = 0; i < count; i++)
		order[i] = i;
	for (i = count; i > 1; i--) {
		u32 other = random_below(&random, i), kept = order[i - 1];

		order[i - 1] = order[other];
		order[other] = kept;
	}
	return order;
}

static void plan(struct probe *p)
{
	const struct probe_options *o = p->o;

	p->length = o->pages;
	p->room = o->pages < LINES ? o->pages : LINES;
	p->lines = mmap(NULL, (size_t)p->room * PAGE_BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p->lines == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	if (o->random)
		p->order = shuffled(p->length, o->seed);
	if (o->write_every)
		p->slots = (p->length + o->write_every - 1) / o->write_every;
	p->write_pages = p->slots;
	if (o->write_bytes)
		p->write_pages = (o->write_bytes + PAGE_BYTES - 1) / PAGE_BYTES;
	if (p->write_pages > p->slots * p->room)
		die(EXIT_USAGE, "%llu bytes in %llu writes: more than %llu bytes in one",
		    o->write_bytes, p->slots, (u64)p->room * PAGE_BYTES);
	p->until_think = o->think_every;
}

static void think(struct probe *p)
{
	if (!p->o->think_every)
		return;
	if (p->until_think > PAGE_BYTES) {
		p->until_think -= PAGE_BYTES;
		return;
	}
	p->until_think = p->o->think_every;
	sleep_until_ns(now_ns() + p->o->think_us * NSEC_PER_USEC);
}

static void read_page(struct probe *p, u32 i)
{
	u64 page = p->order ? p->order[i] : i;
	u8 *line = p->lines + (size_t)(i % p->room) * PAGE_BYTES;

	begin(p, PROBE_READ);
	if (pread(p->in, line, PAGE_BYTES, (off_t)(page * PAGE_BYTES)) != PAGE_BYTES)
		failed(p, p->o->file);
	end(p);
	p->r->reads++;
	p->r->read_bytes += PAGE_BYTES;
}

static void sync_output(struct probe *p)
{
	begin(p, PROBE_FSYNC);
	if (fsync(p->out))
		failed(p, p->o->output);
	end(p);
	p->r->fsyncs++;
}

/* The pages that the first @slot writes of a pass have written together. */
static u64 share(const struct probe *p, u64 slot)
{
	return p->write_pages * slot / p->slots;
}

static void write_pages(struct probe *p, u32 i)
{
	u64 slot = i / p->o->write_every, first = share(p, slot);
	u64 bytes = (share(p, slot + 1) - first) * PAGE_BYTES;
	u32 line = i % p->room;
	ssize_t done;

	if (!bytes)
		return;
	if (bytes > (u64)(p->room - line) * PAGE_BYTES)
		line = 0;
	begin(p, PROBE_WRITE);
	done = pwrite(p->out, p->lines + (size_t)line * PAGE_BYTES, bytes,
		      (off_t)(first * PAGE_BYTES));
	if (done != (ssize_t)bytes)
		failed(p, p->o->output);
	end(p);
	p->r->writes++;
	p->r->written_bytes += bytes;
	if (p->o->fsync_every && p->r->writes % p->o->fsync_every == 0)
		sync_output(p);
}

static bool time_is_up(const struct probe *p)
{
	return p->o->endless_ns && now_ns() - p->r->begin_ns >= p->o->endless_ns;
}

/* False when its time is up. */
static bool pass(struct probe *p)
{
	u32 i;

	for (i = 0; i < p->length; i++) {
		if (time_is_up(p))
			return false;
		if (!p->o->write_only)
			read_page(p, i);
		if (p->o->write_every && i % p->o->write_every == 0)
			write_pages(p, i);
		think(p);
	}
	return true;
}

static void run_pages(const struct probe_options *o, struct probe_result *result)
{
	struct probe p = { .o = o, .r = result };

	plan(&p);
	result->begin_ns = now_ns();
	open_files(&p);
	while (pass(&p) && o->endless_ns)
		forget_pages(p.in);
	result->end_ns = now_ns();
	close(p.in);
	if (p.out >= 0)
		close(p.out);
	free(p.order);
	munmap(p.lines, (size_t)p.room * PAGE_BYTES);
}

void probe_run(const struct probe_options *o, struct probe_result *result)
{
	*result = (struct probe_result){ };
	if (!o->app)
		return run_pages(o, result);
	result->begin_ns = now_ns();
	app_run(o, result);
	result->end_ns = now_ns();
}

enum probe_op probe_worst(const struct probe_result *r)
{
	enum probe_op op, worst = 0;

	for (op = 0; op < PROBE_OPS; op++)
		if (r->times[op].max_ns > r->times[worst].max_ns)
			worst = op;
	return worst;
}

void probe_json(const struct probe_result *r)
{
	enum probe_op worst = probe_worst(r);

	json_seconds("startup_s", r->end_ns - r->begin_ns);
	json_number("stalls_over_300ms", r->stalls);
	json_real("max_stall_ms", (double)r->times[worst].max_ns / NSEC_PER_MSEC);
	json_text("max_stall_in", probe_ops[worst]);
	json_number("reads", r->reads);
	json_number("writes", r->writes);
	json_number("fsyncs", r->fsyncs);
	json_number("written_bytes", r->written_bytes);
	json_seconds("open_s", r->times[PROBE_OPEN].sum_ns);
	json_seconds("read_s", r->times[PROBE_READ].sum_ns);
	json_seconds("write_s", r->times[PROBE_WRITE].sum_ns);
	json_seconds("fsync_s", r->times[PROBE_FSYNC].sum_ns);
}
