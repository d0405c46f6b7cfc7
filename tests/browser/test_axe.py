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
    if (names.length < 40) throw new Error(`the style sheet colours ${names.length} classes of tokens`);
}"""

HARM = """() => {
    document.querySelector('article img').removeAttribute('alt');
    document.querySelector('.framework-switch button').textContent = '';
    document.querySelector('article h1').style.color = '#777';
    document.querySelector('article h1').style.fontSize = '1rem';
}"""


def look(open_page, address, *preparations, everything=True, **window):
    """Return a line for each element in which axe finds a fault, in light and, as far as colours go, in the dark."""
    page = open_page(address, **window)
    page.evaluate(AXE_SCRIPT)
    for script in preparations:
        page.evaluate(script)
    found = page.evaluate(RUN, EVERYTHING_ELSE) if everything else []
    found += page.evaluate(RUN, {"runOnly": COLOURS})
    page.emulate_media(color_scheme="dark")
    return found + [f"in the dark: {fault}" for fault in page.evaluate(RUN, {"runOnly": COLOURS})]


def test_axe_finds_nothing(open_page, server, tab, view):
    assert look(open_page, f"{server}/{view}", PREPARE) == []
    assert view.partition("?tab=")[2] in ("", tab.evaluate("document.documentElement.dataset.framework"))


def test_axe_finds_nothing_on_a_narrow_screen(open_page, server, first):
    assert look(open_page, f"{server}/{first}", PREPARE, viewport={"width": 400, "height": 800}) == []


def test_every_token_of_code_stands_out(open_page, server, first):
    assert look(open_page, f"{server}/{first}", TOKENS, everything=False) == []


def test_axe_finds_what_is_wrong(open_page, server, first):
    found = {fault.partition(": <")[0] for fault in look(open_page, f"{server}/{first}", HARM, PREPARE)}
    assert found == {"image-alt", "button-name", "color-contrast", "in the dark: color-contrast"}
