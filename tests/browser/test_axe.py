"""Everybody can read every page: what axe, a program that looks for barriers, says of it."""

import pytest
from axe_playwright_python.base import AXE_SCRIPT
from conftest import WINDOW

COLOURS = ["color-contrast", "link-in-text-block"]
EVERYTHING_ELSE = {"rules": {rule: {"enabled": False} for rule in COLOURS}}


def look(open_page, address, *preparations, everything=True, viewport=WINDOW):
    """Return a line for each element in which axe finds a fault, in light and, as far as colours go, in the dark."""
    page = open_page(address, viewport)
    page.evaluate(AXE_SCRIPT)
    for name in preparations:
        page.evaluate(f"{name}()")
    found = page.evaluate("faults", EVERYTHING_ELSE) if everything else []
    found += page.evaluate("faults", {"runOnly": COLOURS})
    page.emulate_media(color_scheme="dark")
    return found + [f"in the dark: {fault}" for fault in page.evaluate("faults", {"runOnly": COLOURS})]


def test_axe_finds_nothing(open_page, server, sampled):
    assert look(open_page, f"{server}/{sampled}", "prepareForAxe") == []


@pytest.mark.parametrize(
    "kind", ["framework-switch", "explorable bounds", "explorable memory", "explorable ring", "index.html"]
)
def test_axe_finds_nothing_on_a_narrow_screen(open_page, server, page_with, kind):
    name = kind if kind.endswith(".html") else page_with(kind)
    assert look(open_page, f"{server}/{name}", "prepareForAxe", viewport={"width": 400, "height": 800}) == []


@pytest.mark.parametrize("width", [400, 1400])
def test_axe_finds_nothing_at_a_stop(open_page, server, page_with, width):
    address, viewport = f"{server}/{page_with('stop')}", {"width": width, "height": 800}
    assert look(open_page, address, "guessFirst", "prepareForAxe", viewport=viewport) == []


def test_every_token_of_code_stands_out(open_page, server, first):
    assert look(open_page, f"{server}/{first}", "tokensAlone", everything=False) == []


def test_axe_finds_what_is_wrong(open_page, server, first):
    found = {fault.partition(": <")[0] for fault in look(open_page, f"{server}/{first}", "harm", "prepareForAxe")}
    assert found == {"image-alt", "button-name", "color-contrast", "in the dark: color-contrast"}
