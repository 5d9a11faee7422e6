# SPDX-License-Identifier: GPL-2.0
"""ports FIRST COUNT [4|6]: open UDP sockets that no task reads, say so, and wait to be killed.

After SIGUSR1 they are sockets of tunnels.

ports tap raw|raw6|packet|DEVICE opens a raw socket of UDP, or one of the packets of IP.

ports FIRST COUNT TIMES IP sends datagrams to such ports, one after the other, so many times.

ports FIRST COUNT DEVICE MAC sends each a frame of IPv6, which the machine need not know.
"""

from __future__ import annotations

import _socket
import os
import resource
import signal
import struct
import sys
import time

PPS = 2000
FILES_MORE = 16
BYTES = 32
# The kernel takes twice as much: three datagrams fill it.
RCVBUF = 1300
FROM = 9
# From <linux/udp.h>: an option that Python does not name, and L2TP, which needs no other.
UDP_ENCAP, UDP_ENCAP_L2TPINUDP = 100, 3
ETH_P_IP, ETH_P_IPV6 = 0x0800, 0x86DD
FAMILIES = {"4": _socket.AF_INET, "6": _socket.AF_INET6}


def open_all(ports: range, family: int) -> None:
    """They stay open until the program is killed."""
    room = len(ports) + FILES_MORE
    resource.setrlimit(resource.RLIMIT_NOFILE, (room, room))
    sockets = [_socket.socket(family, _socket.SOCK_DGRAM) for _ in ports]
    for socket, port in zip(sockets, ports, strict=True):
        socket.setsockopt(_socket.SOL_SOCKET, _socket.SO_RCVBUF, RCVBUF)
        socket.bind(("::" if family == _socket.AF_INET6 else "", port))
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
    os.write(1, f"open {len(ports)}\n".encode())
    signal.sigwait([signal.SIGUSR1])
    for socket in sockets:
        socket.setsockopt(_socket.IPPROTO_UDP, UDP_ENCAP, UDP_ENCAP_L2TPINUDP)
    os.write(1, b"encapsulated\n")
    signal.pause()


def tap(what: str) -> None:
    """Receive what other sockets receive, until the program is killed."""
    if what in ("raw", "raw6"):
        family = FAMILIES["6" if what == "raw6" else "4"]
        socket = _socket.socket(family, _socket.SOCK_RAW, _socket.IPPROTO_UDP)
    else:
        socket = _socket.socket(_socket.AF_PACKET, _socket.SOCK_DGRAM, _socket.htons(ETH_P_IP))
        if what != "packet":
            socket.bind((what, ETH_P_IP))
    os.write(1, b"open\n")
    signal.pause()
    socket.close()


def send_to(ports: range, times: int, ip: str) -> None:
    """PPS datagrams a second."""
    socket = _socket.socket(FAMILIES["6" if ":" in ip else "4"], _socket.SOCK_DGRAM)
    begin = time.monotonic()
    for i in range(times * len(ports)):
        time.sleep(max(0.0, begin + i / PPS - time.monotonic()))
        socket.sendto(bytes(BYTES), (ip, ports[i % len(ports)]))


def send_frames(ports: range, device: str, mac: str) -> None:
    """From fd00::2 to fd00::1, with a checksum of 0."""
    socket = _socket.socket(_socket.AF_PACKET, _socket.SOCK_DGRAM)
    address = (device, ETH_P_IPV6, 0, 0, bytes.fromhex(mac.replace(":", "")))
    ends = b"".join(_socket.inet_pton(_socket.AF_INET6, f"fd00::{end}") for end in (2, 1))
    for port in ports:
        udp = struct.pack("!HHHH", FROM, port, 8 + BYTES, 0) + bytes(BYTES)
        head = struct.pack("!IHBB", 6 << 28, len(udp), _socket.IPPROTO_UDP, 64)
        socket.sendto(head + ends + udp, address)


if __name__ == "__main__":
    first, count, *more = sys.argv[1:]
    if first == "tap":
        tap(count)
        sys.exit()
    found = range(int(first), int(first) + int(count))
    if len(more) < 2:
        open_all(found, FAMILIES[more[0] if more else "4"])
    elif more[0].isdecimal():
        send_to(found, int(more[0]), more[1])
    else:
        send_frames(found, *more)
