"""Those who connect to a rank of a communicator without the key of the job."""

import pickle
import re
import socket
import struct
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress

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
    "no text": b"\0\0\0\x20{\xff}" + bytes(29),
    "too long": b"\x7f\xff\xff\xff",
}
ENTER = "from d2l_lab.collectives.communicator import Communicator; Communicator(1, ['{}', '{}']).__enter__()"


def rank_zero(addresses, timeout=10):
    found = np.zeros(1)
    with Communicator(0, addresses, timeout) as comm:
        comm.receive(found, 1)
    return found[0]


def rank_one(addresses):
    with Communicator(1, addresses) as comm:
        comm.send(np.array([7.0]), 0)


@contextmanager
def meeting(addresses, timeout=10):
    """Let rank 0 wait within the block; then rank 1 comes, and sends it a number."""
    with ThreadPoolExecutor() as pool:
        result = pool.submit(rank_zero, addresses, timeout)
        yield
        rank_one(addresses)
        assert result.result(10) == 7.0


def talk_slowly(peer):
    with suppress(ConnectionError):  # once it has been sent away
        for byte in b"\0\0\0\x20" + bytes(32):
            peer.sendall(bytes([byte]))
            time.sleep(0.2)


@pytest.fixture
def addresses(monkeypatch):
    monkeypatch.setenv(KEY, "a secret")
    return [f"127.0.0.1:{port}" for port in free_ports(2)]


@pytest.fixture
def strangers(addresses):
    """A function that connects a number of strangers to rank 0, once it listens, and returns their sockets."""
    with ExitStack() as stack:

        def connect(number):
            host, port = addresses[0].split(":")
            found = [stack.enter_context(socket.socket()) for _ in range(number)]
            wait_until(lambda: found[0].connect_ex((host, int(port))) == 0)
            for other in found[1:]:
                other.setblocking(False)  # it waits at the door if too many are there
                other.connect_ex((host, int(port)))
            return found

        yield connect


@pytest.mark.parametrize("words", STRANGERS.values(), ids=STRANGERS)
def test_a_stranger_delays_nobody_and_nothing_of_it_is_unpickled(words, addresses, strangers, tmp_path):
    with meeting(addresses):
        (stranger,) = strangers(1)
        stranger.sendall(words)
        start = time.monotonic()
    assert time.monotonic() - start < 2
    assert not (tmp_path / "unpickled").exists()


def test_strangers_that_leave_at_once_or_reset_their_connection_are_nobody(addresses, strangers):
    with meeting(addresses):
        for reset in (False, True):
            (stranger,) = strangers(1)
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", reset, 0))
            stranger.close()


def test_very_many_silent_strangers_do_not_keep_a_rank_out(addresses, strangers):
    with meeting(addresses, timeout=20):
        strangers(200)


def test_a_stranger_that_talks_slowly_does_not_prolong_the_meeting(addresses, strangers):
    with ThreadPoolExecutor() as pool:
        start = time.monotonic()
        result = pool.submit(rank_zero, addresses, 1)
        talk_slowly(*strangers(1))
        with pytest.raises(TimeoutError, match="rank 0: rank 1 has not come in 1 s"):
            result.result()
        assert time.monotonic() - start < 4  # 7 s if each byte bought it another second


def test_what_answers_slowly_at_a_lower_ranks_address_does_not_prolong_the_meeting(addresses):
    host, port = addresses[0].split(":")
    with socket.create_server((host, int(port))) as server, ThreadPoolExecutor() as pool:
        start = time.monotonic()
        result = pool.submit(Communicator(1, addresses, timeout=1).__enter__)
        peer, _ = server.accept()
        with peer:
            talk_slowly(peer)
        with pytest.raises(TimeoutError, match="rank 1: rank 0 has not come in 1 s"):
            result.result()
        assert time.monotonic() - start < 4


@pytest.mark.parametrize("host", ["0.0.0.0", "", "10.0.0.1"])
@pytest.mark.parametrize("rank", [0, 1])
def test_without_a_key_no_rank_meets_others_where_strangers_could_come(rank, host, monkeypatch):
    addresses = [f"{host}:5000", "127.0.0.1:5001"]
    cure = rf"^rank {rank}: {re.escape(host)}:5000 is not loopback, .* export {KEY}=\$\(openssl rand -hex 16\)$"
    for key in ("", "  "):
        monkeypatch.setenv(KEY, key)
        with pytest.raises(ValueError, match=cure):
            Communicator(rank, addresses, timeout=0.1).__enter__()


@pytest.mark.parametrize(("key", "host"), [("a secret", "0.0.0.0"), ("", "localhost")])
def test_with_a_key_ranks_meet_at_any_address_and_without_one_on_loopback(key, host, addresses, monkeypatch):
    monkeypatch.setenv(KEY, key)
    with ThreadPoolExecutor() as pool:
        result = pool.submit(rank_zero, [addresses[0].replace("127.0.0.1", host), addresses[1]])
        rank_one(addresses)
        assert result.result(10) == 7.0


def test_another_key_is_refused_at_once_and_the_listener_waits_on(addresses):
    refusal = "ConnectionError: rank 1: what listens at rank 0's address has another key"
    with meeting(addresses), pytest.raises(RuntimeError, match=refusal):
        launch(by_rank(ENTER.format(*addresses)), environment={KEY: "another"}, deadline=20)
