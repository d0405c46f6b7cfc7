"""The card on the landing page: what the machine that built this copy is and what it can do.

```{machine}
```

shows the file that the setting `d2l_machine` names; `card` in d2l_utils/card.py tells what it holds.
"""

import json
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from book import MODULES
from book.pages.facts import describe_machine, name_day

PREFIXES = {"T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
NONE = "–"
FORM = 1  # of the file, as in d2l_utils/card.py
TF32 = (
    "On a GPU that has TF32, TensorFlow and JAX use it for float32 products unless told otherwise: the factors are "
    "rounded to 10 bits behind the binary point. PyTorch does not."
)


class Machine(SphinxDirective):
    """The card, or a sentence on how to make one."""

    def run(self):
        """Return the nodes."""
        self.env.note_reread()
        try:
            card = json.loads(Path(self.config.d2l_machine).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            card = None
        if not isinstance(card, dict) or card.get("form") != FORM:
            return [paragraph("This copy holds no card: `make card` measures the machine.")]
        return [nodes.container("", *show(card), classes=["machine-card"])]


def show(card):
    """Return the nodes that show the content of the file."""
    parts = [card["frameworks"][module] for module in MODULES.values() if module in card["frameworks"]]
    days = sorted({part["date"] for part in [card, *parts]})
    when = f"on {name_day(days[0])}" if len(days) == 1 else f"between {name_day(days[0])} and {name_day(days[-1])}"
    how = "Each figure is the best of several runs, that of a tiny operation their median."
    line = [nodes.strong("", describe_machine(card["machine"])), nodes.Text(f", measured {when}. {how}")]
    small = [caches(card["caches"]), bandwidths(card["bandwidth"]), latencies(card["latency"])]
    use = (
        "A section asks for these figures with `d2l.your_machine()`. They are kept until the machine or a framework "
        "changes; `make card` measures them anew, best while nothing else runs."
    )
    found = [
        nodes.paragraph("", "", *line),
        nodes.container("", *filter(None, small), classes=["machine-memory"]),
        products(card["product"], parts),
        gpus(parts),
        paragraph(TF32) if any(part["gpus"] for part in parts) else None,
        paragraph(use),
    ]
    return [node for node in found if node]


def caches(found):
    """Return the table of caches as the system reports them, or None."""
    rows = [
        (f"L{cache['level']} {cache['kind']}", binary(cache["bytes"]), sharers(cache["shared_by"])) for cache in found
    ]
    return table(("cache", "size as reported", "serves"), rows)


def sharers(number):
    """Return how many cores share a cache, in words."""
    return NONE if number is None else "one core" if number == 1 else f"{number} cores"


def bandwidths(found):
    """Return the table of STREAM's figures."""
    rows = [(who, quantity(value, "B/s")) for who, value in found.items()]
    return table(("STREAM triad on", "memory bandwidth"), rows)


def latencies(found):
    """Return the table of the latency ladder."""
    rows = [(binary(int(size)), quantity(seconds, "s")) for size, seconds in found.items()]
    return table(("working set", "latency of a load"), rows)


def products(numpy, parts):
    """Return the table of NumPy and the frameworks on the CPU."""
    rows = [("NumPy", NONE, *rates(numpy))]
    for part in parts:
        program = f"{part['name']} {part['version'].partition('+')[0]}"
        rows.append((program, quantity(part["dispatch"], "s"), *rates(part["product"])))
    return table(("on the CPU", "a tiny operation", "product, float32", "product, bfloat16"), rows)


def gpus(parts):
    """Return the table of what each framework reaches on each GPU, or None."""
    rows = [
        (f"{gpu['name']}, {part['name']}", quantity(gpu["bandwidth"], "B/s"), *rates(gpu["product"]))
        for part in parts
        for gpu in part["gpus"]
    ]
    return table(("on the GPU", "copy (read + write)", "product, float32", "product, bfloat16"), rows)


def rates(found):
    """Return the rates of the products in words, float32 first."""
    return [quantity(found[kind], "flop/s") if kind in found else NONE for kind in ("float32", "bfloat16")]


def quantity(value, unit):
    """Return a value to three digits with the prefix it reads best with: 3.2e10 in B/s is 32.0 GB/s."""
    prefix, factor = next((pair for pair in PREFIXES.items() if value >= 0.9995 * pair[1]), ("n", 1e-9))
    number = value / factor
    return f"{number:.{2 - (number >= 9.995) - (number >= 99.95)}f} {prefix}{unit}"


def binary(size):
    """Return a number of bytes in KiB, MiB or GiB."""
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:g} {unit}"
        size /= 1024
    return f"{size:g} GiB"


def table(head, rows):
    """Return a table whose first column heads its rows, or None if there is no row."""
    if not rows:
        return None
    group = nodes.tgroup(cols=len(head))
    group += [nodes.colspec(colwidth=1, **({"stub": 1} if place == 0 else {})) for place in range(len(head))]
    group += nodes.thead("", row(head))
    group += nodes.tbody("", *map(row, rows))
    return nodes.table("", group)


def row(words):
    """Return a row of a table."""
    return nodes.row("", *(nodes.entry("", nodes.paragraph("", word)) for word in words))


def paragraph(sentence):
    """Return a paragraph; what stands between backticks is code."""
    parts = sentence.split("`")
    found = [nodes.literal("", part) if place % 2 else nodes.Text(part) for place, part in enumerate(parts)]
    return nodes.paragraph("", "", *found)


def setup(app):
    """Register the directive and its setting."""
    app.add_config_value("d2l_machine", "", "")
    app.add_directive("machine", Machine)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
