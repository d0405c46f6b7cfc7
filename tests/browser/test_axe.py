"""Everybody can read every page: what axe, a program that looks for barriers, says of it."""

from axe_playwright_python.base import AXE_SCRIPT

COLOURS = ["color-contrast", "link-in-text-block"]
EVERYTHING_ELSE = {"rules": {rule: {"enabled": False} for rule in COLOURS}}

# axe's time grows with the elements of the page. Those left out here say nothing new to it: what other frameworks'
# readers see (they have a test of their own), the tokens of code (so have they), and what stands inside a formula.
# Colours come from an element's classes and from those around it: of the elements with the same, one is looked at.
PREPARE = """async () => {
    document.querySelectorAll('article details').forEach((fold) => { fold.open = true; });
    for (let frame = 0; frame < 2; frame++) await new Promise(requestAnimationFrame);
    for (const panel of document.querySelectorAll('.frameworks > .panel')) {
        if (!panel.checkVisibility()) panel.replaceChildren();
    }
    for (const code of document.querySelectorAll('.cell_input pre')) code.textContent = code.textContent;
    for (const formula of document.querySelectorAll('math')) formula.replaceWith('x');
    const kinds = new Map();
    for (const element of document.querySelectorAll('body *')) {
        if (![...element.childNodes].some((node) => node instanceof Text && node.data.trim())) continue;
        let kind = '';
        for (let up = element; up; up = up.parentElement) kind += `${up.tagName}.${up.className}[${up.style.cssText}] `;
        if (element.checkVisibility() && !kinds.has(kind)) kinds.set(kind, element);
    }
    window.oneOfEach = { include: [...kinds.values()] };
    return document.documentElement.dataset.framework;
}"""
RUN = """async (options) => {
    const found = await axe.run(options.runOnly ? window.oneOfEach : document, options);
    return found.violations.flatMap((fault) => fault.nodes.map((node) => `${fault.id}: ${node.html.slice(0, 120)}`));
}"""
# In place of the text: a word for each class of token to which the style sheet gives a colour, as code and as output.
TOKENS = """() => {
    const sheet = [...document.styleSheets].find((sheet) => sheet.href && sheet.href.includes('pygments.css'));
    const names = [...sheet.cssRules].map((rule) => /^\\.highlight \\.(\\w+)$/.exec(rule.selectorText)).filter(Boolean);
    const words = names.map(([, name]) => `<span class="${name}">${name}</span>`).join(' ');
    const cell = (kind) => `<div class="cell_${kind}"><div class="highlight"><pre>${words}</pre></div></div>`;
    document.querySelector('article > section').innerHTML = `<div class="cell">${cell('input')}${cell('output')}</div>`;
    window.oneOfEach = document.querySelector('article > section');
    return names.length;
}"""

HARM = """() => {
    document.querySelector('article img').removeAttribute('alt');
    document.querySelector('.framework-switch button').textContent = '';
    document.querySelector('article h1').style.color = '#777';
    document.querySelector('article h1').style.fontSize = '1rem';
}"""


def faults(page, *runs):
    """Return a line for each element in which axe finds a fault, in light and, as far as colours go, in the dark."""
    found = [fault for options in runs for fault in page.evaluate(RUN, options)]
    page.emulate_media(color_scheme="dark")
    return found + [f"in the dark: {fault}" for fault in page.evaluate(RUN, {"runOnly": COLOURS})]


def test_axe_finds_nothing(open_page, server, view):
    page = open_page(f"{server}/{view}")
    page.evaluate(AXE_SCRIPT)
    shown = page.evaluate(PREPARE)
    assert shown is None or view.endswith(f"?tab={shown}")
    assert faults(page, EVERYTHING_ELSE, {"runOnly": COLOURS}) == []


def test_axe_finds_nothing_on_a_narrow_screen(open_page, server, first):
    page = open_page(f"{server}/{first}", viewport={"width": 400, "height": 800})
    page.evaluate(AXE_SCRIPT)
    page.evaluate(PREPARE)
    assert faults(page, EVERYTHING_ELSE, {"runOnly": COLOURS}) == []


def test_every_token_of_code_stands_out(open_page, server, first):
    page = open_page(f"{server}/{first}")
    page.evaluate(AXE_SCRIPT)
    assert page.evaluate(TOKENS) > 40
    assert faults(page, {"runOnly": COLOURS}) == []


def test_axe_finds_what_is_wrong(open_page, server, first):
    page = open_page(f"{server}/{first}")
    page.evaluate(AXE_SCRIPT)
    page.evaluate(HARM)
    page.evaluate(PREPARE)
    found = {fault.partition(": <")[0] for fault in faults(page, EVERYTHING_ELSE, {"runOnly": COLOURS})}
    assert found == {"image-alt", "button-name", "color-contrast", "in the dark: color-contrast"}
