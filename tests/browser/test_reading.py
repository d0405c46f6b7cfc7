"""Reading with keys and links: boxes that scroll, the table of contents, what folds."""

import pytest
from conftest import SECTIONS

WIDER = "article pre { letter-spacing: .4em !important; }"  # as a font with wider letters would be
FRAMES = "for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);"
# Boxes that scroll and take no focus, and those that take it though there is nothing to scroll.
AMISS = """() => [...document.querySelectorAll('article *')].filter((box) => {
    const style = getComputedStyle(box);
    const hidden = (way, more) => ['auto', 'scroll'].includes(style[`overflow${way}`]) && more > 1;
    const wide = hidden('X', box.scrollWidth - box.clientWidth);
    const long = hidden('Y', box.scrollHeight - box.clientHeight);
    return box.checkVisibility() && (wide || long) !== (box.tabIndex === 0 && box.matches('pre, div'));
}).map((box) => `${box.outerHTML.slice(0, 80)} ${box.scrollWidth} in ${box.clientWidth}`)"""
REACHED = "() => [...document.querySelectorAll('article pre')].filter((box) => box.tabIndex === 0).length"
UNFOLD = f"""async () => {{
    document.querySelectorAll('article details').forEach((fold) => {{ fold.open = true; }});
    {FRAMES}
}}"""
# Follows each link of the table of contents; returns [link, what is marked then, whether its heading is seen].
FOLLOW = f"""async (links) => {{
    const found = [];
    const bar = document.querySelector('.framework-switch');
    for (const link of document.querySelectorAll('.toc-tree a[href^="#"]')) {{
        if (!link.hash) continue; // the title of the page
        const arrived = new Promise((done) => addEventListener('hashchange', done, {{ once: true }}));
        link.click();
        await arrived;
        for (let before = null; before !== scrollY;) {{
            before = scrollY;
            {FRAMES}
        }}
        const marked = [...document.querySelectorAll('.toc-tree .scroll-current > a')].map((a) => a.hash).join();
        const heading = document.getElementById(decodeURIComponent(link.hash.slice(1))).querySelector('h1, h2, h3, h4');
        const {{ top, bottom }} = heading.getBoundingClientRect();
        found.push([link.hash, marked, bar.getBoundingClientRect().bottom <= top && bottom <= innerHeight]);
    }}
    return found;
}}"""
MARKED = "() => [...document.querySelectorAll('.toc-tree .scroll-current > a')].map((link) => link.hash)"


def test_what_scrolls_takes_the_focus_and_nothing_else_whatever_the_font(open_page, server, section):
    page = open_page(f"{server}/{section}")
    page.evaluate(UNFOLD)
    assert page.evaluate(AMISS) == []
    narrow = page.evaluate(REACHED)
    page.add_style_tag(content=WIDER)
    page.keyboard.press("Tab")
    assert page.evaluate(AMISS) == []
    assert page.evaluate(REACHED) > narrow
    page.click(f".framework-switch button[value={SECTIONS[section][-1]}]")
    page.evaluate(f"async () => {{ {FRAMES} }}")
    assert page.evaluate(AMISS) == []


def test_what_scrolls_in_a_fold_takes_the_focus_when_it_opens(open_page, server, first):
    page = open_page(f"{server}/{first}", viewport={"width": 400, "height": 800})
    closed = page.evaluate(REACHED)
    page.evaluate(UNFOLD)
    assert page.evaluate(AMISS) == []
    assert page.evaluate(REACHED) > closed


def test_the_table_of_contents_marks_the_heading_that_its_link_leads_to(open_page, server, section):
    found = open_page(f"{server}/{section}").evaluate(FOLLOW)
    assert found == [[link, link, True] for link, _, _ in found]
    assert found != []


def test_the_table_of_contents_marks_the_heading_that_a_link_from_elsewhere_leads_to(open_page, server, section):
    page = open_page(f"{server}/{section}")
    wanted = page.evaluate("[...document.querySelectorAll('.toc-tree a[href^=\"#\"]')].at(-2).hash")
    open_page("about:blank", page)
    open_page(f"{server}/{section}{wanted}", page)
    page.wait_for_function(f"(wanted) => ({MARKED})().join() === wanted", arg=wanted)
    page.evaluate(f"async () => {{ {FRAMES} }}")
    assert page.evaluate(MARKED) == [wanted]


@pytest.mark.parametrize("ending", ["#%", "#%E0%A4%A", "#nothing-of-this-name"])
def test_an_address_that_names_nothing_harms_nothing(open_page, server, first, ending):
    page = open_page(f"{server}/{first}{ending}")
    page.click(f".framework-switch button[value={SECTIONS[first][-1]}]")
    page.add_style_tag(content=WIDER)
    page.keyboard.press("Tab")
    assert page.evaluate(REACHED) > 0
    assert page.evaluate("document.querySelector('.framework-switch [aria-pressed=true]').value") == SECTIONS[first][-1]


# Cells that are all claims, as they are seen: how many lines, how many pieces of code, and of code once unfolded.
CLAIMS = """() => [...document.querySelectorAll('.tag_claims')].filter((cell) => cell.checkVisibility()).map((cell) => {
    const seen = (kind) => [...cell.querySelectorAll(kind)].filter((e) => e.checkVisibility()).length;
    const before = [seen('.claim'), seen('.cell_input')];
    const folds = [...cell.querySelectorAll('details')];
    folds.forEach((fold) => { fold.open = true; });
    const unfolded = seen('.cell_input');
    folds.forEach((fold) => { fold.open = false; });  // the next framework finds the cell as this one did
    return [...before, unfolded];
})"""
# Folds titled "Solution": where each begins and ends; how many cells of solutions are seen before any of them opens,
# and outside of them once all are open.
SOLUTIONS = """() => {
    const titled = (fold) => fold.querySelector('summary').textContent.trim() === 'Solution';
    const folds = [...document.querySelectorAll('article details')].filter((f) => titled(f) && f.checkVisibility());
    const cells = () => [...document.querySelectorAll('.tag_solution')].filter((cell) => cell.checkVisibility());
    const places = folds.map((fold) => fold.getBoundingClientRect()).map(({ top, bottom }) => [top, bottom]);
    const outside = cells().length;
    folds.forEach((fold) => { fold.open = true; });
    return { places, outside, lost: cells().filter((cell) => !folds.some((fold) => fold.contains(cell))).length };
}"""


def test_claims_are_seen_as_lines_and_their_code_unfolds(open_page, server, section):
    page = open_page(f"{server}/{section}")
    ran = page.locator(".colophon").count() == 1
    for framework in SECTIONS[section]:
        page.click(f".framework-switch button[value={framework}]")
        cells = page.evaluate(CLAIMS)
        assert cells != []
        for lines, code, unfolded in cells:
            assert (lines > 0, code, unfolded) == ((True, 0, 1) if ran else (False, 1, 1))


def test_a_solution_is_one_fold_with_all_of_it_inside(open_page, server, section):
    for framework in SECTIONS[section]:
        found = open_page(f"{server}/{section}?tab={framework}").evaluate(SOLUTIONS)
        assert found["places"] != []
        assert (found["outside"], found["lost"]) == (0, 0)
        gaps = [below[0] - above[1] for above, below in zip(found["places"], found["places"][1:], strict=False)]
        assert [gap for gap in gaps if gap < 30] == []  # an exercise stands between
