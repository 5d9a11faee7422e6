// SPDX-License-Identifier: GPL-2.0
/*
 * app_engine.c - the ways in which applications read.
 *
 * AIO and io_uring are called without their libraries: of both only "submit so
 * many and wait for all of them" is needed.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/io_uring.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "app_engine.h"
#include "args.h"
#include "crew.h"
#include "diskfile.h"
#include "files.h"

/* The rings that the kernel and we share; it reads the one and fills the other. */
struct ring {
	int fd;
	size_t size;
	u8 *page;
	struct io_uring_params p;
	struct io_uring_sqe *sqes;
};

struct app_io {
	enum app_engine engine;
	const char *path;
	int fd;
	u64 size;
	u8 *buffer;		/* APP_READ_MAX for each read of a batch */
	const u8 *map;		/* of APP_MMAP */
	aio_context_t aio;
	struct ring ring;
};

static void __noreturn failed(const struct app_io *io, int error)
{
	die(EXIT_FAILED, "cannot read %s: %s", io->path, error ? strerror(error) : "too short");
}

static void __noreturn lacks(const char *call)
{
	die(EXIT_FAILED, "%s: %s", call, strerror(errno));
}

static u8 *buffer_of(const struct app_io *io, unsigned int i)
{
	return io->buffer + (size_t)i * APP_READ_MAX;
}

static void expect_bytes(const struct app_io *io, s64 got, u32 bytes)
{
	if (got != bytes)
		failed(io, got < 0 ? (int)-got : 0);
}

static void read_in_turn(struct app_io *io, const struct app_read *const *reads,
			 unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		ssize_t got = pread(io->fd, buffer_of(io, i), reads[i]->bytes,
				    (off_t)reads[i]->offset);

		expect_bytes(io, got < 0 ? -errno : got, reads[i]->bytes);
	}
}

static void touch(struct app_io *io, const struct app_read *const *reads, unsigned int count)
{
	const u8 *map = io->map;
	unsigned int i;
	u32 at;

	for (i = 0; i < count; i++)
		for (at = 0; at < reads[i]->bytes; at += PAGE_BYTES)
			(void)__atomic_load_n(&map[reads[i]->offset + at], __ATOMIC_RELAXED);
}

static void read_aio(struct app_io *io, const struct app_read *const *reads, unsigned int count)
{
	struct iocb request[APP_BATCH_MAX], *submitted[APP_BATCH_MAX];
	struct io_event event[APP_BATCH_MAX];
	unsigned int i;

	for (i = 0; i < count; i++) {
		request[i] = (struct iocb){
			.aio_data = reads[i]->bytes,
			.aio_lio_opcode = IOCB_CMD_PREAD,
			.aio_fildes = (u32)io->fd,
			.aio_buf = (u64)(uintptr_t)buffer_of(io, i),
			.aio_nbytes = reads[i]->bytes,
			.aio_offset = (s64)reads[i]->offset,
		};
		submitted[i] = &request[i];
	}
	if (syscall(SYS_io_submit, io->aio, (long)count, submitted) != (long)count ||
	    syscall(SYS_io_getevents, io->aio, (long)count, (long)count, event, NULL) !=
	    (long)count)
		failed(io, errno);
	for (i = 0; i < count; i++)
		expect_bytes(io, event[i].res, (u32)event[i].data);
}

static u32 *ring_word(struct ring *ring, u32 offset)
{
	return (u32 *)(ring->page + offset);
}

/* No more than the ring has room for: all that was submitted before has ended. */
static void ring_fill(struct app_io *io, const struct app_read *const *reads, unsigned int count)
{
	struct ring *ring = &io->ring;
	u32 *order = ring_word(ring, ring->p.sq_off.array);
	u32 mask = *ring_word(ring, ring->p.sq_off.ring_mask);
	u32 *tail = ring_word(ring, ring->p.sq_off.tail);
	unsigned int i;

	for (i = 0; i < count; i++) {
		u32 place = (*tail + i) & mask;

		ring->sqes[place] = (struct io_uring_sqe){
			.opcode = IORING_OP_READ,
			.fd = io->fd,
			.off = reads[i]->offset,
			.addr = (u64)(uintptr_t)buffer_of(io, i),
			.len = reads[i]->bytes,
			.user_data = reads[i]->bytes,
		};
		order[place] = place;
	}
	store(tail, *tail + count);
}

