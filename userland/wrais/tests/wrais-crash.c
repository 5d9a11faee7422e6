// SPDX-License-Identifier: GPL-2.0
/*
 * wrais-crash.c - write what a crash must not take back.
 *
 * Writers append records to files of their own and sync them; every other one
 * is privileged. What fsync() has promised is noted behind the file system, on
 * the same disk: a replay of the disk's writes up to some point has there what
 * the files must hold. Each writer also makes, renames and removes small files,
 * so that the journal carries metadata of both kinds of writers.
 *
 * The notes are on a partition of their own. The file system is mounted, so the
 * whole disk cannot be claimed. The partition can be, which is refused for all
 * that is mounted or claimed: a slip in its name costs no data there.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "diskfile.h"
#include "opts.h"
#include "random.h"

#define WRITERS_MAX	32U
#define RECORD		4096U
#define PROMISE		4096U
#define PROMISE_MAGIC	0x5052414953435241ULL

struct crash {
	const char *dir;
	const char *disk;
	const char *stop;	/* NULL: none */
	bool mixed;
	u32 writers;
	u32 seconds;
	u32 records;
	u64 seed;
	int notes;
};

static struct crash x;

static const struct opt rows[] = {
	OPT('d', "--dir", "DIR", TEXT(x.dir, NULL),
	    "where the files are; wN, dN, eN, mN-M and sN-M there are overwritten"),
	OPT('D', "--disk", "DEV", TEXT(x.disk, NULL),
	    "the partition of the notes; its beginning is overwritten"),
	OPT('w', "--writers", "N", NUMBER(x.writers, 1, WRITERS_MAX, 4),
	    "%r, every other one privileged (%d)"),
	OPT('s', "--seconds", "S", NUMBER(x.seconds, 1, 3600, 5), "%r, how long (%d)"),
	OPT(0, "--stop", "FILE", TEXT(x.stop, NULL),
	    "a writer stops when this file is there as well"),
	OPT(0, "--records", "N", NUMBER(x.records, 1, 1000000, 600),
	    "%r, a writer stops after N records (%d)"),
	OPT(0, "--mixed", NULL, FLAG(x.mixed),
	    "also links, late names, and what ext4's fast commits do not support"),
	OPT(0, "--seed", "N", NUMBER(x.seed, 0, ~0ULL, 1), "of what is random (%d)"),
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-crash --dir DIR --disk DEV [options]\n"
"\n"
"Append records to files, one file a writer, sync them now and then, and note on\n"
"another partition of the same disk what fsync has promised: 4 KiB a writer. Each\n"
"writer also makes, renames and removes small files.\n"
"\n",
	.rows = rows,
	.tail =
"\n"
"The exit status is 0 when all went well, 1 when a writer failed, 2 for bad input (and\n"
"nothing was changed).\n",
};

static int open_notes(const struct crash *x)
{
	u64 size;
	int fd = claim_disk(x->disk, O_WRONLY | O_DIRECT | O_DSYNC, &size);

	if (size < (u64)x->writers * PROMISE)
		die(EXIT_USAGE, "%s: %llu bytes, at least %u are needed", x->disk, size,
		    x->writers * PROMISE);
	return fd;
}

/* The host checks the same: see subjects/wrais/promise.py. */
static void fill_record(u64 *words, u32 writer, u32 number)
{
	unsigned int i;

	for (i = 0; i < RECORD / sizeof(*words); i++)
		words[i] = ((u64)writer << 48) ^ ((u64)number << 16) ^ i ^ 1ULL << 63;
}

/* 0 or -errno. */
static int note_promise(u64 *words, const struct crash *x, u32 writer, u32 records)
{
	memset(words, 0, PROMISE);
	words[0] = PROMISE_MAGIC;
	words[1] = writer;
	words[2] = records;
	if (pwrite(x->notes, words, PROMISE, (off_t)writer * PROMISE) != PROMISE)
		return errno ? -errno : -EIO;
	return 0;
}

