"""HTML and pictures that cells display, written as XML: none changes the page around it or stops the e-book.

What cannot be shown at all is a warning that names the cell.
"""

import binascii
import xml.etree.ElementTree as ET
from typing import Any

from docutils import nodes
from myst_nb.core.render import load_mime_renders
from sphinx.application import Sphinx

from book.fragments import contained, drawing
from book.slides.showing import html, parsed


class OutputRenderer:
    """A renderer of MyST-NB that puts right what MyST-NB's own renderer gets."""

    @staticmethod
    def handle_mime(renderer: Any, data: Any, inline: bool) -> list[nodes.Node] | None:
        """Return the nodes of an output, or None for MyST-NB to make them."""
        alt = data.cell_metadata.get("mystnb", {}).get("image", {}).get("alt", "")
        try:
            content = data.string if data.mime_type == "text/html" else ""
            if data.mime_type == "text/markdown" and not is_xml(html(parsed(data.string))):
                content = html(parsed(data.string))
            if not content:
                check_picture(data)
                return None
            content = contained(content, f"output-{data.cell_index}-{data.output_index}", alt)
        except ValueError as error:
            renderer.logger.warning(f"cell {data.cell_index + 1} shows {data.mime_type} that {error}", line=data.line)
            return []
        return [nodes.raw("", content, format="html", classes=["output", "text_html"])]


def is_xml(content: str) -> bool:
    """Tell whether parts of a document are XML, so that they close whatever they open."""
    try:
        ET.fromstring(f"<div>{content}</div>")
    except ET.ParseError:
        return False
    return True


def check_picture(data: Any) -> None:
    """Put a drawing right that is no XML; ValueError, which says why, if a picture cannot be shown."""
    if data.mime_type == "image/svg+xml":
        data.content = drawing(data.string)
    elif data.mime_type.startswith("image/"):
        try:
            binascii.a2b_base64(data.content)
        except binascii.Error:
            raise ValueError("is not in base64") from None


def setup(app: Sphinx) -> None:
    """Register the renderer; MyST-NB keeps the list of renderers that it made."""
    if OutputRenderer not in load_mime_renders():
        load_mime_renders().append(OutputRenderer)
