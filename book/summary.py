"""What a build says at its end: seconds of the notebooks, the slowest cells, and cells that write to stderr."""

import sys
from collections.abc import Collection, Sequence
from typing import Any

from book import FRAMEWORKS
from book.machine_load import ROUGH
from book.outputs import code_cells
from book.terminal import uncoloured

NAMED = 4  # notebooks whose times are rough


def warn_of_stderr(notebook: dict[str, Any], title: str) -> None:
    """Say which cells write to stderr, unless they are tagged as doing so."""
    for count, cell in enumerate(code_cells(notebook), 1):
        for output in cell["outputs"]:
            if output.get("name") == "stderr" and "remove-stderr" not in cell["metadata"].get("tags", []):
                first = uncoloured(output["text"]).strip().split("\n")[0]
                print(f"warning: {title}, cell {count} writes to stderr: {first}", file=sys.stderr)


def summary(executed: dict[str, dict[str, Any]], frameworks: Sequence[str], ran: Collection[tuple[str, str]]) -> str:
    """Return a table of the seconds of each notebook, and the slowest cells with their places.

    `executed` has for each section the notebook of each framework, which are the columns; `ran` are the pairs of
    section and framework that ran in this build.
    """
    rows = [["seconds", *(FRAMEWORKS[framework] for framework in frameworks)]]
    cells, rough = [], []
    for slug, notebooks in executed.items():
        row = [slug]
        for framework in frameworks:
            if framework not in notebooks:  # left out
                row.append("– ")
                continue
            facts = notebooks[framework]["metadata"]["d2l"]
            busy = facts.get("busy", 0)
            if busy > ROUGH:
                rough.append(f"{slug} ({framework}) {busy:.0%}")
            row.append(f"{facts['seconds']:.0f}{'*' if (slug, framework) in ran else ' '}")
            for seconds, count, line in facts["slowest"]:
                cells.append((seconds, f"{slug} ({framework}), cell {count}: {line}"))
        rows.append(row)
    lines = [f"{first:<20}" + "".join(f"{cell:>12}" for cell in rest) for first, *rest in rows]
    lines.append("* ran now, the others were up to date" if ran else "all were up to date")
    if rough:
        listed = ", ".join(rough[:NAMED]) + (f" and {len(rough) - NAMED} more" if len(rough) > NAMED else "")
        lines.append(f"times are rough, because other programs kept processors busy: {listed}")
    lines.append("the slowest cells:")
    lines += [f"{seconds:6.1f} s  {place}" for seconds, place in sorted(cells, reverse=True)[:5]]
    return "\n".join(lines)
