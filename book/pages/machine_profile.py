"""The profile on the landing page: what the machine that built this copy is and what it can do.

```{machine}
```

shows the file that the setting `d2l_machine` names; `profile_for` in d2l_lab/machine/profile.py tells what it holds.
"""

import re
import string
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS, MODULES
from book.pages.page_info import describe_machine, name_day
from book.pages.single_framework import mark
from book.words import say, say_each
from d2l_lab.instruments.predictions import quantity
from d2l_lab.instruments.timing import column_scale
from d2l_lab.machine.profile import read

NONE = "–"
PROFILE = """\
:::::{{container}} machine-profile
{measured}

::::{{container}} machine-memory
{memory}
::::

{rates}

{kept}
:::::
"""


class Machine(SphinxDirective):
    """The profile, or a sentence on how to make one."""

    def run(self) -> list[nodes.Node]:
        self.env.note_dependency(Path(self.config.d2l_machine).absolute())
        profile = read(Path(self.config.d2l_machine))
        missing = say("This copy holds no profile: `make profile` measures the machine.")
        found = self.parse_text_to_nodes(show(profile) if profile else missing)
        for node in found:
            mark(node.findall(nodes.row))
        return found


def show(profile: dict[str, Any]) -> str:
    parts = {name: profile["frameworks"][module] for name, module in MODULES.items() if module in profile["frameworks"]}
    days = sorted({part["date"] for part in [profile, *parts.values()]})
    first, last = name_day(days[0]), name_day(days[-1])
    when = say("on {day}", day=first)
    if len(days) > 1:
        when = say("between {first} and {last}", first=first, last=last)
    memory = [caches(profile["caches"]), bandwidths(profile["bandwidth"]), latencies(profile["latency"])]
    figures = [products(profile["product"], parts), copies(parts), gpus(parts)]
    tf32 = say(
        "On a GPU that has TF32, TensorFlow and JAX use it for float32 products unless told otherwise: the factors are "
        "rounded to 10 bits behind the binary point. PyTorch does not."
    )
    if any(part["gpus"] for part in parts.values()):
        figures.append(tf32)
    measured = say(
        "**{machine}**, measured {when}.\n"
        "Each figure is the best of several runs, that of a tiny operation their median.",
        machine=plain(describe_machine(profile["machine"])),
        when=when,
    )
    kept = say(
        "A section asks for these figures with `d2l.your_machine()`.\n"
        "They are kept until the machine or a framework changes; `make profile` measures them anew, best while nothing "
        "else runs."
    )
    return PROFILE.format(measured=measured, memory="\n\n".join(memory), rates="\n\n".join(figures), kept=kept)


def caches(found: Sequence[dict[str, Any]]) -> str:
    kinds = say_each("data", "instruction", "unified")
    rows = [
        (f"L{cache['level']} {kinds[cache['kind']]}", binary(cache["bytes"]), sharers(cache["shared_by"]))
        for cache in found
    ]
    return table(say_each("cache", "size as reported", "serves").values(), rows)


def sharers(number: int | None) -> str:
    """Return how many cores share a cache, in words."""
    if number is None:
        return NONE
    return say("one core") if number == 1 else say("{n} cores", n=number)


def bandwidths(found: dict[str, float]) -> str:
    names = say_each("one core", "all cores")
    rows = zip((names[who] for who in found), column(found.values(), "B/s"), strict=True)
    return table(say_each("STREAM triad on", "memory bandwidth").values(), rows)


def latencies(found: dict[str, float]) -> str:
    rows = zip((binary(int(size)) for size in found), column(found.values(), "s"), strict=True)
    return table(say_each("working set", "latency of a load").values(), rows)


def products(numpy: dict[str, float], parts: dict[str, Any]) -> str:
    names = [f"{FRAMEWORKS[name]} {part['version'].partition('+')[0]}" for name, part in parts.items()]
    waits = [column([None, *(part["dispatch"][what] for part in parts.values())], "s") for what in ("issue", "wait")]
    rows = zip(["NumPy", *names], *waits, *rates([numpy, *(part["product"] for part in parts.values())]), strict=True)
    head = say_each("on the CPU", "a tiny operation issued", "and waited for", "product, float32", "product, bfloat16")
    return table(head.values(), rows)


def copies(parts: dict[str, Any]) -> str:
    """Return the table of each framework's copies on the CPU, by the part of the memory that holds the arrays."""
    levels = sorted({level for part in parts.values() for level in part["bandwidth"]})  # L2, L3, memory
    found = [[part["bandwidth"].get(level) for part in parts.values()] for level in levels]
    columns = [column([rate and rate["copy"] for rate in rates], "B/s") for rates in found]
    rows = zip((FRAMEWORKS[name] for name in parts), *columns, strict=True)
    places = [say("in memory") if level == "memory" else say("in {cache}", cache=level) for level in levels]
    return table([say("a copy on the CPU (read + write)"), *places], rows)


def gpus(parts: dict[str, Any]) -> str:
    found = [(name, gpu) for name, part in parts.items() for gpu in part["gpus"]]
    names = [plain(gpu["name"]) + say(", ") + FRAMEWORKS[name] for name, gpu in found]
    copied = column([gpu["bandwidth"]["memory"]["copy"] for _, gpu in found], "B/s")
    rows = zip(names, copied, *rates([gpu["product"] for _, gpu in found]), strict=True)
    return table(say_each("on the GPU", "copy (read + write)", "product, float32", "product, bfloat16").values(), rows)


def rates(found: Sequence[dict[str, float]]) -> list[list[str]]:
    """Return the columns of the rates of products in words, float32 first."""
    return [column([product.get(kind) for product in found], "flop/s") for kind in ("float32", "bfloat16")]


def column(figures: Iterable[float | None], unit: str) -> list[str]:
    """Return the figures of a column in words, in one unit where that is possible; a dash for None."""
    kept = list(figures)
    size = column_scale(figure for figure in kept if figure)
    return [NONE if figure is None else quantity(figure, unit, size) for figure in kept]


def binary(size: float) -> str:
    """Return a number of bytes in KiB, MiB or GiB."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


def table(head: Iterable[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table whose first column heads its rows, or '' if there is no row."""
    lines = ["* - " + "\n  - ".join(cells) for cells in (head, *rows)]
    if len(lines) == 1:
        return ""
    options = [":header-rows: 1", ":stub-columns: 1", ":widths: auto"]
    return "\n".join(["```{list-table}", *options, "", *lines, "```"])


def plain(name: str) -> str:
    """Return a name that Markdown shows as it is."""
    return re.sub(f"([{re.escape(string.punctuation)}])", r"\\\1", name)


def setup(app: Sphinx) -> None:
    app.add_config_value("d2l_machine", "", "")
    app.add_directive("machine", Machine)
