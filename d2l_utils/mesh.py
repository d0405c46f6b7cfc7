"""Messages between processes: one TCP connection for each pair, no protocol above it, every byte of payload counted.

Anyone who can reach a rank's port can take a rank's place: for loopback and networks that are yours alone.
"""

import os
import select

import numpy as np

from .meeting import close, meet


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
        hosts = hosts or list(filter(None, os.environ.get("HOSTS", "").split(",")))
        self.n, self.timeout = len(hosts), timeout
        if not 0 <= self.rank < self.n:
            raise ValueError(f"rank {self.rank} has no address: HOSTS names {self.n} ranks, as in 127.0.0.1:5000,…")
        self.sent = self.received = self.messages = 0
        self._hosts = [(host.rpartition(":")[0], int(host.rpartition(":")[2])) for host in hosts]
        self._peers = {}

    def __enter__(self):
        self._peers = meet(self.rank, self._hosts, self.timeout)
        return self

    def __exit__(self, *_):
        close(self._peers)

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
            ready = select.select([self._peer(source)], [self._peer(to)], [], self.timeout)
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
            raise ValueError(f"rank {self.rank} of {self.n} has no connection to rank {rank}: `with` opens all others")
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
