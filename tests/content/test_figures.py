"""The drawings in notebooks/img: readable, self-contained, used, described."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from wcag import contrast

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
FIGURES = sorted((NOTEBOOKS / "img").glob("*.svg"))
SECTIONS = sorted(NOTEBOOKS.glob("*.md"))
SVG = "{http://www.w3.org/2000/svg}"
DIRECTIVE = re.compile(
    r"^(?P<fence>:{3,}|`{3,})\{(?:figure|image)\} *(?P<path>\S+)\n"
    r"(?P<options>(?: *:[\w-]+:.*\n)*)",
    re.MULTILINE,
)
INLINE = re.compile(r"!\[(?P<alt>[^\]]*)\]\((?P<path>[^)\s]+)\)")

each_figure = pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.name)
each_section = pytest.mark.parametrize("path", SECTIONS, ids=lambda path: path.name)


def elements(path):
    """Yield every element of a drawing with the attributes it has or inherits.

    Inheritance is by nesting, as SVG does it for font-size and fill.
    """

    def walk(element, inherited):
        attributes = inherited | element.attrib
        yield element, attributes
        for child in element:
            yield from walk(child, attributes)

    return walk(ElementTree.parse(path).getroot(), {"fill": "#000000"})


def texts(path):
    """Yield (words, attributes) of each text and each part of a text."""
    for element, attributes in elements(path):
        if element.tag in (f"{SVG}text", f"{SVG}tspan"):
            yield "".join(element.itertext()), attributes


def pictures(source):
    """Return (path, alternative text) of every picture that a MyST source shows."""
    found = [(match["path"], match["alt"].strip()) for match in INLINE.finditer(source)]
    for match in DIRECTIVE.finditer(source):
        options = dict(re.findall(r":([\w-]+): *(.*)", match["options"]))
        found.append((match["path"], options.get("alt", "").strip()))
    return found


@each_figure
def test_a_figure_has_a_title_and_a_description(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == f"{SVG}svg"
    for name in ("title", "desc"):
        assert root.findtext(f"{SVG}{name}", "").strip(), f"<{name}> is missing or empty"


@each_figure
def test_a_figure_is_small_enough_to_read_as_source(path):
    assert path.stat().st_size < 12 * 1024


@each_figure
def test_a_figure_is_drawn_for_the_width_of_a_page(path):
    root = ElementTree.parse(path).getroot()
    left, top, width, height = map(float, root.get("viewBox").split())
    assert (left, top) == (0, 0)
    assert width <= 720
    assert (float(root.get("width")), float(root.get("height"))) == (width, height)


@each_figure
def test_a_figure_lies_on_a_white_background(path):
    root = ElementTree.parse(path).getroot()
    background = root.find(f"{SVG}rect")
    assert background.get("fill") == "#ffffff"
    assert [background.get(side) for side in ("width", "height")] == [root.get("width"), root.get("height")]


@each_figure
def test_a_figure_holds_no_script_and_no_style_that_these_tests_cannot_see(path):
    for element, _ in elements(path):
        name = element.tag.removeprefix(SVG)
        assert name not in ("script", "style", "foreignObject", "image"), name
        unseen = [key for key in element.attrib if key.startswith("on") or key in ("style", "class")]
        assert not unseen, f"<{name}> has {unseen}"


@each_figure
def test_a_figure_refers_to_nothing_outside_itself(path):
    ids = {f"#{element.get('id')}" for element, _ in elements(path)}
    for element, _ in elements(path):
        for key, value in element.attrib.items():
            targets = re.findall(r"url\(([^)]*)\)", value)
            if key.endswith("href"):
                targets.append(value)
            for target in targets:
                assert target in ids, f"{key}={value!r}"
    assert "@import" not in path.read_text(encoding="utf-8")


@each_figure
def test_text_in_a_figure_is_large_enough(path):
    assert list(texts(path))
    small = [words for words, attributes in texts(path) if float(attributes.get("font-size", 16)) < 13]
    assert not small


@each_figure
def test_text_in_a_figure_stands_out_from_white(path):
    pale = [words for words, attributes in texts(path) if contrast(attributes["fill"]) < 4.5]
    assert not pale


@each_figure
def test_a_figure_is_used(path):
    shown = {shown for section in SECTIONS for shown, _ in pictures(section.read_text(encoding="utf-8"))}
    assert f"img/{path.name}" in shown


@each_section
def test_a_section_shows_pictures_that_exist(path):
    missing = [shown for shown, _ in pictures(path.read_text(encoding="utf-8")) if not (path.parent / shown).is_file()]
    assert not missing


@each_section
def test_a_section_describes_every_picture_in_words(path):
    silent = [shown for shown, words in pictures(path.read_text(encoding="utf-8")) if not words]
    assert not silent


def test_a_picture_without_alternative_text_is_noticed():
    source = ":::{figure} img/a.svg\n:name: fig-a\n\nCaption.\n:::\n![](img/b.svg)\n"
    assert sorted(pictures(source)) == [("img/a.svg", ""), ("img/b.svg", "")]


def test_alternative_text_is_found_in_both_ways_of_showing_a_picture():
    source = "````{image} img/a.svg\n:alt: Two boxes.\n````\n![A line.](img/b.svg)\n"
    assert sorted(pictures(source)) == [("img/a.svg", "Two boxes."), ("img/b.svg", "A line.")]


@pytest.mark.parametrize(("colour", "ratio"), [("#000000", 21), ("#ffffff", 1), ("#767676", 4.54)])
def test_contrast_agrees_with_known_ratios(colour, ratio):
    assert contrast(colour) == pytest.approx(ratio, abs=0.01)


def bars(path):
    """Return the (begin, width) of each row's bars in a drawing of three strips of three rows, from top to bottom."""
    rows = {}
    for element, _ in elements(path):
        if element.get("fill") == "#fde0bd":
            for left, top, width in re.findall(r"M([\d.]+) ([\d.]+)h([\d.]+)v26", element.get("d", "")):
                rows.setdefault(float(top), []).append((float(left), float(width)))
    return [rows[top] for top in sorted(rows)]


def test_the_bars_of_the_three_modes_begin_when_the_rule_of_staleness_lets_them():
    rows = bars(NOTEBOOKS / "img" / "ps-modes.svg")
    for strip, staleness in ((rows[:3], 0), (rows[3:6], len(rows[0])), (rows[6:], 1)):
        ends = [[left + width for left, width in row] for row in strip]
        for worker, row in enumerate(strip):
            assert [width for _, width in row] == [width for _, width in rows[worker]]
            for step, (begin, _) in enumerate(row):
                own = ends[worker][step - 1] if step else row[0][0]
                everybody = [done[step - 1 - staleness] for done in ends] if step > staleness else []
                assert begin == max([own, *everybody])
