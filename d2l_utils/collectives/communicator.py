"""Messages between n processes: one TCP connection for each pair, every byte of payload counted.

Each rank listens at its own address, connects to all lower ranks and is called by all higher ones. Anyone who can reach
a rank's port can take a rank's place: for loopback and networks that are yours alone.
"""

import os
import select
import socket
import struct
import time
from contextlib import suppress

import numpy as np


class Communicator:
    """The connections of one of n processes to all others: `with Communicator() as comm:`.

    rank     of this process, by default the environment's RANK
    hosts    for each rank where it listens, "address:port", by default the environment's HOSTS, separated by commas.
             A rank listens only there, and only until all have come
    timeout  seconds to wait for the others to come, and later for one of them to send or take anything

    `rank` and `world_size` are as given; `sent` and `received` count bytes of payload, `messages` those sent that hold a byte.
    TimeoutError for a rank that does not come or is silent, ConnectionError for one that has closed its connection.
    """

    def __init__(self, rank=None, hosts=None, timeout=30):
        self.rank = int(os.environ["RANK"] if rank is None else rank)
        hosts = hosts or list(filter(None, os.environ.get("HOSTS", "").split(",")))
        self.world_size, self.timeout = len(hosts), timeout
        if not 0 <= self.rank < self.world_size:
            raise ValueError(
                f"rank {self.rank} has no address: HOSTS names {self.world_size} ranks, as in 127.0.0.1:5000,…"
            )
        self.sent = self.received = self.messages = 0
        self._hosts = [(host.rpartition(":")[0], int(host.rpartition(":")[2])) for host in hosts]
        self._peers = {}

    def __enter__(self):
        self._peers = meet(self.rank, self._hosts, self.timeout)
        return self

    def __exit__(self, *_):
        close(self._peers)

    def send(self, array, destination):
        """Send a contiguous array to a rank, which need not have asked for it yet."""
        view = self._leaving(array)
        while view:
            view = self._send(destination, view)

    def receive(self, array, source):
        """Fill a contiguous array with the next bytes from a rank."""
        view = self._coming(array)
        while view:
            view = self._receive(source, view)

    def sendrecv(self, outgoing, destination, incoming, source):
        """Send one array and fill another at the same time, so that a circle of ranks that all send never waits."""
        leaving, coming = self._leaving(outgoing), self._coming(incoming)
        while leaving and coming:
            ready = select.select([self._peer(source)], [self._peer(destination)], [], self.timeout)
            if not any(ready):
                raise self._fault(source, TimeoutError())
            if ready[0]:
                coming = self._receive(source, coming)
            if ready[1]:
                leaving = self._send(destination, leaving)
        while leaving:
            leaving = self._send(destination, leaving)
        while coming:
            coming = self._receive(source, coming)

    def barrier(self):
        """Wait until all ranks have called this. Its bytes are not counted."""
        if self.rank > 0:
            self._send(0, b"?")
            self._receive(0, memoryview(bytearray(1)))
            return
        for rank in range(1, self.world_size):
            self._receive(rank, memoryview(bytearray(1)))
        for rank in range(1, self.world_size):
            self._send(rank, b"!")

    def _leaving(self, array):
        view = _bytes(array)
        self.sent, self.messages = self.sent + len(view), self.messages + bool(view)
        return view

    def _coming(self, array):
        view = _bytes(array)
        self.received += len(view)
        return view

    def _send(self, to, view):
        """Send what the connection takes at once, but something; return the rest."""
        try:
            return view[self._peer(to).send(view) :]
        except OSError as error:
            raise self._fault(to, error) from None

    def _receive(self, source, view):
        """Receive what has arrived, but something; return the part of the view that is still to be filled."""
        try:
            if not (number := self._peer(source).recv_into(view)):
                raise ConnectionResetError
        except OSError as error:
            raise self._fault(source, error) from None
        return view[number:]

    def _peer(self, rank):
        if rank not in self._peers:
            raise ValueError(
                f"rank {self.rank} of {self.world_size} has no connection to rank {rank}: `with` opens all others"
            )
        return self._peers[rank]

    def _fault(self, rank, error):
        who = "rank {}: rank {} at {}:{}".format(self.rank, rank, *self._hosts[rank])
        if isinstance(error, TimeoutError):
            return TimeoutError(f"{who} has sent or taken nothing for {self.timeout:g} s: does it run, with this call?")
        return ConnectionError(f"{who} has closed its connection: its own last line says why it ended")


def _bytes(array):
    """Return the bytes of a contiguous array, which are not copied."""
    if not array.flags.c_contiguous:
        raise ValueError("a message is a contiguous array: np.ascontiguousarray makes one")
    return array.reshape(-1).view(np.uint8).data


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
