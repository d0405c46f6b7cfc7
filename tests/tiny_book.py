"""Tiny books for tests: a folder of pages, built with the book's own settings."""

import io
import json
from contextlib import redirect_stderr, redirect_stdout

from bs4 import BeautifulSoup
from sphinx.cmd.build import build_main

from book import FRAMEWORKS, ROOT
from d2l_utils.claims import Claim

INDEX = "# Tiny\n\n```{toctree}\n:numbered:\n\npage\n```\n\n```{claims}\n```\n"


def prose(text, framework=None):
    """Return a Markdown cell, wrapped as `book merge` wraps a framework's prose."""
    source = f"``````{{framework}} {framework}\n{text}\n``````" if framework else text
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(text, *tags, outputs=(), **metadata):
    """Return a code cell; an output that is a string stands for a stream."""
    outputs = [
        {"output_type": "stream", "name": "stdout", "text": output} if isinstance(output, str) else output
        for output in outputs
    ]
    metadata = {"tags": list(tags)} | metadata
    return {"cell_type": "code", "metadata": metadata, "source": text, "outputs": outputs, "execution_count": 1}


def claim(sentence, held=True, evidence="", note=""):
    """Return the output that a claim leaves."""
    data = Claim(sentence, held, evidence, note)._repr_mimebundle_()
    return {"output_type": "display_data", "metadata": {}, "data": data}


def notebook(*cells, **facts):
    """Return a merged notebook with the ids c0, c1, …"""
    cells = [cell | {"id": f"c{place}"} for place, cell in enumerate(cells)]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "", "language": "python"},
        "d2l": {"frameworks": facts},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def build(folder, *cells, builder="html", index=INDEX, files=(), facts=None, notebooks=True):
    """Build a book of a landing page and the page of `cells`; return (exit status, warnings, output folder)."""
    source, output = folder / "book", folder / builder
    source.mkdir(parents=True, exist_ok=True)
    (source / "index.md").write_text(index, encoding="utf-8")
    (source / "references.bib").touch()
    for name, text in dict(files).items():
        (source / name).write_text(text, encoding="utf-8")
    if cells:
        (source / "page.ipynb").write_text(json.dumps(notebook(*cells, **(facts or {}))), encoding="utf-8")
        for framework in FRAMEWORKS if notebooks else ():
            reader = folder / "notebooks" / framework / "page.ipynb"
            reader.parent.mkdir(parents=True, exist_ok=True)
            reader.write_text(json.dumps(framework), encoding="utf-8")
    places = {"notebooks": "notebooks", "numbers": "numbers.json", "machine": "machine.json"}
    settings = [f"-Dd2l_{name}={folder / place}" for name, place in places.items()]
    options = ["-n", "-W", "--keep-going", "-q", "-b", builder, "-c", str(ROOT / "book" / "pages"), *settings]
    warnings = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(warnings):
        status = build_main([*options, str(source), str(output)])
    return status, warnings.getvalue(), output


def page_of(folder, *cells, page="page", **settings):
    """Build a book without a warning; return the article of a page."""
    status, warnings, output = build(folder, *cells, **settings)
    assert (status, warnings) == (0, "")
    return BeautifulSoup((output / f"{page}.html").read_text(encoding="utf-8"), "html.parser").article


def text_of(folder, *cells):
    """Build a page as plain text without a warning; return its paragraphs."""
    status, warnings, output = build(folder, *cells, builder="text")
    assert (status, warnings) == (0, "")
    return [" ".join(block.split()) for block in (output / "page.txt").read_text(encoding="utf-8").split("\n\n")]
