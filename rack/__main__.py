"""`python -m rack`: sum arrays over 2, 4 and 8 hosts in this machine, by two algorithms; keep a record."""

import argparse
import json
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rack.namespaces import ROOT, private, refusal

PLACE = ROOT / "d2l_lab" / "tables" / "rack.json"


def table(record: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of a record: the fitted link, then the predicted and the measured time of each run."""
    yield f"a link: alpha {1e6 * record['alpha']:.0f} µs, b {record['b'] / 1e6:.1f} MB/s"
    yield "hosts  algorithm    bytes    predicted ms  measured ms (quartiles)     measured/predicted"
    for run in record["runs"]:
        predicted, seconds, low, high = (1e3 * run[key] for key in ("predicted", "seconds", "low", "high"))
        yield (
            f"{run['n']:>5}  {run['algorithm']:<8}{run['bytes']:>9}{predicted:>14.2f}"
            f"{seconds:>13.2f} ({low:.2f} … {high:.2f}){seconds / predicted:>12.2f}"
        )
    slow = record["slow"]
    sums = ", ".join(f"{name} {1e3 * seconds:.0f} ms" for name, seconds in slow["seconds"].items())
    yield f"host {slow['host']} on a link of {slow['rate'] / 1e6:.2f} MB/s, {slow['sum']} bytes: {sums}"


def main() -> int | str:
    """Run the rack; return 0, or why there is none."""
    parser = argparse.ArgumentParser(prog="python -m rack", description=__doc__)
    parser.add_argument("--hosts", type=int, nargs="+", default=[2, 4, 8])
    parser.add_argument("--sizes", type=int, nargs="+", default=[2**14, 2**19], help="bytes")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--to", type=Path, default=PLACE)
    options = parser.parse_args()
    reason = refusal()
    if reason:
        return reason
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    with private("rack.inside", json.dumps([options.hosts, options.sizes, options.rounds])) as rack:
        printed = rack.stdout.read()
    if not printed:
        return 1  # it has said why
    record = json.loads(printed)
    print("\n".join(table(record)))
    options.to.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
