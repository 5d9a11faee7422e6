/* SPDX-License-Identifier: GPL-2.0 */
/* address.h - where packets go to or come in: IPv4 or IPv6, and the port. */
#ifndef UDPRATE_ADDRESS_H
#define UDPRATE_ADDRESS_H

#include <netinet/in.h>

#include "types.h"

struct address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	};
	socklen_t length;
};

/* A host's name or number; exits with EXIT_USAGE when it has no address. */
void address_resolve(struct address *a, const char *host, u16 port);

/* Every address of this machine, of both families where it has IPv6. */
void address_everywhere(struct address *a, u16 port);

void address_loopback(struct address *a);

u16 address_port(const struct address *a);

/* Whether it stands for all addresses of this machine. */
bool address_is_any(const struct address *a);

/* As people write it, without the port; IPv4 in an IPv6 socket as IPv4. */
#define ADDRESS_TEXT	INET6_ADDRSTRLEN
const char *address_text(const struct address *a, char text[ADDRESS_TEXT]);

/* A socket of the address's family, SOCK_DGRAM or SOCK_STREAM; exits when there is none. */
int address_socket(const struct address *a, int type);

#endif /* UDPRATE_ADDRESS_H */
