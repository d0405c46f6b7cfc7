"""What the ranks of a job run: for each its command and its environment."""

import os
import secrets
import shutil
import socket
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

KEY = "D2L_LAUNCH_KEY"  # the secret by which the processes of one job know each other
LOOPBACK = "lo" if sys.platform == "linux" else "lo0"


def free_ports(n: int) -> list[int]:
    """Return n ports that are free on 127.0.0.1 at the moment."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(n)]
        return [one.getsockname()[1] for one in sockets]


def per_rank(command: Any, environment: Any, n: int | None) -> tuple[list[Any], list[Any]]:
    """Return a command and an environment for each rank, from one for all ranks or a list of them.

    Raises
    ------
    ValueError
        For less than one process, or lists whose lengths differ from n.
    """
    lists = {}
    if isinstance(command, list) and all(isinstance(one, list) for one in command):
        lists["commands"] = command
    if isinstance(environment, list):
        lists["environments"] = environment
    if n is None:
        n = len(next(iter(lists.values()))) if lists else 1
    if n < 1 or any(len(given) != n for given in lists.values()):
        given = "".join(f", {len(given)} {name}" for name, given in lists.items())
        raise ValueError(f"launch starts at least one process, with one command and environment for each: n={n}{given}")
    return lists.get("commands", [command] * n), lists.get("environments", [environment] * n)


def argv(command: str | Path | Sequence[Any]) -> list[str]:
    """Return a command as a list of words, with this Python in front of a script.

    Raises
    ------
    FileNotFoundError
        If there is no such script or program.
    """
    parts = [command] if isinstance(command, str | Path) else command
    found = [str(part) for part in parts]
    if found[0].endswith(".py"):
        if not Path(found[0]).is_file():
            raise FileNotFoundError(f"there is no script {found[0]!r} in {os.getcwd()}")
        return [sys.executable, *found]
    if not shutil.which(found[0]):
        raise FileNotFoundError(f"{found[0]!r} is no script (its name ends in .py) and no program that can be run")
    return found


def without_proxies(variables: Mapping[str, str]) -> dict[str, str]:
    """Return environment variables without those that name proxies, or what is exempt from them.

    Ranks talk over loopback. gRPC would send even that to a proxy: it reads `no_proxy`, but not `NO_PROXY`, and not
    `no_proxy` either where there is a `no_grpc_proxy`. JAX warns of any such variable.
    """
    return {name: value for name, value in variables.items() if "_proxy" not in name.lower()}


def environments(given: Sequence[dict[str, Any]]) -> list[dict[str, str]]:
    """Return the variables of each rank: the defaults, replaced and completed by those given."""
    master, *ports = free_ports(1 + len(given))
    defaults: dict[str, Any] = {
        "WORLD_SIZE": len(given),
        "HOSTS": ",".join(f"127.0.0.1:{port}" for port in ports),
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": master,
        "OMP_NUM_THREADS": 1,
        "GLOO_SOCKET_IFNAME": LOOPBACK,
        "PYTHONUNBUFFERED": 1,
        KEY: os.environ.get(KEY) or secrets.token_hex(16),
    }
    merged = [defaults | {"RANK": rank} | variables for rank, variables in enumerate(given)]
    return [{name: str(value) for name, value in variables.items()} for variables in merged]
