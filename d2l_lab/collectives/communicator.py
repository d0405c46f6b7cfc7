"""Messages between n processes: one TCP connection for each pair, every byte of payload counted.

The ranks meet as `d2l_lab.collectives.meeting` describes. Nothing is encrypted: for loopback and private networks.
"""

import os
import select
import socket
from collections.abc import Sequence
from typing import Any

import numpy as np

from d2l_lab.collectives.meeting import close, meet


class Communicator:
    """The connections of one of n processes to all others: `with Communicator() as comm:`.

    Parameters
    ----------
    rank
        Of this process; by default the environment's RANK.
    hosts
        For each rank where it listens, "address:port"; by default the environment's HOSTS, separated by commas. A rank
        listens nowhere else, and only until all have come. Other addresses than loopback need a key
        (`d2l_lab.collectives.meeting`).
    timeout
        Seconds to wait until all others have come, and later for one of them to send or take anything.

    Attributes
    ----------
    rank, world_size : int
        The number of this process, and the number of all.
    sent : int
        Bytes of payload that this process has sent.

    Raises
    ------
    ValueError
        For a rank without an address, and for addresses that other machines can reach if there is no key.
    TimeoutError
        For a rank that does not come or is silent.
    ConnectionError
        For a rank that has closed its connection.
    """

    def __init__(self, rank: int | None = None, hosts: Sequence[str] | None = None, timeout: float = 30) -> None:
        self.rank = int(os.environ["RANK"] if rank is None else rank)
        if not hosts:
            hosts = [host for host in os.environ.get("HOSTS", "").split(",") if host]
        self.world_size, self.timeout = len(hosts), timeout
        if not 0 <= self.rank < self.world_size:
            raise ValueError(
                f"rank {self.rank} has no address: HOSTS names {self.world_size} ranks, as in 127.0.0.1:5000,…"
            )
        self.sent = 0
        self._hosts: list[tuple[str, int]] = []
        for host in hosts:
            address, _, port = host.rpartition(":")
            self._hosts.append((address, int(port)))
        self._peers: dict[int, socket.socket] = {}

    def __enter__(self) -> "Communicator":
        self._peers = meet(self.rank, self._hosts, self.timeout)
        return self

    def __exit__(self, *_: object) -> None:
        close(self._peers)

    def send(self, array: np.ndarray[Any, Any], destination: int) -> None:
        """Send a contiguous array to a rank, which need not have asked for it yet."""
        outgoing = _bytes(array)
        self.sent += len(outgoing)
        self._send_all(outgoing, destination)

    def receive(self, array: np.ndarray[Any, Any], source: int) -> None:
        """Fill a contiguous array with the next bytes from a rank."""
        self._receive_all(_bytes(array), source)

    def sendrecv(
        self, outgoing: np.ndarray[Any, Any], destination: int, incoming: np.ndarray[Any, Any], source: int
    ) -> None:
        """Send one contiguous array and fill another at the same time.

        All ranks of a circle may call it at once, however long their arrays are: none waits for another to receive.
        """
        to_send, to_fill = _bytes(outgoing), _bytes(incoming)
        self.sent += len(to_send)
        while to_send and to_fill:
            readable, writable, _ = select.select([self._peer(source)], [self._peer(destination)], [], self.timeout)
            if not readable and not writable:
                raise self._fault(source, TimeoutError())
            if readable:
                to_fill = self._receive_some(to_fill, source)
            if writable:
                to_send = self._send_some(to_send, destination)
        self._send_all(to_send, destination)
        self._receive_all(to_fill, source)

    def barrier(self) -> None:
        """Wait until all ranks have called this. Its bytes are not counted."""
        token = memoryview(bytearray(1))
        if self.rank > 0:
            self._send_all(token, 0)
            self._receive_all(token, 0)
            return
        for rank in range(1, self.world_size):
            self._receive_all(token, rank)
        for rank in range(1, self.world_size):
            self._send_all(token, rank)

    def _send_all(self, view: memoryview, destination: int) -> None:
        while view:
            view = self._send_some(view, destination)

    def _receive_all(self, view: memoryview, source: int) -> None:
        while view:
            view = self._receive_some(view, source)

    def _send_some(self, view: memoryview, destination: int) -> memoryview:
        """Send as much as the connection takes at once, at least a byte; return the rest."""
        try:
            return view[self._peer(destination).send(view) :]
        except OSError as error:
            raise self._fault(destination, error) from None

    def _receive_some(self, view: memoryview, source: int) -> memoryview:
        """Receive what has arrived, at least a byte; return the part of the view that is still to be filled."""
        try:
            number = self._peer(source).recv_into(view)
        except OSError as error:
            raise self._fault(source, error) from None
        if number == 0:
            raise self._fault(source, ConnectionResetError())
        return view[number:]

    def _peer(self, rank: int) -> socket.socket:
        if rank not in self._peers:
            raise ValueError(
                f"rank {self.rank} of {self.world_size} has no connection to rank {rank}: `with` opens all others"
            )
        return self._peers[rank]

    def _fault(self, rank: int, error: OSError) -> OSError:
        address, port = self._hosts[rank]
        who = f"rank {self.rank}: rank {rank} at {address}:{port}"
        if isinstance(error, TimeoutError):
            return TimeoutError(f"{who} has sent or taken nothing for {self.timeout:g} s: does it run, with this call?")
        return ConnectionError(f"{who} has closed its connection: its own last line says why it ended")


def _bytes(array: np.ndarray[Any, Any]) -> memoryview:
    """Return the bytes of a contiguous array, which are not copied."""
    if not array.flags.c_contiguous:
        raise ValueError("a message is a contiguous array: np.ascontiguousarray makes one")
    return array.reshape(-1).view(np.uint8).data
