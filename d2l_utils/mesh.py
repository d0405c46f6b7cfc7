"""Messages between processes: one TCP connection for each pair, no protocol above it, every byte of payload counted.

Anyone who can reach a rank's port can take a rank's place: for loopback and networks that are yours alone.
"""

import os
import select
import socket
import struct
import time
from contextlib import suppress

import numpy as np

HELLO = struct.Struct("!II")  # the rank that speaks, the number of ranks that it knows of
PAUSE = 0.01  # seconds between two attempts to reach a rank that does not listen yet


class Mesh:
    """The connections of one of n processes to all others: `with Mesh() as mesh:`.

    rank     of this process, by default the environment's RANK
    hosts    for each rank where it listens, "address:port", by default the environment's HOSTS, separated by commas.
             A rank listens only there, and only until all have come
    timeout  seconds to wait for the others to come, and later for one of them to send or take anything

    `rank` and `n` are as given; `sent` and `received` count bytes of payload, `messages` those sent that hold a byte.
    TimeoutError for a rank that does not come or is silent, ConnectionError for one that has closed its connection.
    """

    def __init__(self, rank=None, hosts=None, timeout=30):
        self.rank = int(os.environ["RANK"] if rank is None else rank)
        self._hosts = list(hosts or filter(None, os.environ.get("HOSTS", "").split(",")))
        self.n, self.timeout = len(self._hosts), timeout
        if not 0 <= self.rank < self.n:
            raise ValueError(f"rank {self.rank} has no address: HOSTS names {self.n} ranks, as in 127.0.0.1:5000,…")
        self.sent = self.received = self.messages = 0
        self._peers = {}

    def __enter__(self):
        self._until = time.monotonic() + self.timeout
        try:
            with socket.create_server(self._address(self.rank), backlog=self.n) as server:
                for rank in range(self.rank):
                    self._peers[rank] = self._connect(rank)
                while len(self._peers) < self.n - 1:
                    self._accept(server)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for peer in self._peers.values():
            peer.close()

    def send(self, to, array):
        """Send a contiguous array to a rank; it need not have asked for it yet."""
        view = self._leaving(array)
        while view:
            view = self._send(to, view)

    def receive(self, source, array):
        """Fill a contiguous array with the next bytes from a rank."""
        view = self._coming(array)
        while view:
            view = self._receive(source, view)

    def exchange(self, to, out, source, into):
        """Send one array and fill another at the same time, so that a circle of ranks that all send never waits."""
        leaving, coming = self._leaving(out), self._coming(into)
        while leaving and coming:
            ready = select.select([self._peers[source]], [self._peers[to]], [], self.timeout)
            if not any(ready):
                raise self._fault(source, TimeoutError())
            if ready[0]:
                coming = self._receive(source, coming)
            if ready[1]:
                leaving = self._send(to, leaving)
        while leaving:
            leaving = self._send(to, leaving)
        while coming:
            coming = self._receive(source, coming)

    def barrier(self):
        """Wait until all ranks have called this. Its bytes are not counted."""
        if self.rank > 0:
            self._send(0, b"?")
            self._receive(0, memoryview(bytearray(1)))
            return
        for rank in range(1, self.n):
            self._receive(rank, memoryview(bytearray(1)))
        for rank in range(1, self.n):
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
            return view[self._peers[to].send(view) :]
        except OSError as error:
            raise self._fault(to, error) from None

    def _receive(self, source, view):
        """Receive what has arrived, but something; return the part of the view that is still to be filled."""
        try:
            if not (number := self._peers[source].recv_into(view)):
                raise ConnectionResetError
        except OSError as error:
            raise self._fault(source, error) from None
        return view[number:]

    def _fault(self, rank, error):
        who = f"rank {self.rank}: rank {rank} at {self._hosts[rank]}"
        if isinstance(error, TimeoutError):
            return TimeoutError(f"{who} has sent or taken nothing for {self.timeout:g} s: does it run, with this call?")
        return ConnectionError(f"{who} has closed its connection: its own last line says why it ended")

    def _address(self, rank):
        address, _, port = self._hosts[rank].rpartition(":")
        return address, int(port)

    def _connect(self, rank):
        """Return a connection to a lower rank, once it listens and answers by its own number."""
        while (left := self._until - time.monotonic()) > 0:
            with suppress(OSError):  # nobody listens there yet
                peer = socket.create_connection(self._address(rank), timeout=left)
                if self._greet(peer) == rank:
                    return peer
                peer.close()
            time.sleep(PAUSE)
        raise self._absent(rank)

    def _accept(self, server):
        """Take one connection, and keep it if a higher rank speaks there."""
        server.settimeout(max(0.001, self._until - time.monotonic()))
        try:
            peer = server.accept()[0]
            rank = self._greet(peer)
        except TimeoutError:
            raise self._absent(min({*range(self.rank + 1, self.n)} - {*self._peers})) from None
        if self.rank < rank < self.n:
            self._peers[rank] = peer
        else:
            peer.close()

    def _greet(self, peer):
        """Tell the other end who we are; return its rank, or -1 if it knows of another number of ranks."""
        peer.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        peer.settimeout(self.timeout)
        peer.sendall(HELLO.pack(self.rank, self.n))
        hello = peer.recv(HELLO.size)
        rank, n = HELLO.unpack(hello) if len(hello) == HELLO.size else (-1, self.n)
        return rank if n == self.n else -1

    def _absent(self, rank):
        where = f"rank {self.rank}: rank {rank} has not come to {self._hosts[rank]} in {self.timeout:g} s"
        return TimeoutError(f"{where}: start it with the same list of {self.n} hosts")


def _bytes(array):
    """Return the bytes of a contiguous array, which are not copied."""
    if not array.flags.c_contiguous:
        raise ValueError("a message is a contiguous array: np.ascontiguousarray makes one")
    return array.reshape(-1).view(np.uint8).data
