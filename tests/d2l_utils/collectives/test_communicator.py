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

from d2l_utils.collectives.communicator import Communicator
from d2l_utils.jobs.job import free_ports, launch

PROGRAM = [sys.executable, "-m", "d2l_utils.collectives.measure"]
SUMS = """
import numpy as np
from d2l_utils.collectives import algorithms
from d2l_utils.jobs.job import return_value
from d2l_utils.collectives.communicator import Communicator
found = {}
with Communicator(timeout=10) as comm:
    for name in ("star", "direct", "ring"):
        for count in (0, 1, 5, 12, 300_000):
            x = kept = np.arange(count, dtype=np.float32) * (comm.rank + 1)
            before = comm.sent, comm.received, comm.messages
            getattr(algorithms, name)(comm, x)
            assert np.array_equal(kept, np.arange(count, dtype=np.float32) * (comm.world_size * (comm.world_size + 1) // 2)), name
            after = comm.sent, comm.received, comm.messages
            found[name, count] = [int(b - a) for a, b in zip(before, after)]
    comm.barrier()
return_value(found)
"""
LEAVES = "from d2l_utils.collectives.communicator import Communicator\nwith Communicator(timeout=20): pass"
WAITS = "import numpy as np\nfrom d2l_utils.collectives.communicator import Communicator\nwith Communicator(timeout=20) as comm: {}"

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def hosts(n):
    return {"HOSTS": ",".join(f"127.0.0.1:{port}" for port in free_ports(n))}


@pytest.fixture(scope="module")
def counted():
    """A function of n that returns for each rank {(algorithm, count): [bytes sent, received, messages]}, sums checked."""
    kept = {}

    def run(n):
        if n not in kept:
            kept[n] = launch(python(SUMS), n, environment=hosts(n), deadline=60)
        return kept[n]

    return run


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_every_scheme_gives_the_sum_and_all_ranks_together_send_the_same_bytes(n, counted):
    for name in ("star", "direct", "ring"):
        for count in (0, 1, 5, 12, 300_000):
            ranks = [rank[name, count] for rank in counted(n)]
            sent, received, _ = (sum(column) for column in zip(*ranks, strict=True))
            assert sent == received == 2 * (n - 1) * 4 * count


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("count", [12, 300_000])
def test_each_rank_sends_what_the_formula_of_its_scheme_says(n, count, counted):
    size, ranks = 4 * count, counted(n)
    assert [rank["star", count][0] for rank in ranks] == [(n - 1) * size] + (n - 1) * [size]
    for name in ("direct", "ring"):
        assert {tuple(rank[name, count]) for rank in ranks} == {
            (2 * (n - 1) * size // n, 2 * (n - 1) * size // n, 2 * (n - 1))
        }


@pytest.mark.parametrize("call", ["comm.receive(np.empty(9), 1)", "comm.barrier()"])
def test_a_rank_that_dies_is_named_at_once(call):
    start = time.monotonic()
    with pytest.raises(RuntimeError, match="ConnectionError: rank 0: rank 1 at 127.0.0.1:[0-9]+ has closed its conn"):
        launch(by_rank(WAITS.format(call), LEAVES), environment=hosts(2))
    assert time.monotonic() - start < 10


def test_a_rank_that_is_killed_in_an_exchange_is_named():
    circle = "\n    while True: comm.sendrecv(np.ones(10**6), 1 - comm.rank, np.ones(10**6), 1 - comm.rank)"
    killed = "\n    import os, threading; threading.Timer(0.2, os.kill, (os.getpid(), 9)).start()" + circle
    with pytest.raises(RuntimeError, match="rank 1: rank 0 at .* has closed its connection"):
        launch(by_rank(WAITS.format(killed), WAITS.format(circle)), environment=hosts(2), may_fail=[0])


def test_a_rank_that_does_not_come_is_named_within_the_timeout():
    (mine, other), start = free_ports(2), time.monotonic()
    for rank in (0, 1):
        with pytest.raises(TimeoutError, match=f"rank {rank}: rank {1 - rank} has not come in 0.3 s: start it at 127"):
            Communicator(rank, [f"127.0.0.1:{mine}", f"127.0.0.1:{other}"], timeout=0.3).__enter__()
    assert time.monotonic() - start < 5


def test_a_silent_rank_is_named_within_the_timeout():
    addresses, over = hosts(2)["HOSTS"].split(","), threading.Event()

    def silent():
        with Communicator(1, addresses, timeout=2):
            over.wait(30)

    thread = threading.Thread(target=silent)
    thread.start()
    try:
        with Communicator(0, addresses, timeout=2) as comm:
            with pytest.raises(TimeoutError, match="rank 0: rank 1 at .* has sent or taken nothing for 2 s"):
                comm.receive(np.empty(9), 1)
            with pytest.raises(TimeoutError, match="rank 0: rank 1 at .* has sent or taken nothing for 2 s"):
                comm.sendrecv(np.empty(10**7), 1, np.empty(9), 1)
    finally:
        over.set()
        thread.join()


def test_a_stranger_at_the_port_takes_no_rank():
    ports = free_ports(2)
    addresses, found = [f"127.0.0.1:{port}" for port in ports], []

    def lowest():
        with Communicator(0, addresses, timeout=10) as comm:
            into = np.zeros(1)
            comm.receive(into, 1)
            found.append(into[0])

    thread = threading.Thread(target=lowest)
    thread.start()
    while not found and thread.is_alive():
        try:
            stranger = socket.create_connection(("127.0.0.1", ports[0]))
            break
        except OSError:
            time.sleep(0.01)
    stranger.sendall(b"GET / HTTP/1.0\r\n\r\n")
    with Communicator(1, addresses, timeout=10) as comm:
        comm.send(np.array([7.0]), 0)
        thread.join()
    stranger.close()
    assert found == [7.0]


def test_a_rank_listens_at_its_own_address_only_and_no_longer_than_until_all_have_come(monkeypatch):
    port, opened, create = free_ports(1)[0], [], socket.create_server
    monkeypatch.setattr(socket, "create_server", lambda place, **more: opened.append(place) or create(place, **more))
    with Communicator(0, [f"127.0.0.1:{port}"]):
        assert opened == [("127.0.0.1", port)]
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))


