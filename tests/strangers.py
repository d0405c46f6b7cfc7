"""Those who connect to a port without the key of its job."""

import pickle
import socket
import struct
import time
from contextlib import contextmanager


class Evil:
    """An object that leaves a file behind where it is unpickled."""

    def __reduce__(self):
        return open, ("unpickled", "w")


EVIL = pickle.dumps(Evil())
STRANGERS = {  # what each says
    "silent": b"",
    "rubbish": b"GET / HTTP/1.0\r\n\r\n",
    "pickle": struct.pack("!i", len(EVIL)) + EVIL,
    "half a message": b"\0\0\0\x20half",
}


@contextmanager
def visit(address, words):
    """Be a stranger, who stays for the length of the block, at "host:port", once somebody listens there."""
    host, port = address.split(":")
    end = time.monotonic() + 10
    while True:
        try:
            stranger = socket.create_connection((host, int(port)))
            break
        except OSError:
            assert time.monotonic() < end
            time.sleep(0.01)
    with stranger:
        stranger.sendall(words)
        yield
