"""How n processes find each other: each listens at its address, calls all lower ranks, and is called by the higher.

Both ends of a connection first prove that they know the same key, by the challenge of `multiprocessing.connection`, and
then exchange their ranks. `launch` gives a random key to all processes of a job, in the environment as D2L_LAUNCH_KEY.
If a job runs on several machines, set it by hand to the same secret text for each process, as in
`export D2L_LAUNCH_KEY=$(openssl rand -hex 16)` on one machine, whose value you copy to the others. The key keeps
strangers out, so without one ranks meet on loopback only; nothing that is sent is encrypted.
"""

import os
import socket
import struct
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import AuthenticationError
from multiprocessing.connection import Connection, answer_challenge, deliver_challenge
from threading import Lock, Thread, Timer
from typing import Any

from d2l_lab.processes.commands import KEY
from d2l_lab.processes.control import is_loopback

HELLO = struct.Struct("!II")  # a rank, and the number of ranks that it knows of
PAUSE = 0.01  # seconds between two attempts to reach a rank that does not listen yet
PATIENCE = 5.0  # seconds in which a caller has to introduce itself
CALLERS = 64  # that introduce themselves at once; one more, and the first of them is sent away
# What a stranger says may be no message, no challenge (an AssertionError up to Python 3.11), no text or no rank.
STRANGE = (OSError, EOFError, AuthenticationError, AssertionError, ValueError, struct.error)
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
    ValueError
        For an address that other machines can reach, if there is no key.
    TimeoutError
        If a rank has not come in time.
    ConnectionError
        If what listens at a lower rank's address has another key.
    """
    if not _key():
        _check_loopback(rank, hosts)
    until = time.monotonic() + timeout
    peers: dict[int, socket.socket] = {}
    try:
        with socket.create_server(hosts[rank], backlog=CALLERS) as server:
            for lower in range(rank):
                peers[lower] = _call(lower, rank, hosts, until)
            _let_in(server, rank, len(hosts), peers, until)
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


def _key() -> bytes:
    return os.environ.get(KEY, "").strip().encode()


def _check_loopback(rank: int, hosts: Sequence[Address]) -> None:
    for host, port in hosts:
        found = {"0.0.0.0"}  # what an empty name stands for, and at worst one that is not known
        with suppress(OSError):
            found = {str(entry[4][0]) for entry in socket.getaddrinfo(host or "0.0.0.0", port)}
        if not all(is_loopback(address) for address in found):
            raise ValueError(
                f"rank {rank}: {host}:{port} is not loopback, and without a key anybody could join: set {KEY} to the"
                f" same secret for every rank, as in export {KEY}=$(openssl rand -hex 16)"
            )


def _call(lower: int, rank: int, hosts: Sequence[Address], until: float) -> socket.socket:
    """Return a connection to a lower rank, once it listens and answers by its own number."""
    while left := _left(until):
        try:
            address = socket.gethostbyname(hosts[lower][0])  # one: each of several would get the whole time
            peer = socket.create_connection((address, hosts[lower][1]), timeout=left)
            if _introduced(peer, rank, len(hosts), left, (answer_challenge, deliver_challenge)) == lower:
                return peer
            peer.close()
        except (OSError, EOFError):
            pass  # it does not listen yet, or has given us up because we were slow
        except STRANGE:
            raise ConnectionError(f"rank {rank}: what listens at rank {lower}'s address has another key") from None
        time.sleep(PAUSE)
    raise TimeoutError


def _let_in(server: socket.socket, rank: int, n: int, peers: dict[int, socket.socket], until: float) -> None:
    """Add the higher ranks to the peers as they come. Each caller has a thread, so that no stranger delays a rank."""
    callers: dict[Thread, socket.socket] = {}
    lock = Lock()

    def introduce(peer: socket.socket) -> None:
        caller = None
        with suppress(*STRANGE):  # a stranger, or a rank that has given us up
            caller = _introduced(peer, rank, n, PATIENCE, (deliver_challenge, answer_challenge))
        with lock:
            if caller is not None and rank < caller < n and caller not in peers:
                peers[caller] = peer
            else:
                peer.close()

    try:
        while len(peers) < n - 1:
            server.settimeout(min(PAUSE, _left(until)))
            with suppress(TimeoutError, ConnectionAbortedError):
                peer, _ = server.accept()
                thread = Thread(target=introduce, args=(peer,), daemon=True)
                callers[thread] = peer
                thread.start()
            callers = {thread: peer for thread, peer in callers.items() if thread.is_alive()}
            if len(callers) >= CALLERS:
                _hang_up(next(iter(callers.values())))
    finally:
        for thread, peer in callers.items():
            if peer not in peers.values():
                _hang_up(peer)
            thread.join()


def _hang_up(peer: socket.socket) -> None:
    """End a connection, so that whoever reads from it finds its end."""
    with suppress(OSError):  # it has ended
        peer.shutdown(socket.SHUT_RDWR)


@contextmanager
def _within(seconds: float, peer: socket.socket) -> Iterator[None]:
    """Hang up unless the `with` block is done in time, however often the other end says something."""
    timer = Timer(seconds, _hang_up, [peer])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _introduced(peer: socket.socket, rank: int, n: int, seconds: float, challenges: Sequence[Any]) -> int | None:
    """Prove to the other end that we know the key, let it prove the same, and exchange ranks.

    The listener asks first, so that a stranger cannot have its own question answered. An error closes the connection.

    Returns
    -------
    int
        The rank of the other end; None if that knows of another number of ranks.

    Raises
    ------
    one of STRANGE
        If the other end is not done in so many seconds, leaves, has another key, or says something else.
    """
    try:
        peer.settimeout(None)
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # refused if the other end has left
        with _within(seconds, peer), Connection(os.dup(peer.fileno())) as messages:
            for challenge in challenges:
                challenge(messages, _key())
            messages.send_bytes(HELLO.pack(rank, n))
            found, known = HELLO.unpack(messages.recv_bytes(HELLO.size))
    except BaseException:
        peer.close()
        raise
    return found if known == n else None
