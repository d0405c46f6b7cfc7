"""How n processes find each other: each listens at its address, calls all lower ranks, and is called by the higher.

A caller first proves that it knows the job's key (`d2l_utils.collectives.connection`); in processes that no launcher
started the key is empty unless D2L_LAUNCH_KEY is set. Then both ends exchange their ranks.
"""

import socket
import struct
import time
from collections.abc import Sequence
from multiprocessing import AuthenticationError

from d2l_utils.collectives.connection import PATIENCE, admitted, authenticate, key_of_job, receive_exactly

__all__ = ["meet", "close"]

HELLO = struct.Struct("!II")  # a rank, and the number of ranks that it knows of
PAUSE = 0.01  # seconds between two attempts to reach a rank that does not listen yet
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
                caller, peer = _answer(server, rank, hosts, missing, until)
                peers[caller] = peer
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


def _call(lower: int, rank: int, hosts: Sequence[Address], until: float) -> socket.socket:
    """Return a connection to a lower rank, once it listens and answers by its own number."""
    while time.monotonic() < until:
        peer = None
        try:
            peer = socket.create_connection(hosts[lower], timeout=max(0.001, until - time.monotonic()))
            authenticate(peer, key_of_job(), until, listens=False)
            if _exchange_ranks(peer, rank, hosts, until) == lower:
                return peer
        except AuthenticationError:
            raise ConnectionError(f"rank {rank}: what listens at rank {lower}'s address has another key") from None
        except OSError:
            pass  # it does not listen yet, or has given us up because we were slow
        if peer is not None:
            peer.close()
        time.sleep(PAUSE)
    raise TimeoutError


def _answer(
    server: socket.socket, rank: int, hosts: Sequence[Address], missing: set[int], until: float
) -> tuple[int, socket.socket]:
    """Return the next missing rank that calls, and its connection. A stranger is dropped, after a second at most."""
    while time.monotonic() < until:
        server.settimeout(max(0.001, until - time.monotonic()))
        peer, _ = server.accept()
        if not admitted(peer, key_of_job()):
            continue
        try:
            caller = _exchange_ranks(peer, rank, hosts, time.monotonic() + PATIENCE)
        except OSError:
            caller = None
        if caller in missing:
            return caller, peer
        peer.close()
    raise TimeoutError


def _exchange_ranks(peer: socket.socket, rank: int, hosts: Sequence[Address], until: float) -> int | None:
    """Exchange ranks with the other end; return its rank, or None if it knows of another number of ranks."""
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.sendall(HELLO.pack(rank, len(hosts)))
    found, n = HELLO.unpack(receive_exactly(peer, HELLO.size, until))
    return found if n == len(hosts) else None
