"""A reader's notebook in JupyterLab, once all of its cells have run."""

import json
import os

import pytest
from lab_server import lab
from tiny_book import code, notebook, prose

from book import ROOT
from book.headings import folded

PREDICTED = """from d2l_lab.instruments.predictions import predict
claimed = predict("adding", 1)
claimed.compare(4, if_missed="Look at the cache, then at the clock, then at what else the machine had to do.")"""
CELLS = [code(PREDICTED), prose("1. How?"), code("print('the', 'secret')", "solution"), prose("2. Why?")]


@pytest.fixture
def address(tmp_path):
    """The address of the notebook in a JupyterLab."""
    (tmp_path / "notebook.ipynb").write_text(json.dumps(folded(notebook(*CELLS, code("print('the', 'end')")))))
    flags = ["--allow-root", "--ServerApp.ip=127.0.0.1", "--LabApp.news_url=None", f"--ServerApp.root_dir={tmp_path}"]
    with lab(tmp_path, *flags, **os.environ | {"PYTHONPATH": str(ROOT)}) as home:
        yield f"{home}lab/tree/notebook.ipynb?token=t"


def test_jupyterlab_shows_what_a_reader_expects(chromium, address):
    page = chromium.new_page(viewport={"width": 1000, "height": 1200})
    page.goto(address)
    page.locator(".jp-StatusBar-TextItem:has-text('| Idle')").wait_for(timeout=60_000)  # the kernel has started
    page.click(".lm-MenuBar-itemLabel:text-is('Run')")
    page.click(".lm-Menu-itemLabel:has-text('Run All Cells')")
    page.locator(".jp-OutputArea-output:has-text('the end')").wait_for(timeout=60_000)
    secret = page.locator(".jp-OutputArea-output:has-text('the secret')")
    assert not secret.is_visible()
    page.click(":text('1 cell hidden')")
    secret.wait_for()  # it has run
    printed = page.locator(".jp-OutputArea").first.inner_text()
    assert printed.count("adding") == 1
    box = page.locator(".jp-OutputArea-output pre:has-text('off by')").first
    lines = box.evaluate("box => box.getBoundingClientRect().height / parseFloat(getComputedStyle(box).lineHeight)")
    page.close()
    assert round(lines) == printed.strip().count("\n") + 2  # the comparison itself takes two lines
