"""Those who connect without the key of the job, to a listener of connections and to a rank of a communicator."""

import pickle
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from launching import by_rank, wait_until

from d2l_utils.collectives.communicator import Communicator
from d2l_utils.collectives.connection import connect, listening
from d2l_utils.jobs.commands import KEY
from d2l_utils.jobs.job import free_ports, launch


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
CONNECT = "from d2l_utils.collectives.connection import connect; connect('{}')"
ENTER = "from d2l_utils.collectives.communicator import Communicator; Communicator(1, ['{}', '{}']).__enter__()"


def listener(addresses):
    with listening(addresses[0]) as accept:
        return accept().recv()


def caller(addresses):
    connect(addresses[0]).send(7.0)


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
@pytest.mark.parametrize(("listen", "call"), [(listener, caller), (rank_zero, rank_one)])
def test_a_stranger_is_dropped_within_a_second_and_nothing_of_it_is_unpickled(listen, call, words, addresses, tmp_path):
    host, port = addresses[0].split(":")
    stranger = socket.socket()
    with ThreadPoolExecutor() as pool, stranger:
        result = pool.submit(listen, addresses)
        wait_until(lambda: stranger.connect_ex((host, int(port))) == 0)
        stranger.sendall(words)
        start = time.monotonic()
        call(addresses)
        assert result.result(10) == 7.0
        assert time.monotonic() - start < 2
    assert not (tmp_path / "unpickled").exists()


@pytest.mark.parametrize(
    ("listen", "call", "other", "refusal"),
    [
        (listener, caller, CONNECT, f"what listens on {{}} has another {KEY}"),
        (rank_zero, rank_one, ENTER, "rank 1: what listens at rank 0's address has another key"),
    ],
)
def test_another_key_is_refused_at_once_and_the_listener_waits_on(listen, call, other, refusal, addresses):
    with ThreadPoolExecutor() as pool:
        result = pool.submit(listen, addresses)
        with pytest.raises(RuntimeError, match=f"ConnectionError: {refusal.format(*addresses)}"):
            launch(by_rank(other.format(*addresses)), environment={KEY: "another"}, deadline=20)
        call(addresses)
        assert result.result(10) == 7.0
