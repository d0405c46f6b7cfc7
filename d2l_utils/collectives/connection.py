"""Callers prove to a listener that they belong to its job before it uses what they send. Standard library only.

Both ends prove that they know the same key, by the challenge of `multiprocessing.connection`.

`launch` gives a random key to all processes of a job, in the environment as D2L_LAUNCH_KEY. If a job runs on several
machines, set it by hand to the same secret text for each process, as in `export D2L_LAUNCH_KEY=$(openssl rand -hex 16)`
on one machine, whose value you copy to the others. The key keeps strangers out; nothing that is sent is encrypted.
"""

import os
import socket
import struct
import time
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import answer_challenge, deliver_challenge

from d2l_utils.jobs.commands import KEY

__all__ = ["admitted", "authenticate", "key_of_job", "receive_exactly"]

PATIENCE = 1.0  # seconds that a listener gives a caller to prove that it knows the key
LENGTH = struct.Struct("!I")
ACCEPTED = b"accepted"


def admitted(channel: socket.socket, key: bytes) -> bool:
    """Tell whether a caller proves within a second that it knows the key; if it does not, close its connection."""
    with suppress(OSError, AuthenticationError):
        authenticate(channel, key, time.monotonic() + PATIENCE, listens=True)
        return True
    channel.close()
    return False


def authenticate(channel: socket.socket, key: bytes, until: float, *, listens: bool) -> None:
    """Prove to the other end that we know the key, and let it prove the same.

    The listener asks first, so that a stranger cannot have its own question answered, and has the last word, so that
    no caller believes itself accepted by a listener that has given it up.

    Parameters
    ----------
    channel
        A connected socket; its timeout is changed.
    key
        The secret that both ends know.
    until
        When to give up, by `time.monotonic`.
    listens
        Whether this is the end that accepted the connection.

    Raises
    ------
    AuthenticationError
        If the other end has another key.
    OSError
        If it is silent, leaves, or does not speak this protocol.
    """
    messages = _Messages(channel, until)
    if listens:
        deliver_challenge(messages, key)  # type: ignore[arg-type]  # it only sends and receives bytes
        answer_challenge(messages, key)  # type: ignore[arg-type]
        messages.send_bytes(ACCEPTED)
    else:
        answer_challenge(messages, key)  # type: ignore[arg-type]
        deliver_challenge(messages, key)  # type: ignore[arg-type]
        messages.recv_bytes(len(ACCEPTED))


def key_of_job() -> bytes:
    """Return the key of the job that this process belongs to; b"" if there is none."""
    return os.environ.get(KEY, "").encode()


def receive_exactly(channel: socket.socket, size: int, until: float) -> bytes:
    """Receive so many bytes; TimeoutError if they have not come by then, ConnectionError if the other end leaves."""
    received = b""
    while len(received) < size:
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        channel.settimeout(left)
        part = channel.recv(size - len(received))
        if not part:
            raise ConnectionResetError
        received += part
    return received


class _Messages:
    """What the challenge needs of a Connection, over a socket and with a time by which all must be done."""

    def __init__(self, channel: socket.socket, until: float) -> None:
        self.channel, self.until = channel, until

    def send_bytes(self, content: bytes) -> None:
        self.channel.settimeout(max(0.001, self.until - time.monotonic()))
        self.channel.sendall(LENGTH.pack(len(content)) + content)

    def recv_bytes(self, maxlength: int) -> bytes:
        (size,) = LENGTH.unpack(receive_exactly(self.channel, LENGTH.size, self.until))
        if size > maxlength:
            raise ConnectionError(f"a message of {size} bytes, where {maxlength} are expected at most")
        return receive_exactly(self.channel, size, self.until)
