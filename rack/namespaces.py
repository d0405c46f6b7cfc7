"""Namespaces in which the rack lies. Nothing in them touches the machine, and the kernel removes them with their end.

A namespace lives as long as a process or a mount holds it. Here the first process inside holds all: it has process
numbers and mounts of its own, so that its end ends every other process inside, and then nothing holds a network.
"""

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from d2l_lab.processes.namespace import failure, unshare

ROOT = Path(__file__).parents[1]
PACKAGES = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
INSIDE = unshare("--mount", "--pid", "--fork", "--kill-child")
PROBE = """mount -t tmpfs tmpfs /run && ip netns add probe && ip tuntap add card mode tun &&
nsenter --net=/run/netns/probe true"""


def refusal(platform: str = sys.platform) -> str | None:
    """Return in one line why there can be no rack here and how to get one, or None if there can be one."""
    if platform != "linux":
        return f"a rack is made of Linux's network namespaces, and this is {platform}: run it on a Linux"
    missing = [program for program in PACKAGES if not shutil.which(program)]
    if missing:
        packages = " ".join(dict.fromkeys(PACKAGES[program] for program in missing))
        return f"a rack needs {' and '.join(missing)} (Debian: apt-get install {packages})"
    message = failure([*INSIDE, "sh", "-c", PROBE])
    if message:
        return f"this account may not make network namespaces, or the kernel has no tun ({message}): try root"
    return None


@contextmanager
def private(module: str, *arguments: str) -> Iterator[Any]:
    """Run `python -m module` as the first process in namespaces of its own, for the length of a `with` block: a Popen.

    It ends when the other end of its standard input is closed, so it never outlives this process.
    """
    process: Any = subprocess.Popen(
        [*INSIDE, sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        start_new_session=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
