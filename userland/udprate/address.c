// SPDX-License-Identifier: GPL-2.0
/* address.c - where packets go to or come in. */
#include "address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "args.h"

static void set_port(struct address *a, u16 port)
{
	if (a->any.sa_family == AF_INET6)
		a->v6.sin6_port = htons(port);
	else
		a->v4.sin_port = htons(port);
}

void address_resolve(struct address *a, const char *host, u16 port)
{
	struct addrinfo want = { .ai_socktype = SOCK_DGRAM }, *found;
	int error = getaddrinfo(host, NULL, &want, &found);

	if (error)
		die(EXIT_USAGE, "ADDRESS: bad value '%s': %s; allowed: addresses, host names",
		    host, gai_strerror(error));
	*a = (struct address){ .length = found->ai_addrlen };
	memcpy(&a->v6, found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	set_port(a, port);
}

/* A family that is compiled in may still be switched off. */
static bool has_ipv6(void)
{
	struct address a = { .v6 = { .sin6_family = AF_INET6 }, .length = sizeof(a.v6) };
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool has;

	if (fd < 0)
		return false;
	has = !bind(fd, &a.any, a.length);
	close(fd);
	return has;
}

void address_everywhere(struct address *a, u16 port)
{
	if (has_ipv6())
		*a = (struct address){ .v6 = { .sin6_family = AF_INET6 },
				       .length = sizeof(a->v6) };
	else
		*a = (struct address){ .v4 = { .sin_family = AF_INET },
				       .length = sizeof(a->v4) };
	set_port(a, port);
}

void address_loopback(struct address *a)
{
	*a = (struct address){ .v4 = { .sin_family = AF_INET }, .length = sizeof(a->v4) };
	a->v4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
}

u16 address_port(const struct address *a)
{
	return ntohs(a->any.sa_family == AF_INET6 ? a->v6.sin6_port : a->v4.sin_port);
}

bool address_is_any(const struct address *a)
{
	if (a->any.sa_family == AF_INET6)
		return IN6_IS_ADDR_UNSPECIFIED(&a->v6.sin6_addr);
	return a->v4.sin_addr.s_addr == htonl(INADDR_ANY);
}

const char *address_text(const struct address *a, char text[ADDRESS_TEXT])
{
	if (a->any.sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&a->v6.sin6_addr))
		inet_ntop(AF_INET, &a->v6.sin6_addr.s6_addr[12], text, ADDRESS_TEXT);
	else if (a->any.sa_family == AF_INET6)
		inet_ntop(AF_INET6, &a->v6.sin6_addr, text, ADDRESS_TEXT);
	else
		inet_ntop(AF_INET, &a->v4.sin_addr, text, ADDRESS_TEXT);
	return text;
}

int address_socket(const struct address *a, int type)
{
	int fd = socket(a->any.sa_family, type | SOCK_CLOEXEC, 0);

	if (fd < 0)
		die(EXIT_FAILED, "cannot make a socket: %s", strerror(errno));
	return fd;
}
