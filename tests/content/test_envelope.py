"""Back-of-the-envelope problems take the devices' figures from d2l_lab/tables/hardware.csv, so that two agree.

A rate in a question stands in the table, in a row of the accelerator that the question names, of a link, a memory or a
drive. A sentence that supposes a rate, or says with a citation where it was measured, brings its own.
"""

import re
from pathlib import Path

import pytest

from d2l_lab.machine.datasheets import UNITS, specifications

SOURCES = sorted((Path(__file__).parents[2] / "notebooks").glob("*.md"))
PROBLEM = re.compile(
    r"^:::::\{admonition\} (Back-of-the-envelope problem.*?)\n(.*?)(?=^::::\{dropdown\})", re.MULTILINE | re.DOTALL
)
RATE = re.compile(r"(?<![\d.,])(\d+(?:,\d{3})*(?:\.\d+)?) (Tflop/s|Gflop/s|TB/s|GB/s|MB/s|Gbit/s|images/s)")
GIVEN = re.compile(r"\b(suppose|say that|let|take|assume)\b|\{cite:", re.IGNORECASE)
SI = UNITS | {"Gflop/s": 1e9}
ROWS = [
    row for table in ("memory", "storage", "links", "accelerators", "cpus", "training") for row in specifications(table)
]


def problems(text):
    """Yield title and question of each back-of-the-envelope problem, formulas as plain text."""
    for title, question in PROBLEM.findall(text):
        plain = re.sub(r"\\(?:text|mathrm)\{(.*?)\}", r"\1", question)
        yield title, plain.replace(r"\,", " ").replace("$", "")


def named(name, question):
    """Return whether a question names an accelerator, by its first word or, of TPUs, by its first two."""
    words = name.split()
    return " ".join(words[:2] if words[0] == "TPU" else words[:1]) in question


def strange(question):
    """Yield the rates of a question that are neither in the tables, to 0.2 %, nor given by their sentence."""
    rows = [row for row in ROWS if row.table != "accelerators" or named(row.name, question)]
    known = [row.si for row in rows if row.unit.endswith("/s")]
    for sentence in question.split("\n"):
        for number, unit in RATE.findall(sentence):
            in_table = any(abs(float(number.replace(",", "")) * SI[unit] / value - 1) < 0.002 for value in known)
            if not in_table and not GIVEN.search(sentence):
                yield f"{number} {unit}"


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_the_rates_of_back_of_the_envelope_problems_stand_in_the_table(path):
    for title, question in problems(path.read_text(encoding="utf-8")):
        assert list(strange(question)) == [], title


@pytest.mark.parametrize(
    ("sentence", "rates"),
    [
        ("An H100 reads 3.35 TB/s and does 989 Tflop/s.", []),
        ("An H100 reads 3.5 TB/s.", ["3.5 TB/s"]),
        ("An A100 reads 3.35 TB/s.", ["3.35 TB/s"]),
        (r"Two TPU v5p do $459\,\text{Tflop/s}$ over PCIe 5.0, 63 GB/s.", []),
        ("A TPU v5e does 459 Tflop/s.", ["459 Tflop/s"]),
        ("Suppose that it copies 3 GB/s.", []),
        ("Rings reach 370 GB/s {cite:p}`bekman2026`.", []),
        ("A link of 1000 Gbit/s.", ["1000 Gbit/s"]),
        ("An A100 trains on 2,470 images/s, not on 2,500 images/s.", ["2,500 images/s"]),
    ],
)
def test_a_rate_from_nowhere_is_found(sentence, rates):
    title = "Back-of-the-envelope problem: how long?"
    text = f":::::{{admonition}} {title}\n{sentence}\n\n::::{{dropdown}} Answer\n7 GB/s\n::::\n:::::\n"
    ((found, question),) = problems(text)
    assert (found, list(strange(question))) == (title, rates)


def test_sections_that_cite_the_training_rate_of_resnet_50_quote_it_as_in_the_table():
    rate = f"{specifications('training').value('ResNet-50 on an A100 80 GB', 'mixed precision'):,.0f}"
    citing = [path for path in SOURCES if "`nvidia_resnet50`" in path.read_text(encoding="utf-8")]
    assert "hardware.md" in [path.name for path in citing]
    assert [path.name for path in citing if rate not in path.read_text(encoding="utf-8")] == []
