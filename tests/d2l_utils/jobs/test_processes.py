"""Which processes others can reach, and what becomes of processes that cannot be ended."""

import json
import shlex
import socket
import subprocess

import psutil
import pytest
from launching import python

from d2l_utils.jobs import processes, supervisor
from d2l_utils.jobs.processes import exposed


class Immortal:
    """A process that no signal ends, such as one that waits for a disk for ever."""

    pid = 1

    def __init__(self):
        self.signals = []

    def status(self):
        return psutil.STATUS_DISK_SLEEP

    def terminate(self):
        self.signals.append("TERM")

    def kill(self):
        self.signals.append("KILL")


def test_what_cannot_be_killed_is_returned_after_a_while(monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.1)
    monkeypatch.setattr(processes, "BOUND", 0.2)
    process = Immortal()
    assert processes.end(lambda: [process]) == [process]
    assert (process.signals[0], set(process.signals[1:])) == ("TERM", {"KILL"})


def test_what_cannot_be_killed_is_said_in_one_line(monkeypatch):
    monkeypatch.setattr(supervisor, "end", lambda find: [Immortal()])
    watching = supervisor.Supervisor([], [], "", "folder", 1, [], False)
    watching.closed.set()
    watching.finish("rank 0 failed")
    event = json.loads(watching.outgoing.get())
    assert event["reason"] == "rank 0 failed; these processes cannot be killed: 1"


@pytest.mark.parametrize(
    ("address", "family", "reachable"),
    [
        ("0.0.0.0", socket.AF_INET, "0.0.0.0"),
        ("::", socket.AF_INET6, "[::]"),
        ("127.0.0.1", socket.AF_INET, None),
        ("::1", socket.AF_INET6, None),
        ("::ffff:127.0.0.1", socket.AF_INET6, None),
    ],
)
def test_a_socket_that_listens_beyond_loopback_is_listed(address, family, reachable):
    here = psutil.Process()
    before = exposed([here])
    with socket.create_server((address, 0), family=family, dualstack_ipv6=address.startswith("::ffff")) as server:
        found = [one for one in exposed([here]) if one not in before]
        expected = (here.pid, shlex.join(here.cmdline()), f"{reachable}:{server.getsockname()[1]}")
        assert found == ([expected] if reachable else [])


def test_a_process_that_has_ended_listens_nowhere():
    process = subprocess.Popen(python("pass"))
    one = psutil.Process(process.pid)
    process.wait()
    assert exposed([one]) == []
