"""Connections that carry Python objects between processes, over TCP and without Nagle's delay. Standard library only.

What arrives is unpickled, so whoever can connect can run code here: for 127.0.0.1 and private networks.
"""

import socket
import time
from contextlib import contextmanager
from multiprocessing.connection import Connection

__all__ = ["connect", "listening"]


def connect(address, timeout=30):
    """Return a Connection to "host:port", for which a listener may take up to `timeout` seconds to appear.

    ConnectionError, with the address, if there is none by then.
    """
    end = time.monotonic() + timeout
    while True:
        try:
            return _connection(socket.create_connection(_pair(address), timeout=max(0.1, end - time.monotonic())))
        except OSError as error:
            if time.monotonic() > end:
                raise ConnectionError(f"nothing listens on {address} after {timeout} s: is that process up?") from error
            time.sleep(0.02)


@contextmanager
def listening(address):
    """Listen on "host:port" and no other address; gives a function that waits for the next Connection."""
    with socket.create_server(_pair(address), backlog=128) as server:
        yield lambda: _connection(server.accept()[0])


def _connection(channel):
    channel.settimeout(None)
    channel.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Connection(channel.detach())


def _pair(address):
    host, _, port = address.rpartition(":")
    if not host or not port.isdigit():
        raise ValueError(f"an address is host:port, such as 127.0.0.1:5000, not {address!r}")
    return host, int(port)
