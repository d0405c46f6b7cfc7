"""The drawings in notebooks/img: readable, self-contained, used, described."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from wcag import contrast

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
FIGURES = sorted((NOTEBOOKS / "img").glob("*.svg"))
SVG = "{http://www.w3.org/2000/svg}"


def elements(root, inherited=None):
    """Yield every element with the attributes it has or inherits by nesting, as SVG does it for font-size and fill."""
    attributes = (inherited or {"fill": "#000000"}) | root.attrib
    yield root, attributes
    for child in root:
        yield from elements(child, attributes)


def faults(text):
    """Yield what is wrong with a drawing: what it lacks, what tests cannot see, what no reader can read."""
    root = ElementTree.fromstring(text)
    width, height = root.get("width"), root.get("height")
    if not all(root.findtext(f"{SVG}{name}", "").strip() for name in ("title", "desc")):
        yield "title or description is missing"
    if len(text.encode()) >= 12 * 1024:
        yield "too large to read as source"
    if root.get("viewBox") != f"0 0 {width} {height}" or float(width) > 720:
        yield "size"
    background = root.find(f"{SVG}rect")
    if background is None or [background.get(key) for key in ("fill", "width", "height")] != ["#ffffff", width, height]:
        yield "background"
    targets = ["@import"] if "@import" in text else []
    ids = {f"#{element.get('id')}" for element in root.iter()}
    for element, attributes in elements(root):
        name = element.tag.removeprefix(SVG)
        if name in ("script", "style", "foreignObject", "image"):
            yield f"<{name}>"
        for key, value in element.attrib.items():
            targets += re.findall(r"url\(([^)]*)\)", value) + ([value] if key.endswith("href") else [])
            if key.startswith("on") or key in ("style", "class"):
                yield f"<{name}> has {key}"
        if name in ("text", "tspan") and float(attributes.get("font-size", 16)) < 13:
            yield f"small text: {element.text}"
        if name in ("text", "tspan") and contrast(attributes["fill"]) < 4.5:
            yield f"pale text: {element.text}"
    if root.find(f".//{SVG}text") is None:
        yield "no text"
    yield from (f"refers to {target}" for target in targets if target not in ids)


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.name)
def test_a_figure_needs_nothing_beside_it(path):
    assert list(faults(path.read_text(encoding="utf-8"))) == []


DRAWING = """\
<svg xmlns="http://www.w3.org/2000/svg" width="90" height="50" viewBox="0 0 90 50">
<title>A sum</title><desc>Two boxes.</desc><rect width="90" height="50" fill="#ffffff"/>
<g font-size="14"><text fill="#333333">one</text></g><path id="a" fill="url(#a)"/></svg>
"""


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("Two boxes.", " ", "title or description is missing"),
        ("A sum", "A" * 12288, "too large to read as source"),
        ("0 0 90", "1 0 90", "size"),
        ('fill="#ffffff"', 'fill="#eeeeee"', "background"),
        ("<path", "<style>b</style><path", "<style>"),
        ('id="a"', 'id="a" onclick="b"', "<path> has onclick"),
        ("url(#a)", "url(b.svg#a)", "refers to b.svg#a"),
        ('id="a"', 'id="a" href="https://b.org"', "refers to https://b.org"),
        ("Two boxes.", "@import", "refers to @import"),
        ("14", "12", "small text: one"),
        ("#333333", "#999999", "pale text: one"),
        ('<text fill="#333333">one</text>', "", "no text"),
    ],
)
def test_a_fault_of_a_figure_is_found(old, new, fault):
    assert list(faults(DRAWING)) == []
    assert list(faults(DRAWING.replace(old, new))) == [fault]


def test_every_figure_is_used():
    """The build, for its part, refuses a picture that does not exist or has no words."""
    text = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS.glob("*.md"))
    shown = re.findall(r"^[:`]{3,}\{figure\} img/(.+)$", text, re.MULTILINE)
    assert {path.name for path in FIGURES} <= set(shown)


@pytest.mark.parametrize(("colour", "ratio"), [("#000000", 21), ("#ffffff", 1), ("#767676", 4.54)])
def test_contrast_agrees_with_known_ratios(colour, ratio):
    assert contrast(colour) == pytest.approx(ratio, abs=0.01)


def bars(name, height):
    """Yield (fill, left, top, width) of each bar of a height in a drawing."""
    for element in ElementTree.parse(NOTEBOOKS / "img" / name).iter():
        for place in re.findall(rf"M([\d.]+) ([\d.]+)h([\d.]+)v{height}", element.get("d", "")):
            yield element.get("fill"), *map(float, place)


def test_the_bars_of_the_three_modes_begin_when_the_rule_of_staleness_lets_them():
    """The drawing has three strips of three rows, from top to bottom; a bar is a (begin, width)."""
    found = {}
    for fill, left, top, width in bars("ps-modes.svg", 26):
        if fill == "#fde0bd":
            found.setdefault(top, []).append((left, width))
    rows = [found[top] for top in sorted(found)]
    for strip, staleness in ((rows[:3], 0), (rows[3:6], len(rows[0])), (rows[6:], 1)):
        ends = [[left + width for left, width in row] for row in strip]
        for worker, row in enumerate(strip):
            assert [width for _, width in row] == [width for _, width in rows[worker]]
            for step, (begin, _) in enumerate(row):
                own = ends[worker][step - 1] if step else row[0][0]
                everybody = [done[step - 1 - staleness] for done in ends] if step > staleness else []
                assert begin == max([own, *everybody])


def test_the_bars_of_the_published_gpt_follow_from_its_tokens_a_second():
    """120 pixels a microsecond: the products at the peak of 82.6 or 165 Tflop/s, then what is left of the token."""
    text = (NOTEBOOKS / "fast-transformer.md").read_text(encoding="utf-8")
    rates = re.findall(r"^\| (?:as written|compiled step|\+ minibatch of 512) \| ([\d,]+) \| ([\d,]+) \|", text, re.M)
    (written, _), (compiled, jitted), (last, jax_last) = [[int(rate.replace(",", "")) for rate in row] for row in rates]
    flop = 6 * 18.9e6 + 12 * 6 * 128 * 512
    widths = []
    for rate, peak in ((written, 82.6), (compiled, 82.6), (last, 165), (jitted, 82.6), (jax_last, 165)):
        products = 120 * flop / (peak * 1e6)
        widths.append((products, 120 * 1e6 / rate - products))
    root = ElementTree.parse(NOTEBOOKS / "img" / "fast-before-after.svg").getroot()
    drawn = [[float(bar.get("width")) for bar in group.iter(f"{SVG}rect")] for group in root.iter(f"{SVG}g")]
    products, rest = filter(None, drawn)
    assert list(zip(products, rest, strict=True)) == [pytest.approx(pair, abs=0.06) for pair in widths]


def test_in_both_strips_a_failure_loses_half_an_interval_since_a_checkpoint():
    """The drawing has two strips; training, checkpoints, what is lost and the restart differ in colour."""
    colours = {"#fde0bd": "training", "#9b70d0": "checkpoint", "url(#lost)": "lost", "#f3f4f6": "restart"}
    strips = {}
    for fill, left, top, width in bars("scaling-interval.svg", 34):
        strips.setdefault(top, {}).setdefault(colours.get(fill), []).append((left, width))
    assert len(strips) == 2
    for strip in strips.values():
        ((lost, since),), ((dead, _),) = strip["lost"], strip["restart"]
        assert lost + since == dead
        assert {since} == {interval / 2 for _, interval in strip["training"]}
        assert lost in [left + width for left, width in strip["checkpoint"]]
    assert len({str(strip["restart"]) for strip in strips.values()}) == 1
