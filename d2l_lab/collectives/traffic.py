"""The bytes that a process has sent over TCP, as Linux counts them. Standard library only."""

import os
import socket
import stat
import struct
import sys
from contextlib import suppress
from typing import Any

COUNTER = struct.Struct("120x Q")  # tcpi_bytes_acked in Linux's struct tcp_info


class Traffic:
    """The bytes sent on each TCP connection of this process since the object was made, headers of TCP and IP left out.

    Only Linux counts them: on another system the list is empty.
    """

    def __init__(self) -> None:
        self._before = connections()

    def sent(self) -> list[int]:
        """Return the bytes that the other ends have acknowledged, for each connection, largest first.

        A connection that has been closed is no longer in the list.
        """
        return sorted((sent - self._before.get(ends, 0) for ends, sent in connections().items()), reverse=True)


def connections() -> dict[tuple[Any, Any], int]:
    """Return the bytes sent on each TCP connection of this process, by the addresses of its two ends."""
    if sys.platform != "linux":
        return {}
    found = {}
    for name in os.listdir("/proc/self/fd"):
        number = int(name)
        with suppress(OSError):  # no TCP, not connected, or closed by another thread
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            with socket.socket(fileno=os.dup(number)) as one:
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, COUNTER.size)
                found[one.getsockname(), one.getpeername()] = COUNTER.unpack(info)[0]
    return found
