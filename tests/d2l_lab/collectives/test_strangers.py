"""Those who connect to a rank of a communicator without the key of the job."""

import pickle
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from launching import by_rank, wait_until

from d2l_lab.collectives.communicator import Communicator
from d2l_lab.processes.commands import KEY, free_ports
from d2l_lab.processes.job import launch


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
ENTER = "from d2l_lab.collectives.communicator import Communicator; Communicator(1, ['{}', '{}']).__enter__()"


def rank_zero(addresses):
    found = np.zeros(1)
    with Communicator(0, addresses) as comm:
        comm.receive(found, 1)
    return found[0]


def rank_one(addresses):
    with Communicator(1, addresses) as comm:
        comm.send(np.array([7.0]), 0)


@pytest.fixture
def addresses(monkeypatch):
    monkeypatch.setenv(KEY, "a secret")
    return [f"127.0.0.1:{port}" for port in free_ports(2)]


@pytest.mark.parametrize("words", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_is_dropped_within_a_second_and_nothing_of_it_is_unpickled(words, addresses, tmp_path):
    host, port = addresses[0].split(":")
    stranger = socket.socket()
    with ThreadPoolExecutor() as pool, stranger:
        result = pool.submit(rank_zero, addresses)
        wait_until(lambda: stranger.connect_ex((host, int(port))) == 0)
        stranger.sendall(words)
        start = time.monotonic()
        rank_one(addresses)
        assert result.result(10) == 7.0
        assert time.monotonic() - start < 2
    assert not (tmp_path / "unpickled").exists()


def test_another_key_is_refused_at_once_and_the_listener_waits_on(addresses):
    refusal = "ConnectionError: rank 1: what listens at rank 0's address has another key"
    with ThreadPoolExecutor() as pool:
        result = pool.submit(rank_zero, addresses)
        with pytest.raises(RuntimeError, match=refusal):
            launch(by_rank(ENTER.format(*addresses)), environment={KEY: "another"}, deadline=20)
        rank_one(addresses)
        assert result.result(10) == 7.0
