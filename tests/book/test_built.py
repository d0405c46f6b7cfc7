"""What a finished `make book` left: a second one has nothing to do. It needs the environments of all frameworks."""

import os
import subprocess

import pytest

from book import ROOT

pytestmark = pytest.mark.slow


def test_a_second_make_book_runs_no_notebook_and_writes_no_page():
    pages = ROOT / "_build" / "html"
    before = {path: path.stat().st_mtime_ns for path in pages.rglob("*.html")}
    assert before, "run `make book`"
    choice = [f"{name}={os.environ[name]}" for name in ("FRAMEWORKS", "SECTIONS") if name in os.environ]
    assert (
        "all were up to date"
        in subprocess.run(["make", "book", *choice], cwd=ROOT, capture_output=True, text=True).stdout
    )
    assert {path: path.stat().st_mtime_ns for path in pages.rglob("*.html")} == before
