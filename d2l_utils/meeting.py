"""How n processes meet: each listens at its own address, connects to all lower ranks and is called by all higher ones.

Ends only what it began: the sockets that listen are closed when all have come, the connections if one does not.
"""

import socket
import struct
import time
from contextlib import suppress

HELLO = struct.Struct("!II")  # the rank that speaks, the number of ranks that it knows of
PAUSE = 0.01  # seconds between two attempts to reach a rank that does not listen yet


def meet(rank, hosts, timeout):
    """Return {rank: connected socket} for all other ranks; `hosts` are pairs of address and port, one for each rank.

    TimeoutError if one has not come within `timeout` seconds, which the sockets keep as theirs.
    """
    until, peers = time.monotonic() + timeout, {}
    try:
        with socket.create_server(hosts[rank], backlog=len(hosts)) as server:
            for lower in range(rank):
                peers[lower] = _connect(lower, rank, hosts, until)
            while missing := {*range(len(hosts))} - {rank, *peers}:
                server.settimeout(max(0.001, until - time.monotonic()))
                found, peer = _accept(server, rank, hosts)
                if found in missing:
                    peers[found] = peer
                else:
                    peer.close()
    except TimeoutError:
        close(peers)
        absent = min({*range(len(hosts))} - {rank, *peers})
        where = "{}:{}".format(*hosts[absent])
        raise TimeoutError(
            f"rank {rank}: rank {absent} has not come in {timeout:g} s: start it at {where}, with the same hosts"
        ) from None
    except BaseException:
        close(peers)
        raise
    for peer in peers.values():
        peer.settimeout(timeout)
    return peers


def close(peers):
    """Close the connections to all ranks."""
    for peer in peers.values():
        peer.close()


def _connect(lower, rank, hosts, until):
    """Return a connection to a lower rank, once it listens and answers by its own number."""
    while (left := until - time.monotonic()) > 0:
        with suppress(OSError):  # nobody listens there yet
            peer = socket.create_connection(hosts[lower], timeout=left)
            if _greet(peer, rank, hosts) == lower:
                return peer
            peer.close()
        time.sleep(PAUSE)
    raise TimeoutError


def _accept(server, rank, hosts):
    """Take one connection; return who speaks there, None for a stranger, and its socket."""
    peer, _ = server.accept()
    peer.settimeout(server.gettimeout())
    with suppress(ConnectionError):
        return _greet(peer, rank, hosts), peer
    return None, peer


def _greet(peer, rank, hosts):
    """Tell the other end who we are; return its rank, or None if it knows of another number of ranks."""
    peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    peer.sendall(HELLO.pack(rank, len(hosts)))
    hello = peer.recv(HELLO.size)
    found, n = HELLO.unpack(hello) if len(hello) == HELLO.size else (None, None)
    return found if n == len(hosts) else None
