# SPDX-License-Identifier: GPL-2.0
"""A network between a sender and its receiver that loses just what it is told to lose."""

import select
import socket
import struct
import threading
from collections.abc import Callable
from typing import Self

HEADER = struct.Struct("=IIQQ")
"""magic, worker, run, number: what a packet starts with."""
CHUNK = 65536


class Relay:
    """Passes on packets and the talk beside them, from its own port to that of a receiver.

    `fate` gets a packet's number and says how often to pass it on. The packet with the number
    `late` changes places with the next.
    """

    def __init__(self, to: int, fate: Callable[[int], int], late: int = -1) -> None:
        self.to = ("127.0.0.1", to)
        self.fate = fate
        self.late = late
        self.held = b""
        self.packets = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.packets.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 22)
        self.packets.bind(("127.0.0.1", 0))
        self.port: int = self.packets.getsockname()[1]
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.stop, self.stopped = socket.socketpair()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self.thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stop.close()
        self.thread.join(timeout=30)
        for one in (self.packets, self.listener, self.stopped):
            one.close()

    def _pass_packet(self) -> None:
        data = self.packets.recv(CHUNK)
        number = HEADER.unpack(data[: HEADER.size])[3]
        if number == self.late and not self.held:
            self.held = data
            return
        for _ in range(self.fate(number)):
            self.packets.sendto(data, self.to)
        if self.held and number == self.late + 1:
            self.packets.sendto(self.held, self.to)

    def _run(self) -> None:
        pairs: dict[socket.socket, socket.socket] = {}
        while True:
            # packets first, so that the end never overtakes them
            ready, _, _ = select.select([self.packets, self.listener, self.stopped, *pairs], [], [])
            if self.packets in ready:
                self._pass_packet()
            elif self.stopped in ready:
                break
            elif self.listener in ready:
                near, _ = self.listener.accept()
                far = socket.create_connection(self.to)
                pairs |= {near: far, far: near}
            else:
                data = ready[0].recv(CHUNK)
                if data:
                    pairs[ready[0]].sendall(data)
                    continue
                pairs[ready[0]].shutdown(socket.SHUT_WR)
                del pairs[ready[0]]
        for one in pairs:
            one.close()
