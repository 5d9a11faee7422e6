// SPDX-License-Identifier: GPL-2.0
/* via_unix.c - a pair of UNIX sockets (SOCK_SEQPACKET), two processes. */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "mechanism.h"
#include "words.h"

static int sockets[SIDES];

static void set_up(struct page *page)
{
	(void)page;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, sockets))
		die(EXIT_FAILED, "cannot make UNIX sockets: %s", strerror(errno));
}

static void send_word(struct page *page, enum side side, u64 word)
{
	(void)page;
	write_word("UNIX socket", sockets[side], word);
}

static u64 receive_word(struct page *page, enum side side)
{
	(void)page;
	return read_word("UNIX socket", sockets[side]);
}

static void clean_up(struct page *page)
{
	(void)page;
	close(sockets[SENDER]);
	close(sockets[RECEIVER]);
}

const struct mechanism via_unix = {
	.name = "unix",
	.text = "a pair of UNIX sockets, two processes",
	.set_up = set_up,
	.send = send_word,
	.receive = receive_word,
	.clean_up = clean_up,
};
