"""Messages between real processes: sums are exact, bytes are those of the formulas, and failures say who is gone."""

import json
import re
import socket
import sys
import threading
import time

import numpy as np
import pytest
from launching import by_rank, python
from strangers import STRANGERS, visit

from d2l_utils.collectives.communicator import Communicator
from d2l_utils.jobs.commands import KEY
from d2l_utils.jobs.job import free_ports, launch

PROGRAM = [sys.executable, "-m", "d2l_utils.collectives.measure"]
ALGORITHMS, COUNTS = ("star", "direct", "ring"), (0, 1, 5, 12, 300_000)
SUMS = f"""
import numpy as np
from d2l_utils.collectives import algorithms
from d2l_utils.jobs.job import return_value
from d2l_utils.collectives.communicator import Communicator
found = {{}}
with Communicator(timeout=10) as comm:
    for name in {ALGORITHMS}:
        for count in {COUNTS}:
            x = kept = np.arange(count, dtype=np.float32) * (comm.rank + 1)
            before = comm.sent, comm.received, comm.messages
            getattr(algorithms, name)(comm, x)
            ranks = comm.world_size * (comm.world_size + 1) // 2
            assert np.array_equal(kept, np.arange(count, dtype=np.float32) * ranks), name
            after = comm.sent, comm.received, comm.messages
            found[name, count] = [int(b - a) for a, b in zip(before, after)]
    comm.barrier()
return_value(found)
"""
START = "import numpy as np\nfrom d2l_utils.collectives.communicator import Communicator\n"
RUN = START + "with Communicator(timeout=20) as comm: {}"

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def local(n):
    return [f"127.0.0.1:{port}" for port in free_ports(n)]


def hosts(n):
    return {"HOSTS": ",".join(local(n))}


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_algorithm_gives_the_sum_and_each_rank_sends_what_the_formula_says(n):
    ranks = launch(python(SUMS), n, environment=hosts(n), deadline=60)
    for count in COUNTS:
        size = 4 * count
        for name in ALGORITHMS:
            sent, received, _ = (sum(column) for column in zip(*(rank[name, count] for rank in ranks), strict=True))
            assert sent == received == 2 * (n - 1) * size
        if count % 12 == 0:
            assert [rank["star", count][0] for rank in ranks] == [(n - 1) * size] + (n - 1) * [size]
            share = 2 * (n - 1) * size // n
            expected = [share, share, 2 * (n - 1) if count else 0]
            assert all(rank[name, count] == expected for rank in ranks for name in ("direct", "ring"))


@pytest.mark.parametrize("call", ["comm.receive(np.empty(9), 1)", "comm.barrier()"])
def test_a_rank_that_dies_is_named_at_once(call):
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="ConnectionError: rank 0: rank 1 at 127.0.0.1:[0-9]+ has closed its conn"):
        launch(by_rank(RUN.format(call), RUN.format("pass")), environment=hosts(2))
    assert time.monotonic() - start < 10


def test_a_rank_that_is_killed_in_an_exchange_is_named():
    circle = "\n    while True: comm.sendrecv(np.ones(10**6), 1 - comm.rank, np.ones(10**6), 1 - comm.rank)"
    killed = "\n    import os, threading; threading.Timer(0.2, os.kill, (os.getpid(), 9)).start()" + circle
    with pytest.raises(RuntimeError, match="rank 1: rank 0 at .* has closed its connection"):
        launch(by_rank(RUN.format(killed), RUN.format(circle)), environment=hosts(2), may_fail=[0])


def test_a_rank_that_does_not_come_is_named_within_the_timeout():
    addresses, start = local(2), time.monotonic()
    for rank in (0, 1):
        with pytest.raises(TimeoutError, match=f"rank {rank}: rank {1 - rank} has not come in 0.3 s: start it at 127"):
            Communicator(rank, addresses, timeout=0.3).__enter__()
    assert time.monotonic() - start < 5


def beside(rank, addresses, timeout, work):
    """Start a thread that is another rank and works with its communicator; return it."""

    def run():
        with Communicator(rank, addresses, timeout=timeout) as comm:
            work(comm)

    thread = threading.Thread(target=run)
    thread.start()
    return thread


def test_a_silent_rank_is_named_within_the_timeout():
    addresses, over = local(2), threading.Event()
    thread = beside(1, addresses, 20, lambda comm: over.wait(30))
    with Communicator(0, addresses, timeout=0.5) as comm:
        for call in (lambda: comm.receive(np.empty(9), 1), lambda: comm.sendrecv(np.empty(10**7), 1, np.empty(9), 1)):
            with pytest.raises(TimeoutError, match="rank 0: rank 1 at .* has sent or taken nothing for 0.5 s"):
                call()
    over.set()
    thread.join()


@pytest.mark.parametrize("stranger", STRANGERS)
def test_a_stranger_at_the_port_takes_no_rank_and_costs_a_second_at_most(stranger):
    addresses, found = local(2), np.zeros(1)
    thread = beside(0, addresses, 10, lambda comm: comm.receive(found, 1))
    with visit(addresses[0], STRANGERS[stranger]):
        start = time.monotonic()
        with Communicator(1, addresses, timeout=10) as comm:
            comm.send(np.array([7.0]), 0)
            thread.join()
        assert time.monotonic() - start < 2
    assert found == [7.0]


def test_a_rank_with_another_key_is_refused_at_once():
    code, common = RUN.format("pass"), hosts(2)
    with pytest.raises(RuntimeError, match="ConnectionError: rank 1: what listens at rank 0's address has another key"):
        launch(by_rank(code, code), environment=[common | {KEY: "one"}, common | {KEY: "another"}])


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


def test_the_program_measures_the_algorithms_that_it_is_given(capfd):
    command = [*PROGRAM, "--algorithms", "star,ring", "--sizes", "12,4096", "--repeats", "3"]
    found, other = launch(command, 2, environment=hosts(2))
    assert other is None
    assert {name: sorted(sizes) for name, sizes in found.items()} == {"star": [12, 4096], "ring": [12, 4096]}
    assert all(0 < found[name][size]["seconds"] < 10 for name in found for size in found[name])
    assert found["star"][4096]["sent"] == [4096, 4096]
    assert json.loads(capfd.readouterr().out.removeprefix("[0] "))["ring"]["4096"]["sent"] == [4096, 4096]


def test_the_program_names_an_unknown_algorithm():
    with pytest.raises(RuntimeError, match="unknown algorithms tree; known: star, direct, ring"):
        launch([*PROGRAM, "--algorithms", "star,tree"], 2, environment=hosts(2))
