"""What runs inside the namespaces: build the hosts, fit their links, time all-reduces, print the record as JSON."""

import json
import os
import secrets
import statistics
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import date
from threading import Thread
from typing import Any

import numpy as np

from d2l_lab.collectives.cost_model import ring_time, star_time
from d2l_lab.machine.system import cores
from d2l_lab.processes.commands import KEY
from rack.hosts import DELAY, PORT, RATE, address, build, connect, start

MODEL = {"star": star_time, "ring": ring_time}
DEADLINE = 120  # seconds for the processes of one run
SLOWER = 10  # how many times slower one link is in the second half of the record
SIZES = [2**k for k in range(10, 20)]  # bytes of the ping-pong between two hosts, to which a link is fitted
PAIR = 48 * 2**10  # bytes of a message in the second half


def on_hosts(n: int, *command: str) -> Any:
    """Run `python -m …` as ranks 0 … n − 1, a host for each, wait for all, and return the JSON that rank 0 printed."""
    places = ",".join(f"{address(host)}:{PORT}" for host in range(n))
    common = os.environ | {"HOSTS": places, "OMP_NUM_THREADS": "1", KEY: secrets.token_hex(16)}
    ranks = [
        start(
            rank,
            [sys.executable, "-m", *command],
            env=common | {"RANK": str(rank)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL if rank else subprocess.PIPE,
        )
        for rank in range(n)
    ]
    printed = ranks[0].communicate(timeout=DEADLINE)[0]
    ends = [rank.wait(timeout=DEADLINE) for rank in ranks]
    if any(ends):
        raise RuntimeError(f"of {n} ranks, in their order, the exit statuses are {ends}")
    return json.loads(printed)


def fit(bytes: Sequence[int], seconds: Sequence[float]) -> tuple[float, float]:
    """Return alpha in seconds and b in bytes/s that minimise the squared relative errors of alpha + bytes / b."""
    sizes, times = np.array(bytes, float), np.array(seconds)
    terms = np.stack([1 / times, sizes / times], axis=1)
    alpha, seconds_a_byte = np.linalg.lstsq(terms, np.ones(len(sizes)), rcond=None)[0]
    return float(alpha), float(1 / seconds_a_byte)


def measure(
    worlds: Sequence[int], sizes: Sequence[int], rounds: int
) -> tuple[list[list[float]], dict[tuple[int, str, int], list[float]]]:
    """Return the ping-pong's seconds in each round, and {(n, algorithm, size): [seconds in each round]}."""
    links: list[list[float]] = []
    found: dict[tuple[int, str, int], list[float]] = {}
    for _ in range(rounds):
        links.append(on_hosts(2, "rack.pairs", *map(str, SIZES))[0][1])
        for n in worlds:
            for algorithm, runs in on_hosts(n, "d2l_lab.collectives.measure", "3", *map(str, sizes)).items():
                for size, seconds in runs.items():
                    found.setdefault((n, algorithm, int(size)), []).append(seconds)
    return links, found


def measure_slow(n: int, size: int, rounds: int) -> dict[str, Any]:
    """Return what `record` keeps under "slow": every pair's time, and all-reduces of `size` bytes on n hosts."""
    pairs = np.array([on_hosts(n, "rack.pairs", str(PAIR)) for _ in range(rounds)])[..., 0]
    sums = [on_hosts(n, "d2l_lab.collectives.measure", "2", str(size)) for _ in range(rounds)]
    seconds = {name: statistics.median(one[name][str(size)] for one in sums) for name in sums[0]}
    return {"bytes": PAIR, "pairs": np.median(pairs, axis=0).tolist(), "sum": size, "seconds": seconds}


def record(worlds: Sequence[int], sizes: Sequence[int], rounds: int) -> dict[str, Any]:
    """Return the content of d2l_lab/tables/rack.json: the links as set and as fitted, and runs beside predictions."""
    n = max(worlds)
    files = build(n)
    with connect(files, [RATE] * n):
        links, found = measure(worlds, sizes, rounds)
    host = n // 2 + 1 if n > 2 else 0  # neither first nor last, if there are such
    with connect(files, [RATE / SLOWER if i == host else RATE for i in range(n)]):
        slow = measure_slow(n, max(sizes), rounds)
    link = {"bytes": SIZES, "seconds": np.median(links, axis=0).tolist()}
    alpha, b = fit(**link)
    runs = []
    for (n, algorithm, size), seconds in found.items():
        low = middle = high = seconds[0]
        if rounds > 1:
            low, middle, high = statistics.quantiles(seconds, n=4)
        predicted = MODEL[algorithm](n, size, alpha, b)
        run = {"n": n, "algorithm": algorithm, "bytes": size, "predicted": predicted}
        runs.append(run | {"seconds": middle, "low": low, "high": high})
    setting = {"date": date.today().isoformat(), "cores": cores(), "rate": RATE, "delay": DELAY, "rounds": rounds}
    slow = {"host": host, "rate": RATE / SLOWER} | slow
    return setting | {"alpha": alpha, "b": b, "pingpong": link, "runs": runs, "slow": slow}


def end_with_input() -> None:
    """Leave as soon as the other end of the standard input is closed; the kernel then ends all others inside."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    Thread(target=end_with_input, daemon=True).start()
    with suppress(PermissionError):  # root may go first: other work here would look like a slow network
        os.nice(-10)
    try:
        print(json.dumps(record(*json.loads(sys.argv[1]))), flush=True)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.exit(f"no rack: {error}")
