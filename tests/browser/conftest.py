"""A real Chromium on the real built book, from disk and over http on this machine."""

import functools
import os
import shutil
import threading
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[2]
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",  # Chromium as root refuses to start with one
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


@pytest.fixture(scope="session")
def book():
    """The folder of the built book; D2L_HTML names another one than _build/html."""
    folder = Path(os.environ.get("D2L_HTML", ROOT / "_build" / "html"))
    if not (folder / "index.html").exists():
        pytest.fail(f"{folder} holds no book: run `make book`")
    return folder


@pytest.fixture(scope="session")
def sections(book):
    """The pages with a framework switch, each with its frameworks: {"async-computation.html": ["pytorch", …]}."""
    found = {}
    for path in sorted(book.glob("*.html")):
        text = path.read_text(encoding="utf-8")
        if 'class="framework-switch"' in text:
            found[path.name] = [name for name in ("pytorch", "tensorflow", "jax", "mxnet") if f'value="{name}"' in text]
    if not found:
        pytest.fail("the book holds no section: run `make book`")
    return found


@pytest.fixture(scope="session")
def chromium():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.fail(
            f"no browser on PATH (looked for {', '.join(BROWSERS)}): install chromium, on Debian `apt install chromium`"
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS)
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
    """Where the book lies: once on disk, once behind a server."""
    return book.as_uri() if request.param == "file" else server


@pytest.fixture
def open_page(chromium):
    """Return a function that opens an address in a fresh profile; the test fails on any trouble that the page met.

    Trouble is an error on the console, an exception in a script, a request that fails or that leaves the machine.
    """
    contexts, trouble = [], []

    def open_(address, page=None, **profile):
        if page is None:
            context = chromium.new_context(**({"viewport": {"width": 1400, "height": 900}} | profile))
            contexts.append(context)
            page = context.new_page()
            page.on(
                "console", lambda said: said.type in ("error", "warning") and trouble.append(f"console: {said.text}")
            )
            page.on("pageerror", lambda fault: trouble.append(f"script: {fault}"))
            page.on("requestfailed", lambda request: trouble.extend(failing(request)))
            page.on("request", lambda request: trouble.extend(leaving(request.url)))
            page.on(
                "response", lambda answer: answer.status >= 400 and trouble.append(f"{answer.status}: {answer.url}")
            )
        page.goto(address)
        return page

    yield open_
    for context in contexts:
        context.close()
    assert trouble == []


def failing(request):
    """Return a line when a request failed, unless the page was left before it was answered."""
    return [] if "ERR_ABORTED" in request.failure else [f"failed: {request.url} ({request.failure})"]


def leaving(url):
    """Return a line when a request for the address leaves the machine."""
    return (
        []
        if url.startswith(("file:", "data:", "blob:", "about:", "http://127.0.0.1:"))
        else [f"leaves the machine: {url}"]
    )
