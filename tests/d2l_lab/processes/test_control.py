"""Which processes others can reach, and what becomes of processes that cannot be ended."""

import json
import shlex
import socket
import subprocess
from unittest.mock import Mock

import psutil
import pytest

from d2l_lab.processes import control, supervisor


def test_what_no_signal_ends_is_given_up_after_a_while_and_named_in_one_line(monkeypatch):
    monkeypatch.setattr(control, "GRACE", 0.1)
    monkeypatch.setattr(control, "BOUND", 0.2)
    process = Mock(pid=1)
    process.status.return_value = psutil.STATUS_DISK_SLEEP  # as if it waited for a disk for ever
    monkeypatch.setattr(supervisor, "end", lambda find: control.end(lambda: [process]))
    watching = supervisor.Supervisor([], [], "", "folder", 1, [], False)
    watching.closed.set()
    watching.finish("rank 0 failed")
    reason = json.loads(watching.outgoing.get())["reason"]
    assert reason == "rank 0 failed; these processes cannot be killed: 1"
    signals = [name for name, *_ in process.method_calls if name != "status"]
    assert (signals[0], set(signals[1:])) == ("terminate", {"kill"})


@pytest.mark.parametrize(
    ("address", "family", "reachable"),
    [
        ("0.0.0.0", socket.AF_INET, "0.0.0.0"),
        ("::", socket.AF_INET6, "[::]"),
        ("127.0.0.1", socket.AF_INET, None),
        ("127.3.0.1", socket.AF_INET, None),
        ("::1", socket.AF_INET6, None),
        ("::ffff:127.0.0.1", socket.AF_INET6, None),
    ],
)
def test_a_socket_that_listens_beyond_loopback_is_listed(address, family, reachable):
    here = psutil.Process()
    before = control.exposed([here])
    with socket.create_server((address, 0), family=family, dualstack_ipv6=address.startswith("::ffff")) as server:
        found = [one for one in control.exposed([here]) if one not in before]
        expected = (here.pid, shlex.join(here.cmdline()), f"{reachable}:{server.getsockname()[1]}")
        assert found == ([expected] if reachable else [])


def test_a_process_that_has_ended_listens_nowhere():
    process = subprocess.Popen(["true"])
    one = psutil.Process(process.pid)
    process.wait()
    assert control.exposed([one]) == []
