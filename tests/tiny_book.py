"""Tiny books for tests: a folder of pages, built with the book's own settings."""

import gc
import io
import json
from contextlib import redirect_stderr, redirect_stdout

from bs4 import BeautifulSoup
from sphinx.cmd.build import build_main

from book import ROOT
from book.layout import Edition
from book.words import set_language
from d2l_lab.instruments.claims import Claim

INDEX = '# Tiny\n\n+++ {"tags": ["html"]}\n\n```{toctree}\n:numbered:\n\npage\n```\n'
WORKS = """@article{li2014,
  author={Li, Mu and Andersen, David and Smola, Alex}, title={Servers}, journal={OSDI}, year={2014}}
"""
RUN = {
    "seconds": 12.4,
    "date": "2026-11-20T10:00:00",
    "versions": {"jax": "0.10.2"},
    "machine": {"cpu": "Abacus 9", "cores": 2, "memory_gb": 7.8, "gpus": [], "system": "Linux"},
}


def prose(text, *tags):
    """Return a Markdown cell, wrapped as book/merge.py wraps one with tags."""
    source = f"``````{{tagged}} {' '.join(tags)}\n{text}\n``````" if tags else text
    return {"cell_type": "markdown", "metadata": {}, "source": source}


def code(text, *tags, outputs=(), **metadata):
    """Return a code cell; an output that is a string stands for a stream."""
    outputs = [said(output) if isinstance(output, str) else output for output in outputs]
    metadata = {"tags": list(tags)} | metadata
    return {"cell_type": "code", "metadata": metadata, "source": text, "outputs": outputs, "execution_count": 1}


def said(text, name="stdout"):
    return {"output_type": "stream", "name": name, "text": text}


def shown(thing, **metadata):
    """Return the output of a thing that displays itself, or of these data by their types."""
    data = thing if isinstance(thing, dict) else thing._repr_mimebundle_()
    return {"output_type": "display_data", "metadata": metadata, "data": data}


def claim(sentence, held=True, **rest):
    return shown(Claim(sentence, held, **rest))


def notebook(*cells, **facts):
    """Return a merged notebook with the ids c0, c1, …; `facts` are those of each framework's run."""
    cells = [cell | {"id": f"c{place}"} for place, cell in enumerate(cells)]
    metadata = {
        "kernelspec": {"name": "python3", "display_name": "", "language": "python"},
        "d2l": {"frameworks": facts},
    }
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def sphinx(source, target, builder, language="en", **settings):
    """Run Sphinx with the book's own settings and these, in a language; return (exit status, warnings)."""
    options = ["-n", "-W", "--keep-going", "-q", f"-Dlanguage={language}", "-b", builder, "-c", f"{ROOT}/book/pages"]
    options += [f"-Dd2l_{name}={value}" for name, value in settings.items()]
    warnings = io.StringIO()
    try:
        with redirect_stdout(io.StringIO()), redirect_stderr(warnings):
            status = build_main([*options, "-d", str(source.parent / "doctrees"), str(source), str(target)])
    finally:
        set_language(Edition(ROOT))  # English again, for the tests that follow
        gc.enable()  # which the book's settings end
    return status, warnings.getvalue()


class Book:
    """A book in `folder` of these pages, each a merged notebook or a Markdown text, numbered in their order."""

    def __init__(self, folder, pages, files=()):
        self.folder, self.pages, self.warnings = folder, list(pages), {}
        (folder / "book").mkdir(parents=True, exist_ok=True)
        index = INDEX.replace("page", "\n".join(pages))
        for name, text in ({"index.md": index, "references.bib": WORKS} | dict(files)).items():
            (folder / "book" / name).write_text(text, encoding="utf-8")
        for name, page in pages.items():
            self.write(name, page)

    def write(self, name, page):
        """Write a page, and the readers' notebooks of a page that has run."""
        markdown = isinstance(page, str)
        path = self.folder / "book" / (f"{name}.md" if markdown else f"{name}.ipynb")
        path.parent.mkdir(exist_ok=True)
        path.write_text(page if markdown else json.dumps(page), encoding="utf-8")
        for framework in () if markdown else page["metadata"]["d2l"]["frameworks"]:
            reader = self.folder / "notebooks" / framework / f"{name}.ipynb"
            reader.parent.mkdir(parents=True, exist_ok=True)
            reader.write_text(json.dumps(framework), encoding="utf-8")

    def build(self, builder="html", only="", **others):
        """Run Sphinx, for one framework or all and with these settings; return (exit status, warnings)."""
        places = {"notebooks": "notebooks", "numbers": "numbers.json", "machine": "machine.json"}
        settings = {name: self.folder / place for name, place in places.items()} | {"only": only} | others
        return sphinx(self.folder / "book", self.folder / builder, builder, **settings)

    def output(self, builder="html"):
        """Return the folder of what a builder made without a warning, once for all who ask."""
        if builder not in self.warnings:
            self.warnings[builder] = self.build(builder)
        assert self.warnings[builder] == (0, "")
        return self.folder / builder

    def whole(self, name):
        """Return a page as it is parsed, with what is around its article."""
        return BeautifulSoup((self.output() / f"{name}.html").read_text(encoding="utf-8"), "html.parser")

    def article(self, name):
        return self.whole(name).article

    def number(self, name):
        return self.pages.index(name) + 1


def words(element):
    return " ".join(element.get_text().split())


def outline(element, indent=""):
    """Return the lines that a reader meets in an element; folds, tabs and cells with an id have theirs further in."""
    lines = []
    for child in element.find_all(recursive=False):
        classes = child.get("class", [])
        titles = [name for name in (child.name, *classes) if name == "details" or name.startswith("only-")]
        if "cell" in classes and child.get("id"):
            titles.append(child["id"])
        if child.name == "tr":
            lines.append(indent + " | ".join(words(cell) for cell in child.select("th, td")))
        elif child.name in ("p", "pre", "li", "summary", "label", "h2"):
            lines.append(f"{indent}{child.name} {words(child).removesuffix('#')}".rstrip())
        elif titles:
            lines += [indent + titles[0], *outline(child, f"{indent}  ")]
        else:
            lines += outline(child, indent)
    return lines
