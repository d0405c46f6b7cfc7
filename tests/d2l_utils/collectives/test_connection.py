"""Connections that carry objects: what arrives, who is let in, when nobody listens, and where one listens."""

import threading
import time

import numpy as np
import psutil
import pytest
from launching import python
from strangers import STRANGERS, visit

from d2l_utils.collectives.connection import connect, listening
from d2l_utils.jobs.commands import KEY
from d2l_utils.jobs.job import free_ports, launch

pytestmark = pytest.mark.usefixtures("key", "nothing_is_left")


@pytest.fixture
def key(monkeypatch):
    monkeypatch.setenv(KEY, "a secret")


@pytest.fixture
def address():
    return f"127.0.0.1:{free_ports(1)[0]}"


@pytest.fixture
def server(address):
    """A thread that sends back what it receives on the address, after a while."""

    def serve():
        time.sleep(0.2)  # a listener that comes late
        with listening(address) as accept:
            connection = accept()
            while (said := connection.recv()) is not None:
                connection.send(said)

    thread = threading.Thread(target=serve)
    thread.start()
    yield thread
    thread.join(10)
    assert not thread.is_alive()


@pytest.fixture
def echo(server, address):
    connection = connect(address)
    yield connection
    connection.send(None)
    connection.close()


def test_what_is_sent_arrives_whatever_its_size(echo):
    for count in (0, 1, 10_000, 1_000_000):
        sent = {"W": np.arange(count, dtype="float32")}
        echo.send(("push", 3, sent))
        call, worker, arrived = echo.recv()
        assert (call, worker) == ("push", 3)
        assert np.array_equal(arrived["W"], sent["W"])


def test_small_messages_one_after_another_do_not_wait_for_acknowledgements(echo):
    echo.send(0)
    echo.recv()
    took = []
    for _ in range(10):
        start = time.perf_counter()
        echo.send(b"x" * 20_000)
        echo.send(b"y")
        echo.recv()
        echo.recv()
        took.append(time.perf_counter() - start)
    assert sorted(took)[5] < 0.02  # with Nagle's delay 40 ms


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_is_dropped_within_a_second_and_nothing_of_it_is_unpickled(stranger, server, address, tmp_path):
    with visit(address, STRANGERS[stranger]):
        start = time.monotonic()
        connection = connect(address)
        connection.send("mine")
        assert connection.recv() == "mine"
        assert time.monotonic() - start < 2
    connection.send(None)
    assert not (tmp_path / "unpickled").exists()


def test_another_key_is_refused_at_once_and_none_is_an_error(server, address, monkeypatch):
    script = f"from d2l_utils.collectives.connection import connect; connect({address!r})"
    with pytest.raises(RuntimeError, match=f"ConnectionError: what listens on {address} has another {KEY}"):
        launch(python(script), environment={KEY: "another"}, deadline=20)
    connect(address).send(None)  # the listener still waits for one that has the key
    monkeypatch.delenv(KEY)
    with pytest.raises(RuntimeError, match=f"set {KEY} to the same secret text for all processes"):
        connect(address)


def test_a_listener_that_never_comes_is_named(address):
    with pytest.raises(ConnectionError, match=f"nothing listens on {address} after 0.3 s"):
        connect(address, timeout=0.3)


@pytest.mark.parametrize("wrong", ["127.0.0.1", ":5000", "127.0.0.1:http", ""])
def test_what_is_no_address_is_refused(wrong):
    with pytest.raises(ValueError, match="host:port"):
        connect(wrong)


def test_one_listens_on_the_given_address_alone(address):
    with listening(address):
        found = [c.laddr for c in psutil.Process().net_connections("tcp") if c.status == psutil.CONN_LISTEN]
    assert [f"{one.ip}:{one.port}" for one in found if one.port == int(address.rpartition(":")[2])] == [address]
