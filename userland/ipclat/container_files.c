// SPDX-License-Identifier: GPL-2.0
/* container_files.c - the directory that two containers are made of. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "args.h"
#include "container_files.h"

const char *const side_names[] = { "sender", "receiver", NULL };

void path_in(const struct containers *c, char *path, const char *format, ...)
{
	int used = snprintf(path, PATH_SIZE, "%s/", c->dir);
	va_list args;

	va_start(args, format);
	vsnprintf(path + used, (size_t)(PATH_SIZE - used), format, args);
	va_end(args);
}

static void make_dir(const struct containers *c, const char *name)
{
	char path[PATH_SIZE];

	path_in(c, path, "%s", name);
	if (mkdir(path, 0755))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
}

void write_file(const char *path, const void *data, size_t size)
{
	FILE *file = fopen(path, "we");

	if (!file || fwrite(data, 1, size, file) != size || fclose(file))
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
}

static void copy_ourselves(const struct containers *c)
{
	char path[PATH_SIZE];
	struct stat self;
	int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC), to;
	off_t done = 0;

	path_in(c, path, "root/ipclat");
	to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0755);
	if (from < 0 || to < 0 || fstat(from, &self))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	while (done < self.st_size)
		if (sendfile(to, from, &done, (size_t)(self.st_size - done)) <= 0)
			die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
	close(from);
	if (close(to))
		die(EXIT_FAILED, "cannot write %s: %s", path, strerror(errno));
}

static void make_page(struct containers *c)
{
	char path[PATH_SIZE];
	void *page;
	int fd;

	path_in(c, path, "share/page");
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0 || ftruncate(fd, sizeof(*c->page)))
		die(EXIT_FAILED, "cannot make %s: %s", path, strerror(errno));
	page = mmap(NULL, sizeof(*c->page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	close(fd);
	c->page = page;
}

void make_files(struct containers *c)
{
	char dir[sizeof(c->dir)];

	snprintf(dir, sizeof(dir), "%s/ipclat-XXXXXX",
		 access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
	if (!mkdtemp(dir))
		die(EXIT_FAILED, "cannot make %s: %s", dir, strerror(errno));
	memcpy(c->dir, dir, sizeof(dir));
	make_dir(c, "root");
	make_dir(c, "root/dev");
	make_dir(c, "root/proc");
	make_dir(c, "root/share");
	make_dir(c, "share");
	copy_ourselves(c);
	make_page(c);
}

struct page *contained_page(void)
{
	int fd = open("/share/page", O_RDWR | O_CLOEXEC);
	void *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, sizeof(struct page), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (page == MAP_FAILED)
		die(EXIT_FAILED, "no memory");
	close(fd);
	return page;
}

void remove_files(struct containers *c)
{
	if (c->page)
		munmap(c->page, sizeof(*c->page));
	if (*c->dir)
		call("rm", "-rf", c->dir, NULL);
}
