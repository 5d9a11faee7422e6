// SPDX-License-Identifier: GPL-2.0
/* words.c - words through file descriptors. */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "args.h"
#include "words.h"

void write_word(const char *what, int fd, u64 word)
{
	ssize_t done;

	while ((done = write(fd, &word, sizeof(word))) < 0 && errno == EINTR)
		continue;
	if (done != sizeof(word))
		die(EXIT_FAILED, "%s: cannot write: %s", what, strerror(errno));
}

u64 read_word(const char *what, int fd)
{
	ssize_t done;
	u64 word;

	while ((done = read(fd, &word, sizeof(word))) < 0 && errno == EINTR)
		continue;
	if (!done)
		die(EXIT_FAILED, "%s: the other side is gone", what);
	if (done != sizeof(word))
		die(EXIT_FAILED, "%s: cannot read: %s", what, strerror(errno));
	return word;
}