/* Metadata of which nothing has been promised. */
static int stir(int dir, struct random *r, u32 writer)
{
	char name[2][32];
	int fd;

	snprintf(name[0], sizeof(name[0]), "s%u-%u", writer, random_below(r, 40));
	snprintf(name[1], sizeof(name[1]), "s%u-%u", writer, random_below(r, 40));
	switch (random_below(r, 3)) {
	case 0:
		fd = openat(dir, name[0], O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
		if (fd < 0 || write(fd, name, sizeof(name)) < 0)
			return -errno;
		return close(fd) ? -errno : 0;
	case 1:
		return renameat(dir, name[0], dir, name[1]) && errno != ENOENT ? -errno : 0;
	default:
		return unlinkat(dir, name[0], 0) && errno != ENOENT ? -errno : 0;
	}
}

/* A file that is named when it is complete. */
static int name_late(int dir, const char *name)
{
	int fd = openat(dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0644);
	char path[32];

	if (fd < 0 || write(fd, name, strlen(name)) < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (linkat(AT_FDCWD, path, dir, name, AT_SYMLINK_FOLLOW) && errno != EEXIST)
		return -errno;
	if (fsync(fd))
		return -errno;
	return close(fd) ? -errno : 0;
}

/* To be renamed. One that is made is nothing for a fast commit: these have been there before. */
static void make_folders(const struct crash *x)
{
	int dir = open(x->dir, O_DIRECTORY | O_CLOEXEC);
	char name[16];
	u32 i;

	for (i = 0; i < x->writers; i++) {
		snprintf(name, sizeof(name), "d%u", i);
		if (mkdirat(dir, name, 0755))
			die(EXIT_FAILED, "%s/%s: %s", x->dir, name, strerror(errno));
	}
	if (fsync(dir) || close(dir))
		die(EXIT_FAILED, "%s: %s", x->dir, strerror(errno));
}

static int rename_folder(int dir, u32 writer)
{
	char name[2][16];

	snprintf(name[0], sizeof(name[0]), "d%u", writer);
	snprintf(name[1], sizeof(name[1]), "e%u", writer);
	return renameat(dir, name[0], dir, name[1]) &&
	       renameat(dir, name[1], dir, name[0]) ? -errno : 0;
}

/* One of four of these is nothing for a fast commit. */
static int stir_more(int dir, struct random *r, u32 writer)
{
	char name[2][32];
	int i, error;

	for (i = 0; i < 2; i++)
		snprintf(name[i], sizeof(name[i]), "m%u-%u", writer, random_below(r, 8));
	switch (random_below(r, 16)) {
	case 0 ... 1:
		if (symlinkat("nowhere", dir, name[0]) && errno != EEXIST)
			return -errno;
		return fsync(dir) ? -errno : 0;
	case 2:
		return rename_folder(dir, writer);
	case 3:
		return fsetxattr(dir, "user.crash", name[0], strlen(name[0]), 0) ? -errno : 0;
	case 4 ... 6:
		return name_late(dir, name[0]);
	case 7 ... 9:
		error = linkat(dir, name[0], dir, name[1], 0);
		break;
	default:
		error = unlinkat(dir, name[0], 0);
	}
	return error && errno != ENOENT && errno != EEXIST ? -errno : 0;
}

/* 0 or -errno. */
static int append(int file, u64 *words, const struct crash *x, u32 writer, u32 number,
		  bool sync)
{
	fill_record(words, writer, number);
	if (write(file, words, RECORD) != RECORD)
		return errno ? -errno : -EIO;
	if (!sync)
		return 0;
	if (fsync(file))
		return -errno;
	return note_promise(words, x, writer, number + 1);
}

static bool goes_on(const struct crash *x, u64 end_ns)
{
	return now_ns() < end_ns && !(x->stop && !access(x->stop, F_OK));
}

static int write_records(const struct crash *x, u32 writer, u64 end_ns)
{
	struct random random = { .state = x->seed * WRITERS_MAX + writer };
	int dir, file, error = 0;
	char name[16];
	u64 *words;
	u32 i;

	if (writer % 2 == 0 && ioprio_change(0, (struct ioprio){ IO_RT, 0 }))
		die(EXIT_FAILED, "writer %u: no real-time I/O class", writer);
	snprintf(name, sizeof(name), "w%u", writer);
	dir = open(x->dir, O_DIRECTORY | O_CLOEXEC);
	file = openat(dir, name, O_CREAT | O_TRUNC | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
	if (dir < 0 || file < 0 || posix_memalign((void **)&words, PROMISE, PROMISE))
		die(EXIT_FAILED, "writer %u: %s", writer, strerror(errno));

	for (i = 0; i < x->records && !error && goes_on(x, end_ns); i++) {
		error = append(file, words, x, writer, i, !random_below(&random, 3));
		if (!error)
			error = stir(dir, &random, writer);
		if (!error && x->mixed)
			error = stir_more(dir, &random, writer);
	}
	if (error)
		complain("writer %u: record %u: %s", writer, i, strerror(-error));
	return error ? EXIT_FAILED : EXIT_GOOD;
}

int main(int argc, char **argv)
{
	int status, code = EXIT_GOOD;
	u64 end_ns;
	u32 i;

	args_init("wrais-crash");
	opts_parse(&opts, argc, argv);
	if (!x.dir || !x.disk)
		die(EXIT_USAGE, "%s is missing", x.dir ? "--disk" : "--dir");
	x.notes = open_notes(&x);
	if (x.mixed)
		make_folders(&x);
	end_ns = now_ns() + x.seconds * NSEC_PER_SEC;
	for (i = 0; i < x.writers; i++) {
		pid_t pid = fork();

		if (pid < 0)
			die(EXIT_FAILED, "fork: %s", strerror(errno));
		if (!pid)
			_exit(write_records(&x, i, end_ns));
	}
	while (wait(&status) > 0)
		if (status)
			code = EXIT_FAILED;
	return code;
}
