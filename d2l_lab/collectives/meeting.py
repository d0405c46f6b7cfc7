"""How n processes find each other: each listens at its address, calls all lower ranks, and is called by the higher.

Both ends of a connection first prove that they know the same key, by the challenge of `multiprocessing.connection`, and
then exchange their ranks. `launch` gives a random key to all processes of a job, in the environment as D2L_LAUNCH_KEY.
If a job runs on several machines, set it by hand to the same secret text for each process, as in
`export D2L_LAUNCH_KEY=$(openssl rand -hex 16)` on one machine, whose value you copy to the others. The key keeps
strangers out; nothing that is sent is encrypted.
"""

import os
import socket
import struct
import time
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from typing import Any

from d2l_lab.processes.commands import KEY

HELLO = struct.Struct("!II")  # a rank, and the number of ranks that it knows of
PAUSE = 0.01  # seconds between two attempts to reach a rank that does not listen yet
PATIENCE = 1.0  # seconds that a listener waits for each word of a caller
Address = tuple[str, int]


def meet(rank: int, hosts: Sequence[Address], timeout: float) -> dict[int, socket.socket]:
    """Connect this rank to all others, and stop listening once all have come.

    Parameters
    ----------
    rank
        Of this process.
    hosts
        For each rank the address and port where it listens.
    timeout
        Seconds that the meeting may take; also the timeout of the sockets that are returned.

    Returns
    -------
    dict
        For each other rank a connected socket.

    Raises
    ------
    TimeoutError
        If a rank has not come in time.
    ConnectionError
        If what listens at a lower rank's address has another key.
    """
    until = time.monotonic() + timeout
    peers: dict[int, socket.socket] = {}
    try:
        with socket.create_server(hosts[rank], backlog=len(hosts)) as server:
            for lower in range(rank):
                peers[lower] = _call(lower, rank, hosts, until)
            while missing := {*range(len(hosts))} - {rank, *peers}:
                server.settimeout(_left(until))
                peer, _ = server.accept()
                caller = None
                with suppress(OSError, EOFError, AuthenticationError):  # a stranger, or a rank that has given us up
                    caller = _introduced(peer, rank, len(hosts), PATIENCE, (deliver_challenge, answer_challenge))
                if caller is not None and caller in missing:
                    peers[caller] = peer
                else:
                    peer.close()
    except TimeoutError:
        close(peers)
        absent = min({*range(len(hosts))} - {rank, *peers})
        host, port = hosts[absent]
        raise TimeoutError(
            f"rank {rank}: rank {absent} has not come in {timeout:g} s: start it at {host}:{port}, with the same hosts"
        ) from None
    except BaseException:
        close(peers)
        raise
    for peer in peers.values():
        peer.settimeout(timeout)
    return peers


def close(peers: dict[int, socket.socket]) -> None:
    """Close the connections to all ranks."""
    for peer in peers.values():
        peer.close()


def _left(until: float) -> float:
    """Return the seconds that are left; TimeoutError if there are none."""
    if (left := until - time.monotonic()) <= 0:
        raise TimeoutError
    return left


def _call(lower: int, rank: int, hosts: Sequence[Address], until: float) -> socket.socket:
    """Return a connection to a lower rank, once it listens and answers by its own number."""
    while left := _left(until):
        try:
            peer = socket.create_connection(hosts[lower], timeout=left)
            if _introduced(peer, rank, len(hosts), left, (answer_challenge, deliver_challenge)) == lower:
                return peer
            peer.close()
        except (AuthenticationError, AssertionError):  # the latter up to Python 3.11, for what is no challenge
            raise ConnectionError(f"rank {rank}: what listens at rank {lower}'s address has another key") from None
        except (OSError, EOFError):
            pass  # it does not listen yet, or has given us up because we were slow
        time.sleep(PAUSE)
    raise TimeoutError


def _introduced(peer: socket.socket, rank: int, n: int, seconds: float, challenges: Sequence[Any]) -> int | None:
    """Prove to the other end that we know the key, let it prove the same, and exchange ranks.

    The listener asks first, so that a stranger cannot have its own question answered. An error closes the connection.

    Returns
    -------
    int
        The rank of the other end; None if that knows of another number of ranks.

    Raises
    ------
    OSError, EOFError, AuthenticationError
        If the other end says nothing for so many seconds, leaves, or has another key.
    """
    peer.settimeout(None)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack("ll", int(seconds), int(seconds % 1 * 1e6)))
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        with Connection(os.dup(peer.fileno())) as messages:
            for challenge in challenges:
                challenge(messages, os.environ.get(KEY, "").encode())
            messages.send_bytes(HELLO.pack(rank, n))
            found, known = HELLO.unpack(messages.recv_bytes(HELLO.size))
    except BaseException:
        peer.close()
        raise
    return found if known == n else None
