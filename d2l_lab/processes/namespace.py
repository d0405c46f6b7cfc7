"""A network of its own for a program: a network namespace of Linux, in which nothing exists but loopback.

Run as a program, `python -m d2l_lab.processes.namespace COMMAND…`, it switches loopback on, then becomes the command.
The kernel removes the namespace when the last process in it has ended.
"""

import os
import shutil
import socket
import struct
import subprocess
import sys
from collections.abc import Sequence

SET_FLAGS, UP = 0x8914, 0x1  # SIOCSIFFLAGS of linux/sockios.h, IFF_UP of linux/if.h


def unshare(*kinds: str) -> list[str]:
    """Return the words in front of a command that run it in a network namespace, for root and for other users.

    Parameters
    ----------
    *kinds
        Options of the program unshare for other namespaces, such as "--pid".
    """
    user = [] if os.geteuid() == 0 else ["--user", "--map-root-user"]
    return ["unshare", *user, "--net", *kinds]


def isolated(command: Sequence[str]) -> list[str]:
    """Return the command that runs `command`, and all that it starts, with a loopback that nothing else can reach."""
    return [*unshare(), sys.executable, "-m", "d2l_lab.processes.namespace", *command]


def refusal(folder: str | os.PathLike[str]) -> str | None:
    """Return in one line why this system gives a program no network of its own, or None if it does.

    Parameters
    ----------
    folder
        A folder from which `d2l_lab` can be imported.
    """
    if sys.platform != "linux":
        return f"only Linux has network namespaces, and this is {sys.platform}"
    if not shutil.which("unshare"):
        return "the program unshare is missing (Debian: apt-get install util-linux)"
    return failure(isolated(["true"]), folder)


def failure(command: Sequence[str], folder: str | os.PathLike[str] | None = None) -> str | None:
    """Run a command; return the last line of its error output if it fails, else None."""
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return None
    lines = done.stderr.strip().splitlines()
    return lines[-1] if lines else f"status {done.returncode}"


def start_loopback() -> None:
    """Switch on the interface `lo` of this process's network; OSError without the right to do so."""
    import fcntl  # here: Windows has no such module, and whoever imports this one may start no program at all

    with socket.socket() as any_socket:
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh22x", b"lo", UP))


if __name__ == "__main__":
    start_loopback()
    os.execvp(sys.argv[1], sys.argv[1:])