static unsigned int ring_reap(struct app_io *io)
{
	struct ring *ring = &io->ring;
	const struct io_uring_cqe *cqes = (void *)(ring->page + ring->p.cq_off.cqes);
	u32 mask = *ring_word(ring, ring->p.cq_off.ring_mask);
	u32 *head = ring_word(ring, ring->p.cq_off.head);
	u32 at = *head, end = load(ring_word(ring, ring->p.cq_off.tail));
	unsigned int reaped;

	for (reaped = 0; at != end; at++, reaped++)
		expect_bytes(io, cqes[at & mask].res, (u32)cqes[at & mask].user_data);
	store(head, at);
	return reaped;
}

static void read_uring(struct app_io *io, const struct app_read *const *reads, unsigned int count)
{
	unsigned int left = count, fresh = count;

	ring_fill(io, reads, count);
	while (left) {
		long taken = syscall(SYS_io_uring_enter, io->ring.fd, fresh, left,
				     IORING_ENTER_GETEVENTS, NULL, 0);

		if (taken < 0 && errno != EINTR)
			failed(io, errno);
		if (taken > 0)
			fresh -= (unsigned int)taken;
		left -= ring_reap(io);
	}
}

static void ring_open(struct ring *ring)
{
	size_t sq, cq;

	ring->fd = (int)syscall(SYS_io_uring_setup, APP_BATCH_MAX, &ring->p);
	if (ring->fd < 0)
		lacks("io_uring_setup");
	sq = ring->p.sq_off.array + ring->p.sq_entries * sizeof(u32);
	cq = ring->p.cq_off.cqes + ring->p.cq_entries * sizeof(struct io_uring_cqe);
	/* One mapping has both (IORING_FEAT_SINGLE_MMAP, Linux 5.4). */
	ring->size = sq > cq ? sq : cq;
	ring->page = mmap(NULL, ring->size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE,
			  ring->fd, IORING_OFF_SQ_RING);
	ring->sqes = mmap(NULL, ring->p.sq_entries * sizeof(*ring->sqes), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_POPULATE, ring->fd, IORING_OFF_SQES);
	if (ring->page == MAP_FAILED || ring->sqes == MAP_FAILED)
		lacks("io_uring: mmap");
}

static void ring_close(struct ring *ring)
{
	munmap(ring->sqes, ring->p.sq_entries * sizeof(*ring->sqes));
	munmap(ring->page, ring->size);
	close(ring->fd);
}

struct app_io *app_io_open(enum app_engine engine, const char *path, u64 size)
{
	struct app_io *io = xcalloc(1, sizeof(*io));
	int direct = engine >= APP_DIRECT ? O_DIRECT : 0;
	struct stat status;

	io->engine = engine;
	io->path = path;
	io->size = size;
	io->fd = open(path, O_RDONLY | O_CLOEXEC | direct);
	if (io->fd < 0)
		die(EXIT_FAILED, "cannot open %s: %s", path, strerror(errno));
	if (fstat(io->fd, &status) || (u64)status.st_size < size)
		die(EXIT_USAGE, "%s: is shorter than the %llu bytes to read from", path, size);
	io->buffer = aligned_alloc(PAGE_BYTES, APP_BATCH_MAX * APP_READ_MAX);
	if (!io->buffer)
		die(EXIT_FAILED, "no memory");
	if (engine == APP_AIO && syscall(SYS_io_setup, (long)APP_BATCH_MAX, &io->aio))
		lacks("io_setup");
	if (engine == APP_URING)
		ring_open(&io->ring);
	if (engine == APP_MMAP) {
		io->map = mmap(NULL, size, PROT_READ, MAP_PRIVATE, io->fd, 0);
		if (io->map == MAP_FAILED)
			failed(io, errno);
	}
	return io;
}

void app_io_read(struct app_io *io, const struct app_read *const *reads, unsigned int count)
{
	switch (io->engine) {
	case APP_MMAP:
		return touch(io, reads, count);
	case APP_AIO:
		return read_aio(io, reads, count);
	case APP_URING:
		return read_uring(io, reads, count);
	default:
		return read_in_turn(io, reads, count);
	}
}

void app_io_close(struct app_io *io)
{
	if (io->engine == APP_MMAP)
		munmap((void *)io->map, io->size);
	if (io->engine == APP_AIO)
		syscall(SYS_io_destroy, io->aio);
	if (io->engine == APP_URING)
		ring_close(&io->ring);
	close(io->fd);
	free(io->buffer);
	free(io);
}
