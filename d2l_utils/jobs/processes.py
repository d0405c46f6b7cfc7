"""Processes: which of them other machines can reach, and how to end a whole family of them."""

import shlex
import time
from contextlib import suppress
from ipaddress import ip_address

import psutil

GRACE, BOUND = 1, 10  # seconds until what was asked to end is killed, and until we give up
FOLDER = "D2L_LAUNCH_FOLDER"  # where a rank puts its value; its path also marks the processes of one launch


def exposed(processes):
    """Return (pid, command line, address) for each TCP socket that listens on another address than loopback.

    `processes` are of psutil.Process. One that has ended, or that this user may not look into, is left out.
    """
    found = []
    for process in processes:
        with suppress(psutil.Error):
            listening = [socket for socket in process.net_connections("tcp") if socket.status == psutil.CONN_LISTEN]
            for ip, port in (socket.laddr for socket in listening if not _is_loopback(socket.laddr.ip)):
                address = f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"
                found.append((process.pid, shlex.join(process.cmdline()), address))
    return found


def _is_loopback(ip):
    address = ip_address(ip)
    return (getattr(address, "ipv4_mapped", None) or address).is_loopback  # ::ffff:127.0.0.1 is 127.0.0.1


def marked(folder):
    """Return the processes, whoever their parent is, that were started for the launch with this folder."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get(FOLDER) == folder:
                found.append(process)
    return found


def end(find):
    """Terminate the processes that find() returns, kill what is left after a second, return what cannot be killed."""
    start, left = time.monotonic(), _living(find())
    for process in left:
        with suppress(psutil.Error):
            process.terminate()
    while left and time.monotonic() < start + GRACE + BOUND:
        time.sleep(0.05)
        left = _living(find())
        for process in left if time.monotonic() > start + GRACE else ():
            with suppress(psutil.Error):
                process.kill()
    return left


def _living(processes):
    living = []
    for process in processes:
        with suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE:
                living.append(process)
    return living
