"""A real Chromium on the real built book, over HTTP on this machine, and from disk where that may differ."""

import functools
import os
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

from book import FRAMEWORKS
from book.setup.programs import find_browser

BOOK = Path(os.environ.get("D2L_HTML", Path(__file__).resolve().parents[2] / "_build" / "html"))
WINDOW = {"width": 1400, "height": 900}
FLAGS = "--disable-gpu --disable-background-networking --disable-component-update --disable-sync --no-first-run"


def frameworks_on(path):
    """Return the frameworks that a page lets its reader choose from, [] for a page that is no section."""
    text = path.read_text(encoding="utf-8")
    return [name for name in FRAMEWORKS if 'class="framework-switch"' in text and f'value="{name}"' in text]


# Known before the first test, so that each page is a test of its own and two workers share them.
PAGES = {
    path.relative_to(BOOK).as_posix(): frameworks_on(path)
    for path in sorted([*BOOK.glob("*.html"), *BOOK.glob("back/*.html")])
}
SECTIONS = {name: frameworks for name, frameworks in PAGES.items() if frameworks}
VIEWS = [f"{name}?tab={framework}" if framework else name for name in PAGES for framework in PAGES[name] or [None]]


def pytest_generate_tests(metafunc):
    """Run a test once for each page, each section, or each page as the readers of each framework see it."""
    for name, values in (("page_name", PAGES), ("section", SECTIONS), ("view", VIEWS)):
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
    return next(iter(SECTIONS))


def launch_options(user):
    """Return how Chromium starts for a user's number: root's refuses to start in its sandbox."""
    return {"executable_path": find_browser(), "args": FLAGS.split(), "chromium_sandbox": user != 0}


@pytest.fixture(scope="session")
def chromium():
    """The browser that tests share."""
    options = launch_options(os.geteuid())
    if options["executable_path"] is None:
        pytest.fail("no browser: `make test` fetches one; or install Chromium (Debian: apt-get install chromium)")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(**options)
        yield browser
        browser.close()


class QuietHandler(SimpleHTTPRequestHandler):
    def log_message(self, *words):
        pass


@pytest.fixture(scope="session")
def server(book):
    """The address of the book on 127.0.0.1."""
    handler = functools.partial(QuietHandler, directory=str(book))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        threading.Thread(target=http.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{http.server_port}"
        http.shutdown()


@pytest.fixture(params=["file", "http"])
def address(request, book, server):
    """Where the book lies, for what a browser forbids or keeps apart on disk: once there, once behind a server."""
    return book.as_uri() if request.param == "file" else server


@pytest.fixture(scope="session")
def trouble():
    """What went wrong on the pages that a test opened: errors, exceptions, requests that fail or leave the machine."""
    return []


@pytest.fixture(scope="session")
def tab(chromium, trouble):
    """The tab that tests share: to open another one takes longer than to load most pages."""
    return new_tab(chromium, trouble)


@pytest.fixture
def open_page(chromium, tab, trouble):
    """Return a function that opens an address; the test fails on any trouble that the page met.

    It opens in the shared tab, in one with a profile of its own where one is asked for, or goes on in a given page.
    """
    own = []

    def open_(address, page=None, *, fresh=False, viewport=WINDOW, color_scheme="light", **profile):
        if page is None:
            page = tab
            if fresh or profile:
                page = new_tab(chromium, trouble, **profile)
                own.append(page.context)
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=color_scheme, media="screen")
        page.goto(address)
        return page

    yield open_
    for context in own:
        context.close()
    if tab.url != "about:blank":  # leave the shared tab as it was new
        tab.evaluate("localStorage.clear()")
        tab.goto("about:blank")
    found = trouble.copy()
    trouble.clear()
    assert found == []


def new_tab(chromium, trouble, **profile):
    """Return a tab of a fresh profile, which adds a line to `trouble` for all that goes wrong on its pages."""

    def failed(request):
        if "ERR_ABORTED" not in request.failure:  # the page was left before it was answered
            trouble.append(f"failed: {request.url} ({request.failure})")

    def requested(request):
        if not request.url.startswith(("file:", "data:", "blob:", "about:", "http://127.0.0.1:")):
            trouble.append(f"leaves the machine: {request.url}")

    page = chromium.new_context(**profile).new_page()
    page.on("console", lambda said: said.type in ("error", "warning") and trouble.append(f"console: {said.text}"))
    page.on("pageerror", lambda fault: trouble.append(f"script: {fault}"))
    page.on("requestfailed", failed)
    page.on("request", requested)
    page.on("response", lambda answer: answer.status >= 400 and trouble.append(f"{answer.status}: {answer.url}"))
    return page
