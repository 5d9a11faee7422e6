// SPDX-License-Identifier: GPL-2.0
/* nll-ports.c - sockets that nobody reads, and datagrams for one port after the other. */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"
#include "clock.h"
#include "opts.h"
#include "types.h"

#define PORTS_MAX	60000U
#define TIMES_MAX	1000U
#define PPS_MAX		1000000U
#define FILES_MORE	16
#define BYTES		32
/* The least that there is: a few datagrams fill it. */
#define RCVBUF		1

static u64 first, ports, times, pps;
static const char *to;

static const struct opt rows[] = {
	OPT('p', "--port", "PORT", NUMBER(first, 1, 65535, 20000), "the first one, %r (%d)"),
	OPT('n', "--ports", "N", NUMBER(ports, 1, PORTS_MAX, 1), "how many, %r (%d)"),
	OPT(0, "--send", "IP", TEXT(to, NULL), "send there"),
	OPT(0, "--times", "N", NUMBER(times, 1, TIMES_MAX, 1), "how often to each port, %r (%d)"),
	OPT(0, "--pps", "N", NUMBER(pps, 1, PPS_MAX, 2000), "how many a second, %r (%d)"),
	{ }
};

static const struct opts opts = {
	.usage =
"Usage: nll-ports [options]\n"
"\n"
"Open UDP sockets that nobody reads, say so, and wait to be killed; or send datagrams to\n"
"their ports, one after the other.\n"
"\n",
	.rows = rows,
};

static int udp_socket(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die(EXIT_FAILED, "socket: %s", strerror(errno));
	return fd;
}

/* They stay open until the program is killed. */
static void open_ports(void)
{
	struct rlimit files = { ports + FILES_MORE, ports + FILES_MORE };
	struct sockaddr_in address = { .sin_family = AF_INET };
	const int size = RCVBUF;
	u64 i;

	if (setrlimit(RLIMIT_NOFILE, &files))
		die(EXIT_FAILED, "%llu open files: %s", ports, strerror(errno));
	for (i = 0; i < ports; i++) {
		int fd = udp_socket();

		address.sin_port = htons((u16)(first + i));
		if (setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) ||
		    bind(fd, (struct sockaddr *)&address, sizeof(address)))
			die(EXIT_FAILED, "port %llu: %s", first + i, strerror(errno));
	}
	printf("open %llu\n", ports);
	finish_output();
	for (;;)
		pause();
}

static void send_to_ports(void)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	static const char bytes[BYTES];
	int fd = udp_socket();
	u64 i, begin;

	if (!inet_aton(to, &address.sin_addr))
		die(EXIT_USAGE, "send '%s': must be an IPv4 address", to);
	begin = now_ns();
	for (i = 0; i < times * ports; i++) {
		sleep_until_ns(begin + i * NSEC_PER_SEC / pps);
		address.sin_port = htons((u16)(first + i % ports));
		if (sendto(fd, bytes, sizeof(bytes), 0, (struct sockaddr *)&address,
			   sizeof(address)) < 0)
			die(EXIT_FAILED, "port %u: %s", ntohs(address.sin_port), strerror(errno));
	}
}

int main(int argc, char **argv)
{
	args_init("nll-ports");
	opts_parse(&opts, argc, argv);
	if (first + ports > 65536)
		die(EXIT_USAGE, "ports %llu from %llu on: the last one is 65535", ports, first);
	if (to)
		send_to_ports();
	else
		open_ports();
	return EXIT_GOOD;
}
