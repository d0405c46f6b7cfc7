"""Connections that carry objects: what arrives, when nobody listens, and where one listens. Keys: test_strangers.py."""

import threading
import time

import numpy as np
import psutil
import pytest

from d2l_utils.collectives.connection import connect, listening
from d2l_utils.jobs.commands import KEY
from d2l_utils.jobs.job import free_ports


@pytest.fixture(autouse=True)
def key(monkeypatch):
    monkeypatch.setenv(KEY, "a secret")


@pytest.fixture
def address():
    return f"127.0.0.1:{free_ports(1)[0]}"


@pytest.fixture
def echo(address):
    """A connection to a thread that sends back what it receives, and that listens after a while only."""

    def serve():
        time.sleep(0.2)
        with listening(address) as accept:
            connection = accept()
            while (said := connection.recv()) is not None:
                connection.send(said)

    thread = threading.Thread(target=serve)
    thread.start()
    with connect(address) as connection:
        yield connection
        connection.send(None)
    thread.join(10)
    assert not thread.is_alive()


def test_what_is_sent_arrives_whatever_its_size(echo):
    for count in (0, 1, 10_000, 1_000_000):
        sent = {"W": np.arange(count, dtype="float32")}
        echo.send(("push", 3, sent))
        call, worker, arrived = echo.recv()
        assert (call, worker) == ("push", 3)
        assert np.array_equal(arrived["W"], sent["W"])


def test_small_messages_one_after_another_do_not_wait_for_acknowledgements(echo):
    took = []
    for _ in range(10):
        start = time.perf_counter()
        echo.send(b"x" * 20_000)
        echo.send(b"y")
        assert [len(echo.recv()), len(echo.recv())] == [20_000, 1]
        took.append(time.perf_counter() - start)
    assert min(took) < 0.02  # with Nagle's delay each takes 40 ms; a busy machine disturbs some


def test_a_process_without_a_key_and_a_listener_that_never_comes_are_named(address, monkeypatch):
    with pytest.raises(ConnectionError, match=f"nothing listens on {address} after 0.3 s"):
        connect(address, timeout=0.3)
    monkeypatch.delenv(KEY)
    with pytest.raises(RuntimeError, match=f"set {KEY} to the same secret text for all processes"):
        connect(address)


@pytest.mark.parametrize("wrong", ["127.0.0.1", ":5000", "127.0.0.1:http", ""])
def test_what_is_no_address_is_refused(wrong):
    with pytest.raises(ValueError, match="host:port"):
        connect(wrong)


def test_one_listens_on_the_given_address_alone(address):
    with listening(address):
        found = [c.laddr for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    assert [f"{one.ip}:{one.port}" for one in found if one.port == int(address.rpartition(":")[2])] == [address]
