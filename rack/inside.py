"""What runs inside: build the hosts, fit their links, let them reduce, print the record as JSON."""

import json
import os
import statistics
import subprocess
import sys
from contextlib import suppress
from datetime import date
from threading import Thread

import numpy as np

from d2l_utils.collectives.cost_model import ring_time, star_time
from d2l_utils.machine.system import cores

from .hosts import DELAY, PORT, RATE, address, build, start

# Of n servers on n hosts each keeps its own share: it sends as many messages of the same size as a rank of a ring.
MODEL = {"star": star_time, "direct": ring_time, "ring": ring_time}
DEADLINE = 120  # seconds for the processes of one run


def on_hosts(n, *command):
    """Run `python -m …` as rank 0 … n − 1 on as many hosts, wait for all, and return what rank 0 printed as JSON."""
    places = ",".join(f"{address(host)}:{PORT}" for host in range(n))
    ranks = [
        start(
            rank,
            [sys.executable, "-m", *command],
            env=os.environ | {"RANK": str(rank), "HOSTS": places, "OMP_NUM_THREADS": "1"},
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


def fit(bytes, seconds):
    """Return alpha in seconds and b in bytes/s: the least squares of relative errors of alpha + bytes / b."""
    sizes, seconds = np.array(bytes, float), np.array(seconds)
    alpha, pace = np.linalg.lstsq(np.stack([1 / seconds, sizes / seconds], 1), np.ones(len(sizes)), rcond=None)[0]
    return float(alpha), float(1 / pace)


def measure(worlds, sizes, rounds):
    """Return what the ping-pong printed in each round, and {(n, algorithm, size): [seconds of each round]}."""
    links, found = [], {}
    words = ("--algorithms", ",".join(MODEL), "--sizes", ",".join(map(str, sizes)), "--repeats", "3")
    for _ in range(rounds):
        links.append(on_hosts(2, "rack.pingpong"))
        for n in worlds:
            for algorithm, runs in on_hosts(n, "d2l_utils.collectives.measure", *words).items():
                for size, run in runs.items():
                    found.setdefault((n, algorithm, int(size)), []).append(run["seconds"])
    return links, found


def record(worlds, sizes, rounds):
    """Return what notebooks/data/rack.json holds: the links as set and as fitted, and runs beside predictions."""
    build(max(worlds))
    links, found = measure(worlds, sizes, rounds)
    link = {"bytes": links[0]["bytes"], "seconds": np.median([one["seconds"] for one in links], axis=0).tolist()}
    alpha, b = fit(**link)
    runs = []
    for (n, algorithm, size), seconds in found.items():
        low, middle, high = statistics.quantiles(seconds, n=4) if rounds > 1 else 3 * seconds
        predicted = MODEL[algorithm](n, size, alpha, b)
        runs.append({"n": n, "algorithm": algorithm, "bytes": size, "predicted": predicted, "seconds": middle})
        runs[-1] |= {"low": low, "high": high}
    told = {"date": date.today().isoformat(), "cores": cores(), "rate": RATE, "delay": DELAY, "rounds": rounds}
    return told | {"alpha": alpha, "b": b, "pingpong": link, "runs": runs}


def end_with_input():
    """Leave as soon as nobody holds the other end of the standard input; the kernel then ends all others inside."""
    sys.stdin.read()
    os._exit(1)


if __name__ == "__main__":
    Thread(target=end_with_input, daemon=True).start()
    with suppress(PermissionError):  # as root go first: other work here would look like a slow network
        os.nice(-10)
    try:
        print(json.dumps(record(*json.loads(sys.argv[1]))), flush=True)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        sys.exit(f"no rack: {error}")
