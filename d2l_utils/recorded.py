"""Measurements that a program of this project has written into notebooks/data, so that sections can use them."""

import json

from .specifications import FOLDERS


def rack():
    """Return what `make rack` has recorded: all-reduces between hosts that have a link each. Figures in SI units:

    date, cores   the day, and the cores of the machine that held the rack
    rate, delay   what its links were set to: bytes/s in each direction, seconds from host to host
    alpha, b      what a message between two hosts took: alpha + S / b seconds, fitted to `pingpong`
    pingpong      {"bytes": [S, …], "seconds": [medians]}
    rounds        how many runs are behind each figure
    runs          [{n, scheme: "star", "sharded" or "ring", bytes, predicted, seconds, low, high}, …]: seconds, the
                  measured ones a median and its quartiles

    FileNotFoundError if there is no record.
    """
    path = next((folder / "rack.json" for folder in FOLDERS if (folder / "rack.json").exists()), None)
    if not path:
        raise FileNotFoundError(f"no rack.json in {' or '.join(map(str, FOLDERS))}: make rack writes it")
    return json.loads(path.read_text(encoding="utf-8"))
