"""A real Chromium on the real built book, over HTTP on this machine, and from disk where that may differ."""

import os
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import sync_playwright

from book import FRAMEWORKS, ROOT

BOOK = Path(os.environ.get("D2L_HTML", ROOT / "_build" / "html"))
WINDOW = {"width": 1400, "height": 900}
FLAGS = "--disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"
TROUBLE = []  # on the pages that a test opened: errors, exceptions, requests that fail or leave the machine
AT_HOME = ("file:", "data:", "blob:", "about:", "http://127.0.0.1:")


def frameworks_on(path):
    """Return the frameworks that a page lets its reader choose from, [] for a page that is no section."""
    text = path.read_text(encoding="utf-8")
    return [name for name in FRAMEWORKS if 'class="framework-switch"' in text and f'value="{name}"' in text]


def pages_in(folder):
    """Return the frameworks on each page of a language, which has its pages in this folder of the book."""
    paths = sorted([*(BOOK / folder).glob("*.html"), *(BOOK / folder).glob("back/*.html")])
    return {path.relative_to(BOOK).as_posix(): frameworks_on(path) for path in paths}


# Known before the first test, so that each page is a test of its own and two workers share them.
ENGLISH = pages_in("")
SECTIONS = {  # each has a line on its reading time and notebooks
    name: frameworks
    for name, frameworks in ENGLISH.items()
    if frameworks and 'class="page-facts' in (BOOK / name).read_text(encoding="utf-8")
}
FIRST = next(iter(SECTIONS), None)
NUMBERED = [
    name for name in SECTIONS if '<h1><span class="section-number">' in (BOOK / name).read_text(encoding="utf-8")
]
TRANSLATIONS = [path.parent.name for path in BOOK.glob("*/search.html")]  # the folders of other languages
PAGES = ENGLISH | {name: found for folder in TRANSLATIONS for name, found in pages_in(folder).items()}
# Of the other languages, pages with what is their own: fonts, punctuation, the search. All else is as in English.
KINDS = ("index.html", "search.html", FIRST, "back/glossary.html")
SAMPLE = [*ENGLISH, *(f"{folder}/{name}" for folder in TRANSLATIONS for name in KINDS if f"{folder}/{name}" in PAGES)]
FIRSTS = [FIRST, *(f"{folder}/{FIRST}" for folder in TRANSLATIONS)]


def pytest_generate_tests(metafunc):
    """Run a test once for each page, section, section with exercises, or the first section in each language."""
    for name, values in (("sampled", SAMPLE), ("section", SECTIONS), ("numbered", NUMBERED), ("either", FIRSTS)):
        if name in metafunc.fixturenames:
            metafunc.parametrize(name, list(values) or [None])


@pytest.fixture(scope="session")
def book():
    """The folder of the built book; D2L_HTML names another one than _build/html."""
    if not SECTIONS:
        pytest.fail(f"{BOOK} holds no section: run `make book`")
    return BOOK


@pytest.fixture(scope="session")
def first(book):
    """One section, for what the scripts and styles do alike on every page."""
    return FIRST


@pytest.fixture
def translated(book):
    """The folder of a language into which the book is translated."""
    if not TRANSLATIONS:
        pytest.skip("the book was built in English alone")
    return TRANSLATIONS[0]


@pytest.fixture
def page_with(book):
    """Return a function that returns the first section with an element whose class attribute begins with some words."""
    texts = {name: (book / name).read_text(encoding="utf-8") for name in SECTIONS}
    return lambda words: next(name for name, text in texts.items() if f'class="{words}' in text)


@pytest.fixture(scope="session")
def chromium(chromium_path):
    sandbox = os.geteuid() != 0  # root's Chromium refuses to start in its sandbox
    options = {"executable_path": chromium_path, "args": FLAGS.split(), "chromium_sandbox": sandbox}
    with sync_playwright() as playwright, playwright.chromium.launch(**options) as browser:
        yield browser


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="session")
def server(book):
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(book))) as http:
        Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@pytest.fixture(params=["file", "http"])
def address(request, book, server):
    """Where the book lies, for what a browser forbids or keeps apart on disk: once there, once behind a server."""
    return book.as_uri() if request.param == "file" else server


@pytest.fixture(scope="session")
def tab(chromium):
    """The tab that tests share: to open another one takes longer than to load most pages."""
    return new_tab(chromium)


@pytest.fixture
def open_page(chromium, tab):
    """Return a function that opens an address in the shared tab, or in one with a profile of its own if one is given.

    The test fails on any trouble that its pages met.
    """
    own = []

    def open_(address, viewport=WINDOW, fresh=False, **profile):
        page = tab
        if fresh or profile:
            page = new_tab(chromium, **profile)
            own.append(page.context)
        page.set_viewport_size(viewport)
        page.emulate_media(color_scheme="light", media="screen")
        page.goto(address)
        return page

    yield open_
    for context in own:
        context.close()
    if tab.url != "about:blank":  # leave the shared tab as it was new
        tab.evaluate("localStorage.clear()")
        tab.goto("about:blank")
    found = TROUBLE.copy()
    TROUBLE.clear()
    assert found == []


def new_tab(chromium, **profile):
    """Return a tab of a fresh profile, which adds a line to TROUBLE for all that goes wrong on its pages."""

    def note(wrong, words):
        if wrong:
            TROUBLE.append(words)

    page = chromium.new_context(**profile).new_page()
    page.add_init_script(path=Path(__file__).with_name("looking.js"))
    page.on("console", lambda said: note(said.type in ("error", "warning"), f"console: {said.text}"))
    page.on("pageerror", lambda fault: note(True, f"script: {fault}"))
    page.on("request", lambda sent: note(not sent.url.startswith(AT_HOME), f"leaves the machine: {sent.url}"))
    page.on("response", lambda answer: note(answer.status >= 400, f"{answer.status}: {answer.url}"))
    left = "ERR_ABORTED"  # the page was left before it was answered
    page.on("requestfailed", lambda sent: note(left not in sent.failure, f"failed: {sent.url} ({sent.failure})"))
    return page
