"""Processes: which of them other machines can reach, and how to end a whole family of them."""

import ctypes
import shlex
import signal
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from ipaddress import IPv6Address, ip_address

import psutil

GRACE, BOUND = 1, 10  # seconds from the request to end until the kill, and from the kill until we give up
FOLDER = "D2L_LAUNCH_FOLDER"  # where a rank puts its value; its path also marks the processes of one launch


def signal_name(number: int) -> str:
    """Return a signal's name, such as "SIGKILL", or "signal 35" for a real-time signal, which has none."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def describe_exit(status: int | None) -> str:
    """Return in words how a process ended, from its exit status: negative for a signal, None while it runs."""
    if status is None:
        return "still runs"
    if status < 0:
        return f"was ended by {signal_name(-status)}"
    return f"ended with status {status}"


def reachable_sockets(processes: Iterable[psutil.Process]) -> list[tuple[int, str, str]]:
    """Find the TCP sockets that listen on another address than loopback.

    A process that has ended, or that this user may not inspect, is left out.

    Returns
    -------
    list of tuple
        For each socket the process's id, its command line, and the address as "host:port".
    """
    found = []
    for process in processes:
        with suppress(psutil.Error):
            listening = [socket for socket in process.net_connections("tcp") if socket.status == psutil.CONN_LISTEN]
            for ip, port in (socket.laddr for socket in listening if not is_loopback(socket.laddr.ip)):
                address = f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"
                found.append((process.pid, shlex.join(process.cmdline()), address))
    return found


def is_loopback(ip: str) -> bool:
    """Tell whether only this machine can reach an address."""
    address = ip_address(ip)
    if isinstance(address, IPv6Address) and address.ipv4_mapped:
        return address.ipv4_mapped.is_loopback  # ::ffff:127.0.0.1 is 127.0.0.1
    return address.is_loopback


def adopt_orphans() -> bool:
    """Have processes that lose their parent become children of this one, so that it finds them; False but on Linux."""
    if sys.platform != "linux":
        return False
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER
    return True


def processes_of_launch(folder: str) -> list[psutil.Process]:
    """Return the processes, whoever their parent is, that were started for the launch with this folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(FOLDER) == folder:
                found.append(process)
    return found


def end_all(find: Callable[[], Iterable[psutil.Process]]) -> list[psutil.Process]:
    """Terminate the processes that `find()` returns, and kill those that remain after a second.

    Returns
    -------
    list of psutil.Process
        Those that are still there after eleven seconds, because they cannot be killed.
    """
    start = time.monotonic()
    left = _living(find())
    for process in left:
        with suppress(psutil.Error):
            process.terminate()
    while left and time.monotonic() < start + GRACE + BOUND:
        time.sleep(0.05)
        left = _living(find())
        if time.monotonic() > start + GRACE:
            for process in left:
                with suppress(psutil.Error):
                    process.kill()
    return left


def _living(processes: Iterable[psutil.Process]) -> list[psutil.Process]:
    living = []
    for process in processes:
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living