@pytest.mark.parametrize(("rank", "given"), [(2, ["a:1", "b:2"]), (0, []), (-1, ["a:1"])])
def test_a_rank_without_an_address_is_told(rank, given, monkeypatch):
    monkeypatch.delenv("HOSTS", raising=False)
    with pytest.raises(ValueError, match=re.escape(f"rank {rank} has no address: HOSTS names {len(given)} ranks")):
        Communicator(rank, given)


def test_a_message_is_contiguous():
    port = free_ports(1)[0]
    with Communicator(0, [f"127.0.0.1:{port}"]) as comm, pytest.raises(ValueError, match="ascontiguousarray"):
        comm.send(np.ones((4, 4)).T[1:3], 0)


@pytest.mark.parametrize("call", ["send", "receive"])
def test_a_rank_has_no_connection_to_itself(call):
    port = free_ports(1)[0]
    with (
        Communicator(0, [f"127.0.0.1:{port}"]) as comm,
        pytest.raises(ValueError, match="rank 0 of 1 has no connection to ra"),
    ):
        getattr(comm, call)(0, np.ones(1))


def test_the_program_measures_the_schemes_it_is_told(capfd):
    command = [*PROGRAM, "--algorithms", "star,ring", "--sizes", "12,4096", "--repeats", "3"]
    found, other = launch(command, 2, environment=hosts(2))
    assert other is None
    assert {name: sorted(sizes) for name, sizes in found.items()} == {"star": [12, 4096], "ring": [12, 4096]}
    assert all(0 < found[name][size]["seconds"] < 10 for name in found for size in found[name])
    assert found["star"][4096]["sent"] == [4096, 4096]
    assert json.loads(capfd.readouterr().out.removeprefix("[0] "))["ring"]["4096"]["sent"] == [4096, 4096]


def test_the_program_names_an_unknown_scheme():
    with pytest.raises(RuntimeError, match="unknown algorithms tree; known: star, sharded, ring"):
        launch([*PROGRAM, "--algorithms", "star,tree"], 2, environment=hosts(2))
