/* SPDX-License-Identifier: GPL-2.0 */
/* container_files.h - two containers, and the files that they are made of. */
#ifndef IPCLAT_CONTAINER_FILES_H
#define IPCLAT_CONTAINER_FILES_H

#include "mechanism.h"
#include "program.h"

struct container {
	char id[48];
	pid_t holder;		/* our child that holds its network, 0 if the runtime does */
	pid_t network;		/* a process in its network */
	pid_t program;		/* the runtime's, our child; 0 when there is none */
	bool left;		/* it was started, and may still be there */
};

struct containers {
	char dir[64];
	char name[32];		/* that what belongs to them is named after */
	const struct mechanism *m;
	struct page *page;
	struct container side[SIDES];
};

extern const char *const side_names[];

/* A path in the directory of @c; @path has PATH_SIZE. */
void path_in(const struct containers *c, char *path, const char *format, ...) __printf(3, 4);
/* Exits when the file cannot be written. */
void write_file(const char *path, const void *data, size_t size);

/*
 * What the containers see: a root with this program in it, and a directory that both
 * have mounted, with the page. Each of these exits with EXIT_FAILED when it cannot.
 */
void make_files(struct containers *c);
/* In a container: the page, NULL if this is none. */
struct page *contained_page(void);
void remove_files(struct containers *c);

#endif /* IPCLAT_CONTAINER_FILES_H */
