"""Namespaces in which the rack lies. Nothing in them touches the machine, and the kernel removes them with their end.

A namespace lives as long as a process or a mount holds it. Here the first process inside holds all: it has process
numbers and mounts of its own, so that its end ends every other process inside, and then nothing holds a network.
"""

import os
import shutil
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGES = {"ip": "iproute2", "unshare": "util-linux", "nsenter": "util-linux"}
PROBE = """mount -t tmpfs tmpfs /run && ip netns add probe && ip tuntap add card mode tun &&
nsenter --net=/run/netns/probe true"""


def unshare():
    """Return the words in front of a command that is to run in namespaces of its own; not only root may have them."""
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child"]


def refusal(platform=sys.platform):
    """Return in one line why there can be no rack here and how to get one, or None if there can be one."""
    if platform != "linux":
        return f"a rack is made of Linux's network namespaces, and this is {platform}: run it on a Linux"
    if missing := [program for program in PACKAGES if not shutil.which(program)]:
        packages = " ".join(dict.fromkeys(PACKAGES[program] for program in missing))
        return f"a rack needs {' and '.join(missing)} (Debian: apt-get install {packages})"
    probe = subprocess.run([*unshare(), "sh", "-c", PROBE], capture_output=True, text=True)
    if probe.returncode:
        said = (probe.stderr.strip().splitlines() or [f"status {probe.returncode}"])[-1]
        return f"this account may not make network namespaces, or the kernel has no tun ({said}): try root"
    return None


@contextmanager
def private(module, *arguments):
    """Run `python -m module` as the first process in namespaces of its own, for the length of a `with` block.

    It ends when the other end of its standard input is closed, so it outlives this process in no case.
    """
    command = [*unshare(), sys.executable, "-m", module, *arguments]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen(command, cwd=ROOT, start_new_session=True, **pipes)
    try:
        yield process
    finally:
        process.stdin.close()
        process.wait()
        process.stdout.close()
