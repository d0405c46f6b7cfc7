"""The bytes that a process has sent and received over TCP, as Linux counts them. Standard library only."""

import os
import socket
import stat
import struct
import sys
from contextlib import suppress

COUNTERS = struct.Struct("120x 2Q")  # tcpi_bytes_acked and tcpi_bytes_received in Linux's struct tcp_info


class Traffic:
    """The bytes on each TCP connection of this process since the object was made, headers of TCP and IP left out.

    Only Linux counts them: on another system the lists are empty.
    """

    def __init__(self):
        self._before = connections()

    def sent(self):
        """Return the bytes that the peers have acknowledged: a list with a number for each connection, largest first.

        A connection that has been closed is no longer in the list.
        """
        return self._since(0)

    def received(self):
        """Return the bytes that have come in: a list with a number for each connection, largest first."""
        return self._since(1)

    def _since(self, which):
        counts = connections().items()
        return sorted((count[which] - self._before.get(ends, (0, 0))[which] for ends, count in counts), reverse=True)


def connections():
    """Return a dictionary from the two ends of each TCP connection of this process to its bytes sent and received."""
    found = {}
    for number in map(int, os.listdir("/proc/self/fd") if sys.platform == "linux" else ()):
        with suppress(OSError):  # no TCP, not connected, or closed by another thread
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            with socket.socket(fileno=os.dup(number)) as one:
                info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, COUNTERS.size)
                found[one.getsockname(), one.getpeername()] = COUNTERS.unpack(info)
    return found
