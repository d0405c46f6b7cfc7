"""Messages between ranks: sums are exact, bytes are those of the formulas, and failures say who is gone."""

import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from launching import by_rank

from d2l_lab.collectives import measure
from d2l_lab.collectives.communicator import Communicator
from d2l_lab.processes.commands import free_ports
from d2l_lab.processes.job import launch

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def local(n):
    return [f"127.0.0.1:{port}" for port in free_ports(n)]


def ranks(n, work, timeout=10):
    """Let n threads work with a communicator each; return what they return, in the order of ranks."""
    addresses = local(n)

    def run(rank):
        with Communicator(rank, addresses, timeout) as comm:
            return work(comm)

    with ThreadPoolExecutor(n) as pool:
        return list(pool.map(run, range(n)))


@pytest.mark.parametrize("count", [0, 1, 5, 12, 300_000])
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("name", measure.ALGORITHMS)
def test_every_algorithm_gives_the_sum_and_each_rank_sends_what_the_formula_says(name, n, count):
    def work(comm):
        x = np.arange(count, dtype=np.float32) * (comm.rank + 1)
        measure.ALGORITHMS[name](comm, x)
        assert np.array_equal(x, np.arange(count, dtype=np.float32) * (n * (n + 1) // 2))
        sent = comm.sent
        comm.barrier()  # whose bytes are not counted
        assert sent == comm.sent
        return sent

    sent = ranks(n, work)
    assert sum(sent) == 2 * (n - 1) * 4 * count
    share = 2 * (n - 1) * 4 * count // n
    if name == "star":
        assert sent == [(n - 1) * 4 * count] + (n - 1) * [4 * count]
    elif count % 12 == 0:
        assert sent == n * [share]


def test_bytes_count_where_they_are_sent():
    def work(comm):
        comm.receive(np.empty(3), 0) if comm.rank else comm.send(np.ones(3), 1)
        return comm.sent

    assert ranks(2, work) == [24, 0]


@pytest.mark.parametrize("call", [lambda comm: comm.receive(np.empty(9), 1), Communicator.barrier])
def test_a_rank_that_leaves_is_named_at_once(call):
    start = time.monotonic()
    with pytest.raises(ConnectionError, match="rank 0: rank 1 at 127.0.0.1:[0-9]+ has closed its connection"):
        ranks(2, lambda comm: call(comm) if comm.rank == 0 else None)
    assert time.monotonic() - start < 5


def test_a_rank_that_is_killed_in_an_exchange_is_named():
    code = "import os, threading, numpy as np\nfrom d2l_lab.collectives.communicator import Communicator\n"
    code += "with Communicator(timeout=20) as comm:\n"
    circle = "    while True: comm.sendrecv(np.ones(10**6), 1 - comm.rank, np.ones(10**6), 1 - comm.rank)"
    killed = "    threading.Timer(0.2, os.kill, (os.getpid(), 9)).start()\n"
    with pytest.raises(RuntimeError, match="ConnectionError: rank 1: rank 0 at .* has closed its connection"):
        launch(by_rank(code + killed + circle, code + circle), environment={"HOSTS": ",".join(local(2))}, may_fail=[0])


def test_a_rank_that_is_silent_or_does_not_come_is_named_within_the_timeout():
    addresses, start = local(2), time.monotonic()
    for rank in (0, 1):
        with pytest.raises(TimeoutError, match=f"rank {rank}: rank {1 - rank} has not come in 0.3 s: start it at 127"):
            Communicator(rank, addresses, timeout=0.3).__enter__()
    assert time.monotonic() - start < 5
    over = threading.Event()

    def work(comm):
        if comm.rank == 1:
            return over.wait(30)
        for call in (lambda: comm.receive(np.empty(9), 1), lambda: comm.sendrecv(np.empty(10**7), 1, np.empty(9), 1)):
            with pytest.raises(TimeoutError, match="rank 0: rank 1 at .* has sent or taken nothing for 0.5 s"):
                call()
        return over.set()

    ranks(2, work, timeout=0.5)


def test_a_rank_listens_at_its_own_address_only_and_no_longer_than_until_all_have_come(monkeypatch):
    port, opened, create = free_ports(1)[0], [], socket.create_server
    monkeypatch.setattr(socket, "create_server", lambda place, **more: opened.append(place) or create(place, **more))
    with Communicator(0, [f"127.0.0.1:{port}"]):
        assert opened == [("127.0.0.1", port)]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize(("rank", "given"), [(2, ["a:1", "b:2"]), (0, []), (-1, ["a:1"])])
def test_a_rank_without_an_address_is_refused(rank, given, monkeypatch):
    monkeypatch.delenv("HOSTS", raising=False)
    with pytest.raises(ValueError, match=re.escape(f"rank {rank} has no address: HOSTS names {len(given)} ranks")):
        Communicator(rank, given)


def test_a_message_is_contiguous_and_goes_to_another_rank():
    with Communicator(0, local(1)) as comm:
        with pytest.raises(ValueError, match="ascontiguousarray"):
            comm.send(np.ones((4, 4)).T[1:3], 0)
        for call in (comm.send, comm.receive):
            with pytest.raises(ValueError, match="rank 0 of 1 has no connection to rank 0"):
                call(np.ones(1), 0)


def test_the_turn_that_warms_up_is_in_no_median(monkeypatch):
    times = iter([100.0, 100.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0])
    monkeypatch.setattr(measure, "seconds", lambda *_: next(times))
    with Communicator(0, local(1)) as comm:
        found = measure.measured(comm, [8], repeats=3)
    assert found == {"star": {8: 2.0}, "ring": {8: 2.0}}
