"""The site: the pages of all languages, which name their downloads, with the documents that were built beside them."""

import os
import re
import shutil
from pathlib import Path
from typing import Any

from book import FRAMEWORKS, BookError, project
from book.layout import Edition
from book.translations import LANGUAGES
from book.words import say, set_language

ADDRESS = re.compile(r"https?://[\w.-]+(:\d+)?(/[\w.~-]+)*/?")
MARK = "<!-- downloads -->"  # where the template page.html has them


def site_address(content: dict[str, Any] | None = None) -> str:
    """Return the address of the site that pyproject.toml names, without a slash at its end; "" where it names none."""
    address: str = (content or project())["tool"]["d2l"]["address"]
    if address and not ADDRESS.fullmatch(address):
        raise BookError(
            f"[tool.d2l] address = {address!r} is no address of a site: write one such as https://OWNER.github.io/NAME "
            "in pyproject.toml, or leave it empty"
        )
    return address.rstrip("/")


def write_site(edition: Edition) -> Path:
    """Put the site together in `_build/site` from what was built; return its folder."""
    pages, site = edition.build / "html", edition.build / "site"
    if not (pages / "index.html").exists():
        raise BookError(f"{pages} holds no pages: run make book")
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(pages, site, ignore_dangling_symlinks=True)
    for language in (None, *LANGUAGES.values()):
        own = Edition(edition.root, language)
        home = site / own.code
        if not home.exists():
            continue
        set_language(own)
        documents = {framework: copy_documents(own, framework, site) for framework in FRAMEWORKS}
        for path in [*home.glob("*.html"), *home.glob("back/*.html")]:
            page = path.read_text(encoding="utf-8")
            path.write_text(page.replace(MARK, downloads(documents, path)), encoding="utf-8")
    set_language(edition)
    return site


def copy_documents(edition: Edition, framework: str, site: Path) -> dict[str, Path]:
    """Copy what was built for a framework in a language into the site; return the path of each there by its name."""
    end = f"{framework}{edition.suffix}"
    built = {
        say("PDF"): edition.build / f"computational-performance-{end}.pdf",
        say("e-book"): edition.build / f"computational-performance-{end}.epub",
        say("notebooks"): edition.build / "bundle" / f"d2l-{end}.zip",
        say("slides"): edition.derived / "slides" / framework,
    }
    found = {}
    for name, path in built.items():
        if path.is_dir():
            found[name] = Path(shutil.copytree(path, site / "downloads" / f"slides-{end}"))
        elif path.exists():
            found[name] = site / "downloads" / path.name
            found[name].parent.mkdir(exist_ok=True)
            shutil.copy2(path, found[name])
    return found


def downloads(documents: dict[str, dict[str, Path]], page: Path) -> str:
    """Return what a page says of the documents of each framework, with its section's slides."""
    lines = []
    heading, colon, comma = say("The book as files"), say(": "), say(", ")
    for framework, found in documents.items():
        links = []
        for name, path in found.items():
            target = path
            if path.is_dir():
                target = path / page.name if (path / page.name).exists() else path / "index.html"
            links.append(f'<a href="{os.path.relpath(target, page.parent)}">{name}</a>')
        if links:
            lines.append(f"<li>{FRAMEWORKS[framework]}{colon}{comma.join(links)}</li>")
    return f'<p class="rubric">{heading}</p><ul class="downloads">{"".join(lines)}</ul>' if lines else ""
