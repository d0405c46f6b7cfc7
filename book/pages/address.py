"""What the pages of a published site tell other programs: addresses, languages, a description, a picture, a sitemap.

None of it is written unless `address` in [tool.d2l] of pyproject.toml says where the site is.
"""

import xml.etree.ElementTree as ET
from html import escape
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.config import Config

from book import ROOT
from book.pages.text import plain
from book.site import site_address
from book.translations import LANGUAGES, language_of

PICTURE = ROOT / "docs" / "page.png"
SIZE = (1200, 630)  # of the pictures that previews show


def set_base(app: Sphinx, config: Config) -> None:
    if config.d2l_address:
        language = language_of(config.language)
        config.html_baseurl = f"{config.d2l_address}/{language.code}/" if language else f"{config.d2l_address}/"


def alternates(config: Config, page: str) -> dict[str, str]:
    """Return the address of a page in each language, by its tag; readers of other languages get the English one."""
    english = f"{config.d2l_address}/{page}.html"
    languages = [LANGUAGES[code] for code in config.d2l_languages]
    translated = {each.tag: f"{config.d2l_address}/{each.code}/{page}.html" for each in languages}
    return {"en": english, **translated, "x-default": english}


def describe(app: Sphinx, page: str, template: str, context: dict[str, Any], document: nodes.document | None) -> None:
    """Add to the head of a page its addresses in all languages, and what previews of links show."""
    if app.builder.name != "html" or not app.config.d2l_address or document is None:
        return
    paragraphs = (each for each in document.findall(nodes.paragraph) if isinstance(each.parent, nodes.section))
    text = " ".join(plain(next(paragraphs, nodes.paragraph())).split())
    shown = {
        "og:title": app.env.titles[page].astext(),
        "og:description": text,
        "og:url": context["pageurl"],
        "og:image": f"{app.config.d2l_address}/_static/preview.png",
    }
    lines = [
        *(f'<link rel="alternate" hreflang="{tag}" href="{to}">' for tag, to in alternates(app.config, page).items()),
        f'<meta name="description" content="{escape(text)}">',
        *(f'<meta property="{name}" content="{escape(content)}">' for name, content in shown.items()),
        '<meta name="twitter:card" content="summary_large_image">',
    ]
    context["metatags"] += "\n".join(lines)


def write_site_files(app: Sphinx, failure: Exception | None) -> None:
    """Write the sitemap of all languages and the picture, once: with the English pages."""
    if app.builder.name != "html" or not app.config.d2l_address or app.config.language != "en" or failure:
        return
    from PIL import Image

    sitemap = ET.Element("urlset", xmlns="http://www.sitemaps.org/schemas/sitemap/0.9")
    for page in sorted(app.env.found_docs):
        for address in dict.fromkeys(alternates(app.config, page).values()):
            ET.SubElement(ET.SubElement(sitemap, "url"), "loc").text = address
    out = Path(app.outdir)
    ET.ElementTree(sitemap).write(out / "sitemap.xml", encoding="utf-8", xml_declaration=True)
    with Image.open(PICTURE) as picture:
        picture.crop((0, 0, *SIZE)).save(out / "_static" / "preview.png")


def setup(app: Sphinx) -> None:
    app.add_config_value("d2l_address", site_address(), "html", [str])
    app.connect("config-inited", set_base)
    app.connect("html-page-context", describe)
    app.connect("build-finished", write_site_files)
