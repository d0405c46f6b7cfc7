"""The profile on the landing page: what the machine that built this copy is and what it can do.

```{machine}
```

shows the file that the setting `d2l_machine` names; `profile_for` in d2l_lab/machine/profile.py tells what it holds.
"""

import re
import string
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from book import FRAMEWORKS, MODULES
from book.pages.page_info import describe_machine, name_day
from book.pages.single_framework import mark
from book.words import say, say_each
from d2l_lab.instruments.predictions import quantity, unit_of
from d2l_lab.instruments.timing import column_scale, three_digits
from d2l_lab.machine.profile import read

NONE = "–"
BETWEEN = "\N{NO-BREAK SPACE}…\N{NO-BREAK SPACE}"  # the ends of a range, which is as in the text of a Measurement
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
    memory = [caches(profile["caches"]), bandwidths(profile), latencies(profile)]
    figures = [products(profile, parts), copies(parts), gpus(parts)]
    tf32 = say(
        "On a GPU that has TF32, TensorFlow and JAX use it for float32 products unless told otherwise: the factors are "
        "rounded to 10 bits behind the binary point. PyTorch does not."
    )
    if any(part["gpus"] for part in parts.values()):
        figures.append(tf32)
    measured = say(
        "**{machine}**, measured {when}.\n"
        "Each figure is the median of three rounds some seconds apart, in parentheses their range.",
        machine=plain(describe_machine(profile["machine"])),
        when=when,
    )
    kept = say(
        "A section asks for these figures with `d2l.your_machine()`, which measures those of a tiny operation, of "
        "memory and of products once more.\n"
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


def bandwidths(profile: Mapping[str, Any]) -> str:
    names, paths = say_each("one core", "all cores"), [("bandwidth", who) for who in profile["bandwidth"]]
    rows = zip((names[who] for _, who in paths), column([(profile, path) for path in paths], "B/s"), strict=True)
    return table(say_each("STREAM triad on", "memory bandwidth").values(), rows)


def latencies(profile: Mapping[str, Any]) -> str:
    figures = [(profile, ("latency", size)) for size in profile["latency"]]
    rows = zip((binary(int(size)) for size in profile["latency"]), column(figures, "s"), strict=True)
    return table(say_each("working set", "latency of a load").values(), rows)


def products(profile: Mapping[str, Any], parts: dict[str, Any]) -> str:
    names = [f"{FRAMEWORKS[name]} {part['version'].partition('+')[0]}" for name, part in parts.items()]
    all_parts = [profile, *parts.values()]
    columns = [column([(part, ("dispatch", what)) for part in all_parts], "s") for what in ("issue", "wait")]
    rows = zip(["NumPy", *names], *columns, *rates(all_parts), strict=True)
    head = say_each("on the CPU", "a tiny operation issued", "and waited for", "product, float32", "product, bfloat16")
    return table(head.values(), rows)


def copies(parts: dict[str, Any]) -> str:
    """Return the table of each framework's copies on the CPU, by the part of the memory that holds the arrays."""
    levels = sorted({level for part in parts.values() for level in part["bandwidth"]})  # L2, L3, memory
    columns = [column([(part, ("bandwidth", level, "copy")) for part in parts.values()], "B/s") for level in levels]
    rows = zip((FRAMEWORKS[name] for name in parts), *columns, strict=True)
    places = [say("in memory") if level == "memory" else say("in {cache}", cache=level) for level in levels]
    return table([say("a copy on the CPU (read + write)"), *places], rows)


def gpus(parts: dict[str, Any]) -> str:
    found = [(name, gpu) for name, part in parts.items() for gpu in part["gpus"]]
    names = [plain(gpu["name"]) + say(", ") + FRAMEWORKS[name] for name, gpu in found]
    copied = column([(gpu, ("bandwidth", "memory", "copy")) for _, gpu in found], "B/s")
    rows = zip(names, copied, *rates([gpu for _, gpu in found]), strict=True)
    return table(say_each("on the GPU", "copy (read + write)", "product, float32", "product, bfloat16").values(), rows)


def rates(found: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """Return the columns of the rates of products in words, float32 first."""
    return [column([(part, ("product", kind)) for part in found], "flop/s") for kind in ("float32", "bfloat16")]


def column(figures: Sequence[tuple[Mapping[str, Any], Sequence[str]]], unit: str) -> list[str]:
    """Return the figures of a column in words, each given by its part of the profile and its path there.

    They have one unit where that is possible, and the range of their rounds in parentheses; a dash stands for none.
    """
    kept = [(at(part, path), at(part["rounds"], path)) for part, path in figures]
    size = column_scale(figure for figure, _ in kept if figure)
    words = []
    for figure, rounds in kept:
        if figure is None:
            words.append(NONE)
            continue
        factor = unit_of(size or figure, unit)[1]
        low, high = (three_digits(factor * end) for end in (min(rounds), max(rounds)))
        words.append(f"{quantity(figure, unit, size)} ({low}{BETWEEN}{high})")
    return words


def at(tree: Mapping[str, Any], path: Sequence[str]) -> Any:
    """Return what lies at the end of a path of keys; None if one of them is missing."""
    found: Any = tree
    for name in path:
        found = found.get(name, {})
    return None if found == {} else found


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
