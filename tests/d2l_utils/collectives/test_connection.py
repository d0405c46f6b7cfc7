"""Connections that carry objects: what arrives, when nobody listens, and on which address one listens."""

import threading
import time

import numpy as np
import psutil
import pytest

from d2l_utils.collectives.connection import connect, listening
from d2l_utils.jobs.job import free_ports


@pytest.fixture
def address():
    return f"127.0.0.1:{free_ports(1)[0]}"


@pytest.fixture
def echo(address):
    """A thread that sends back what it receives on the address, after a while."""

    def serve():
        time.sleep(0.2)  # a listener that comes late
        with listening(address) as accept:
            connection = accept()
            while (said := connection.recv()) is not None:
                connection.send(said)

    thread = threading.Thread(target=serve)
    thread.start()
    connection = connect(address)
    yield connection
    connection.send(None)
    thread.join(10)
    connection.close()


@pytest.mark.parametrize("count", [0, 1, 10_000, 1_000_000])
def test_what_is_sent_arrives_whatever_its_size(echo, count):
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
