// SPDX-License-Identifier: GPL-2.0
/* wrais-times.c - how long null_blk's model of a device takes for its requests. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "crew.h"
#include "diskfile.h"
#include "ktap.h"
#include "opts.h"
#include "procfs.h"

#define NAME		"wrais-times"
#define ITEM		"/sys/kernel/config/nullb/" NAME
#define DEVICE		"/dev/" NAME
/* How much longer they may take than the model says, in virtual time. */
#define OVER_PERCENT	10U
#define PATIENCE_NS	(60 * NSEC_PER_SEC)

static const struct opt rows[] = {
	KTAP_OPT,
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-times [options]\n"
"\n"
"Test how long null_blk takes for requests when it models a device: served one after\n"
"the other, with seeks, with so many tokens per second, and with a latency that all\n"
"have at the same time. Makes a device for it. How long they take at the most holds in\n"
"a guest with virtual time. The output is KTAP. Needs root.\n"
"\n",
	.rows = rows,
	.tail = TEST_TAIL,
};

/* Each of the readers reads so many pages, of which the others in between are left out. */
struct model {
	u32 mbps;
	u32 service_us;
	u32 seek_us;
	u32 iops;
	u32 latency_us;
	u32 readers;
	u32 reads;
	u32 stride;
	u32 expected_us;
};

static void configure(const char *name, u64 value)
{
	char path[128], text[32];
	int error;

	snprintf(path, sizeof(path), ITEM "/%s", name);
	snprintf(text, sizeof(text), "%llu", value);
	error = write_text(path, text);
	if (error)
		die(EXIT_FAILED, "%s: %s: %s", path, text, strerror(-error));
}

static void make_device(const struct model *m)
{
	if (mkdir(ITEM, 0755))
		die(EXIT_UNSUPPORTED, ITEM ": %s", strerror(errno));
	configure("memory_backed", 0);
	configure("queue_mode", 2);
	configure("irqmode", 2);
	configure("blocksize", PAGE_BYTES);
	configure("hw_queue_depth", 64);
	configure("service_mbps", m->mbps);
	configure("service_nsec", m->service_us * NSEC_PER_USEC);
	configure("service_seek_nsec", m->seek_us * NSEC_PER_USEC);
	configure("service_iops", m->iops);
	configure("completion_nsec", m->latency_us * NSEC_PER_USEC);
	configure("power", 1);
}

static void remove_device(void)
{
	configure("power", 0);
	if (rmdir(ITEM))
		die(EXIT_FAILED, ITEM ": %s", strerror(errno));
}

static CREW_FN(read_pages)
{
	const struct model *m = arg;
	int fd = open(DEVICE, O_RDONLY | O_DIRECT | O_CLOEXEC);
	void *page = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	u32 done;

	if (fd < 0 || page == MAP_FAILED)
		return EXIT_FAILED;
	for (done = 0; done < m->reads; done++) {
		off_t at = (off_t)done * m->stride * PAGE_BYTES;

		if (pread(fd, page, PAGE_BYTES, at) != PAGE_BYTES)
			return EXIT_FAILED;
	}
	crew->page->slot[i].finish_ns = now_ns();
	return EXIT_GOOD;
}

static void check(struct ktap_case *t, const struct model *m)
{
	u64 last_ns = 0, took_us;
	struct crew crew;
	unsigned int i;

	make_device(m);
	crew_create(&crew, m->readers);
	for (i = 0; i < m->readers; i++)
		crew_fork(&crew, read_pages, m);
	crew_gather(&crew, PATIENCE_NS);
	crew_release(&crew);
	expect(t, !crew_reap(&crew, PATIENCE_NS), "a reader failed");
	for (i = 0; i < m->readers; i++)
		if (crew.page->slot[i].finish_ns > last_ns)
			last_ns = crew.page->slot[i].finish_ns;
	took_us = (last_ns - crew.release_ns) / NSEC_PER_USEC;
	crew_destroy(&crew);
	remove_device();
	expect(t, took_us >= m->expected_us, "%u x %u reads took %llu us, not %u us", m->readers,
	       m->reads, took_us, m->expected_us);
	expect_bound(t, 100 * took_us <= (100 + OVER_PERCENT) * m->expected_us,
		     "%u x %u reads took %llu us, %u us expected", m->readers, m->reads, took_us,
		     m->expected_us);
}

static void case_in_turn(struct ktap_case *t)
{
	static const struct model in_turn = {
		.service_us = 1000, .readers = 4, .reads = 10, .expected_us = 40000,
	};

	check(t, &in_turn);
}

/* 4096 bytes at 4 MB/s are 1024 us. */
static void case_bandwidth(struct ktap_case *t)
{
	static const struct model bandwidth = {
		.mbps = 4, .readers = 4, .reads = 10, .expected_us = 40960,
	};

	check(t, &bandwidth);
}

/*
 * Who reads on where the last request ended does not wait for the heads; but for the
 * first read, for they stand where the kernel looked for partitions.
 */
static void case_sequence(struct ktap_case *t)
{
	static const struct model sequence = {
		.service_us = 1000, .seek_us = 8000, .readers = 1, .reads = 40, .stride = 1,
		.expected_us = 48000,
	};

	check(t, &sequence);
}

static void case_seek(struct ktap_case *t)
{
	static const struct model seek = {
		.seek_us = 8000, .readers = 1, .reads = 10, .stride = 2, .expected_us = 80000,
	};

	check(t, &seek);
}

static void case_latency(struct ktap_case *t)
{
	static const struct model latency = {
		.iops = 1000000, .latency_us = 1000, .readers = 4, .reads = 40,
		.expected_us = 40000,
	};

	check(t, &latency);
}

/* Those of the last 10 ms are there. */
static void case_tokens(struct ktap_case *t)
{
	static const struct model tokens = {
		.iops = 1000, .readers = 4, .reads = 25, .expected_us = 90000,
	};

	check(t, &tokens);
}

static const struct ktap_test cases[] = {
	{ "in-turn", case_in_turn },
	{ "bandwidth", case_bandwidth },
	{ "sequence", case_sequence },
	{ "seek", case_seek },
	{ "latency", case_latency },
	{ "tokens", case_tokens },
};

int main(int argc, char **argv)
{
	struct ktap k;
	unsigned int i;

	args_init(NAME);
	opts_parse(&opts, argc, argv);
	ktap_start(&k, ARRAY_SIZE(cases));
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		ktap_run(&k, &cases[i]);
	return ktap_finish(&k);
}
