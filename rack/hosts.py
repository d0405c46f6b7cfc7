"""The hosts of the rack: one network namespace each, with a network card whose packets go to the switch.

To be called by the first process inside `namespaces.private`: names and addresses exist nowhere else.
"""

import fcntl
import os
import struct
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rack.switch import PACKET

RATE = 12.5e6  # bytes per second and direction: 100 Mbit/s, which leaves two cores time for eight hosts
DELAY = 0.5e-3  # seconds
WINDOW = 100  # packets that TCP sends before the first is confirmed: more than a message here has
PORT = 5000
NEW_CARD, IP_ONLY, NO_HEADER = 0x400454CA, 0x0001, 0x1000  # TUNSETIFF, IFF_TUN, IFF_NO_PI of linux/if_tun.h


def address(host: int) -> str:
    """Return the address at which the ranks on a host listen."""
    return f"10.0.0.{host + 1}"


def build(n: int) -> list[int]:
    """Make n hosts; return for each the open file that stands for its network card, as `connect` wants them."""
    _run("mount -t tmpfs tmpfs /run")  # the names of network namespaces lie there
    return [_host(host) for host in range(n)]


@contextmanager
def connect(files: Sequence[int], rates: Sequence[float], delay: float = DELAY) -> Iterator[None]:
    """Connect hosts by a switch for the length of a `with` block; rates in bytes/s, the delay in seconds."""
    words = [",".join(map(str, rates)), str(delay), *map(str, files)]
    command = [sys.executable, "-m", "rack.switch", *words]
    with subprocess.Popen(command, pass_fds=files, stdin=subprocess.DEVNULL) as switch:
        try:
            yield
        finally:
            switch.kill()


def _host(host: int) -> int:
    """Make one host; return the open file from which its packets are read and into which those for it are written."""
    file = os.open("/dev/net/tun", os.O_RDWR)
    fcntl.ioctl(file, NEW_CARD, struct.pack("16sH22x", b"card", IP_ONLY | NO_HEADER))
    _run(f"ip netns add host{host}")
    _run(f"ip link set card netns host{host}")
    _run(f"ip -n host{host} link set lo up")
    _run(f"ip -n host{host} address add {address(host)}/24 dev card")
    _run(f"ip -n host{host} link set card mtu {PACKET} txqueuelen 10000 up")
    # Otherwise TCP's slow start, as this machine has it set, would hide what the algorithms do to the links.
    windows = f"congctl reno initcwnd {WINDOW} initrwnd {WINDOW}"
    _run(f"ip -n host{host} route replace 10.0.0.0/24 dev card src {address(host)} {windows}")
    return file


def start(host: int, command: Sequence[str], **options: Any) -> "subprocess.Popen[bytes]":
    """Start a command on a host; the options are those of subprocess.Popen."""
    return subprocess.Popen(["nsenter", f"--net=/run/netns/host{host}", *command], **options)


def _run(command: str) -> None:
    done = subprocess.run(command.split(), capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{command}: {done.stderr.strip()}")
