// SPDX-License-Identifier: GPL-2.0
/*
 * wrais-disk.c - lay a file system that the host made onto a block device.
 *
 * The guest of a measured run has neither mke2fs nor a disk of the host. A
 * fresh file system is nearly all zeros, and so is a fresh memory-backed disk:
 * what differs from zero is a few hundred KiB, and comes along as extents.
 *
 * The file, little-endian: an 8-byte magic, the size of the whole disk, the
 * number of extents; then each extent's offset, length and bytes. Offsets rise.
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "diskfile.h"
#include "json.h"
#include "opts.h"

#define DISK_MAGIC	"LABDISK1"

struct options {
	const char *disk;
	const char *file;
	bool dry_run;
	bool json;
};

/* As they are in the file, which has them at any alignment. */
struct header {
	char magic[8];
	u64 size;
	u64 nr_extents;
} attribute(__packed__);

struct extent {
	u64 offset;
	u64 length;
} attribute(__packed__);

struct image {
	const char *name;
	const u8 *bytes;
	u64 length;
	u64 disk_size;
	u64 nr_extents;
	u64 payload;
};

static struct options o = { .file = DISK_FILE };

static const struct opt rows[] = {
	OPT('d', "--disk", "DEV", TEXT(o.disk, NULL),
	    "the device; there is no default, it is overwritten"),
	OPT('n', "--dry-run", NULL, FLAG(o.dry_run), "check file and device, write nothing"),
	OPT(0, "--json", NULL, FLAG(o.json), "one JSON object"),
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: wrais-disk --disk DEV [options] [FILE]\n"
"\n"
"Write the extents in FILE (" DISK_FILE ") to a block device that is all zeros,\n"
"which thereby becomes the disk that the extents were taken from.\n"
"\n",
	.rows = rows,
	.tail =
"\n"
"The whole file is checked before anything is written. The exit status is 0 when all\n"
"went well, 1 when the device failed, 2 for bad input (and nothing was changed).\n",
	.operands = 1,
};

static void map_image(const char *name, struct image *image)
{
	int fd = open(name, O_RDONLY | O_CLOEXEC);
	struct stat st;
	void *bytes;

	if (fd < 0 || fstat(fd, &st))
		die(EXIT_USAGE, "%s: %s", name, strerror(errno));
	if ((u64)st.st_size < sizeof(struct header))
		die(EXIT_USAGE, "%s: %lld bytes: not the extents of a disk", name,
		    (long long)st.st_size);
	bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		die(EXIT_FAILED, "%s: %s", name, strerror(errno));
	close(fd);
	image->name = name;
	image->bytes = bytes;
	image->length = (u64)st.st_size;
}

/* The extent at @pos of the file, whose bytes follow it; dies if it is not valid. */
static struct extent extent_at(const struct image *image, u64 pos)
{
	u64 left = image->length - pos;
	struct extent e;

	if (left < sizeof(e))
		die(EXIT_USAGE, "%s: cut off at byte %llu", image->name, pos);
	memcpy(&e, image->bytes + pos, sizeof(e));
	e.offset = le64toh(e.offset);
	e.length = le64toh(e.length);
	if (e.length > left - sizeof(e))
		die(EXIT_USAGE, "%s: cut off in the extent at byte %llu", image->name, pos);
	if (!e.length || e.offset > image->disk_size ||
	    e.length > image->disk_size - e.offset)
		die(EXIT_USAGE, "%s: extent %llu+%llu is not within a disk of %llu bytes",
		    image->name, e.offset, e.length, image->disk_size);
	return e;
}

/* All of the file is right before a byte of the disk changes. */
static void check_image(struct image *image)
{
	u64 pos = sizeof(struct header), end = 0;
	struct header head;

	memcpy(&head, image->bytes, sizeof(head));
	if (memcmp(head.magic, DISK_MAGIC, sizeof(head.magic)))
		die(EXIT_USAGE, "%s: not the extents of a disk", image->name);
	image->disk_size = le64toh(head.size);
	image->nr_extents = le64toh(head.nr_extents);
	for (u64 i = 0; i < image->nr_extents; i++) {
		struct extent e = extent_at(image, pos);

		if (e.offset < end)
			die(EXIT_USAGE, "%s: extent at %llu begins before the last one ends",
			    image->name, e.offset);
		end = e.offset + e.length;
		image->payload += e.length;
		pos += sizeof(e) + e.length;
	}
	if (pos != image->length)
		die(EXIT_USAGE, "%s: %llu bytes behind the last extent", image->name,
		    image->length - pos);
}

static int open_disk(const struct options *o, const struct image *image)
{
	u64 size;
	int fd = claim_disk(o->disk, o->dry_run ? O_RDONLY : O_WRONLY, &size);

	if (size < image->disk_size)
		die(EXIT_USAGE, "%s: %llu bytes, the disk of %s has %llu", o->disk, size,
		    image->name, image->disk_size);
	return fd;
}

static void write_at(int fd, const char *disk, const u8 *bytes, struct extent e)
{
	while (e.length) {
		ssize_t done = pwrite(fd, bytes, e.length, (off_t)e.offset);

		if (done < 0 && errno == EINTR)
			continue;
		if (done <= 0)
			die(EXIT_FAILED, "%s: byte %llu: %s", disk, e.offset,
			    done ? strerror(errno) : "no room");
		bytes += done;
		e.offset += (u64)done;
		e.length -= (u64)done;
	}
}

static void write_image(int fd, const char *disk, const struct image *image)
{
	u64 pos = sizeof(struct header);

	for (u64 i = 0; i < image->nr_extents; i++) {
		struct extent e = extent_at(image, pos);

		write_at(fd, disk, image->bytes + pos + sizeof(e), e);
		pos += sizeof(e) + e.length;
	}
	if (fsync(fd))
		die(EXIT_FAILED, "%s: %s", disk, strerror(errno));
}

int main(int argc, char **argv)
{
	struct image image = { };
	int fd;

	args_init("wrais-disk");
	if (opts_parse(&opts, argc, argv) < argc)
		o.file = argv[optind];
	if (!o.disk)
		die(EXIT_USAGE, "--disk is missing");
	map_image(o.file, &image);
	check_image(&image);
	fd = open_disk(&o, &image);
	if (!o.dry_run)
		write_image(fd, o.disk, &image);
	/* The last close of a disk drops its page cache. */
	if (close(fd))
		die(EXIT_FAILED, "%s: %s", o.disk, strerror(errno));
	if (o.json) {
		json_open();
		json_text("disk", o.disk);
		json_number("disk_bytes", image.disk_size);
		json_number("extents", image.nr_extents);
		json_number("bytes", image.payload);
		json_close();
	} else {
		printf("%s: %llu bytes in %llu extents, of a disk of %llu bytes%s\n", o.disk,
		       image.payload, image.nr_extents, image.disk_size,
		       o.dry_run ? " (nothing written)" : "");
	}
	finish_output();
	return EXIT_GOOD;
}
