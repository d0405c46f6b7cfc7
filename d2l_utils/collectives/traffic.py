"""The bytes that a process has sent and received over TCP, as Linux counts them. Standard library only."""

import os
import socket
import stat
import struct
import sys
from contextlib import suppress
from typing import Any

COUNTERS = struct.Struct("120x 2Q")  # tcpi_bytes_acked and tcpi_bytes_received in Linux's struct tcp_info


class Traffic:
    """The bytes on each TCP connection of this process since the object was made, headers of TCP and IP left out.

    Only Linux counts them: on another system the lists are empty.
    """

    def __init__(self) -> None:
        self._before = connections()

    def sent(self) -> list[int]:
        """Return the bytes that the other ends have acknowledged, for each connection, largest first.

        A connection that has been closed is no longer in the list.
        """
        return self._since(0)

    def received(self) -> list[int]:
        """Return the bytes that have come in, for each connection, largest first."""
        return self._since(1)

    def _since(self, direction: int) -> list[int]:
        found = []
        for ends, counts in connections().items():
            before = self._before.get(ends, (0, 0))
            found.append(counts[direction] - before[direction])
        return sorted(found, reverse=True)


def connections() -> dict[tuple[Any, Any], tuple[int, int]]:
    """Return the bytes sent and received on each TCP connection of this process, by the addresses of its two ends."""
    if sys.platform != "linux":
        return {}
    found = {}
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        with suppress(OSError):  # no TCP, not connected, or closed by another thread
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            with socket.socket(fileno=os.dup(number)) as one:
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, COUNTERS.size)
                found[one.getsockname(), one.getpeername()] = COUNTERS.unpack(info)
    return found
