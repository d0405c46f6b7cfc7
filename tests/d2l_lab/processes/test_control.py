"""Which processes others can reach."""

import shlex
import socket
import subprocess

import psutil
import pytest

from d2l_lab.processes import control


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
    before = control.reachable_sockets([here])
    with socket.create_server((address, 0), family=family, dualstack_ipv6=address.startswith("::ffff")) as server:
        found = [one for one in control.reachable_sockets([here]) if one not in before]
        expected = (here.pid, shlex.join(here.cmdline()), f"{reachable}:{server.getsockname()[1]}")
        assert found == ([expected] if reachable else [])


def test_a_process_that_has_ended_listens_nowhere():
    process = subprocess.Popen(["true"])
    one = psutil.Process(process.pid)
    process.wait()
    assert control.reachable_sockets([one]) == []
