"""Tables as docutils nodes, for what comes as data; their first column heads the rows."""

from collections.abc import Sequence

from docutils import nodes

Content = str | Sequence[nodes.Node]  # of a table's cell


def table(head: Sequence[str], rows: Sequence[nodes.row], kind: str) -> nodes.table:
    """Return a table with these column heads; `kind` is its class."""
    columns = [nodes.colspec(colwidth=1, stub=1 if place == 0 else None) for place in range(len(head))]
    parts = [nodes.thead("", row(*head)), nodes.tbody("", *rows)]
    return nodes.table("", nodes.tgroup("", *columns, *parts, cols=len(head)), classes=[kind, "colwidths-auto"])


def row(*cells: Content, kind: str = "") -> nodes.row:
    """Return a row of a table, of a class if one is given."""
    entries = [nodes.entry("", nodes.paragraph("", "", *content(cell))) for cell in cells]
    return nodes.row("", *entries, classes=[kind] if kind else [])


def content(cell: Content) -> Sequence[nodes.Node]:
    """Return the nodes of a cell."""
    return [nodes.Text(cell)] if isinstance(cell, str) else cell


def link(text: str, address: str) -> nodes.reference:
    """Return a link to a place in the book; the address starts from the page at hand."""
    return nodes.reference("", text, refuri=address, internal=True)


def svg(text: str) -> nodes.raw:
    """Return a drawing, which only HTML shows."""
    return nodes.raw("", text, format="html")
