"""The builder `epub`: an e-book that follows the standard, of the framework that the setting `d2l_only` names.

Sphinx writes pages for browsers; this builder leaves out scripts and styles that e-readers cannot use, and repairs the
files before they are packed. A link that leads nowhere is a warning. The book carries its fonts.
"""

import shutil
import xml.etree.ElementTree as ET
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.builders.epub3 import Epub3Builder
from sphinx.util import logging

from book import FRAMEWORKS
from book.fragments import make_printable, page
from book.words import current, fixed_words, say
from book.xhtml import OPF, dead_links, page_text, properties, repair_drawing, repair_page, to_xml

logger = logging.getLogger(__name__)
STYLES = ("pygments.css", "epub.css")  # the second is ours, under the name that Sphinx's theme links
NAME = "computational-performance"


def metadata(only: str) -> dict[str, Any]:
    """Return the settings that describe the edition for a framework, or the whole book if it is ''."""
    title = say("Computational Performance")
    author = say("The contributors of Computational Performance")
    name = "-".join(filter(None, (NAME, only, current().code)))
    return {
        "epub_title": say("{title} in {framework}", title=title, framework=FRAMEWORKS[only]) if only else title,
        "epub_basename": name,
        "epub_identifier": name,  # the list of files refers to it, so it is a name in XML
        "epub_uid": name,
        "epub_language": current().lang,
        "epub_author": author,
        "epub_publisher": author,
        "epub_copyright": f"{datetime.now(UTC).year}, {author}",
        "epub_description": say(
            "Why deep-learning programs are fast or slow: predictions, measurements, and what explains the gap."
        ),
        "epub_tocscope": "includehidden",
        "epub_show_urls": "no",  # a list of references has them
        "epub_use_index": False,
        "epub_exclude_files": [".buildinfo.bak"],  # Sphinx leaves it where a setting has changed since the last build
    }


class EReader(Epub3Builder):
    """Sphinx's builder of e-books, with pages that the standard accepts."""

    def init(self) -> None:
        """Describe the edition before anything is written."""
        for name, value in metadata(self.config.d2l_only).items():
            setattr(self.config, name, value)
        super().init()

    def add_css_file(self, filename: str, **kwargs: Any) -> None:
        """Link our style and that of the code, and no extension's."""
        if filename in STYLES:
            super().add_css_file(filename, **kwargs)

    def add_js_file(self, filename: str, **kwargs: Any) -> None:
        """Link no script."""

    def copy_static_files(self) -> None:
        self._static_dir.mkdir(parents=True, exist_ok=True)
        self.create_pygments_style_file()
        shutil.copy(Path(__file__).parent / "_epub" / "epub.css", self._static_dir)

    def handle_finish(self) -> None:
        for path in self._static_dir.iterdir():
            if path.name not in STYLES:
                path.unlink()  # which an extension has put there
        self.repair()
        self.write_fonts()
        super().handle_finish()

    def repair(self) -> None:
        from book.fonts import carry  # which HTML pages do without: it is slow to import

        drawings = {path: ET.parse(path).getroot() for path in sorted((self.outdir / "_images").glob("*.svg"))}
        for drawing in drawings.values():
            repair_drawing(drawing)
        carry(list(drawings.values()))
        for path, drawing in drawings.items():
            path.write_text(to_xml(drawing), encoding="utf-8")
        self.pages = {}
        for name in sorted(self.env.found_docs):
            path = self.outdir / f"{name}{self.out_suffix}"
            root = self.pages[f"{name}{self.out_suffix}"] = page(path.read_text(encoding="utf-8"))
            repair_page(root)
            make_printable(root)  # once drawings are told from HTML
            path.write_text(page_text(root), encoding="utf-8")
        for line in dead_links(self.pages):
            logger.warning("%s", line)

    def write_fonts(self) -> None:
        """Write the fonts, and the rules that say where they are.

        They have the characters of all pages, and of what the book on paper says besides.
        """
        from book.fonts import MATH, MONO, SERIF, SYMBOLS, characters, rule, used, woff

        wanted = characters([*map(page_text, self.pages.values()), *fixed_words(current())])
        rules = []
        for face in used((*SERIF, *MONO, *MATH, *SYMBOLS), wanted):
            (self._static_dir / f"{face.name}.woff").write_bytes(woff(face, wanted))
            rules.append(rule(face, f"{face.name}.woff"))
        path = self._static_dir / "epub.css"
        path.write_text("".join(rules) + path.read_text(encoding="utf-8"), encoding="utf-8")

    def build_content(self) -> None:
        """Say in the list of files which pages hold formulas and drawings."""
        super().build_content()
        path = self.outdir / "content.opf"
        text = path.read_text(encoding="utf-8")
        for item in ET.fromstring(text).iter(f"{{{OPF}}}item"):
            words = properties(self.pages[item.attrib["href"]]) if item.attrib["href"] in self.pages else []
            if words:
                start = f'<item id="{item.attrib["id"]}" '
                text = text.replace(start, f'{start}properties="{" ".join(words)}" ')
        path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> None:
    """Put our builder in the place of Sphinx's."""
    app.add_builder(EReader, override=True)
