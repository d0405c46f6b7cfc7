"""The two-hour path: its headings bear a mark and are linked, and one that no page has is noticed."""

from tiny_book import Book, notebook, prose, words

LANDING = """\
# Book

{{doc}}`adding`

## In Two Hours

| section | read | minutes |
|---|---|---|
| {{doc}}`adding` | *{heading}* and the rest | 5 |

```{{toctree}}
adding
```
"""
ADDING = notebook(prose("# Adding\n\n## One and One\n\nTwo.\n\n## More\n\nThree."))


def test_only_the_headings_on_the_path_bear_a_mark(tmp_path):
    book = Book(tmp_path, {"adding": ADDING}, {"index.md": LANDING.format(heading="One and One")})
    page, table = book.article("adding"), book.article("index").table
    assert [words(mark.parent.h2) for mark in page.select(".on-path")] == ["One and One#"]
    assert [link["href"] for link in table.select("a:has(em)")] == ["adding.html#one-and-one"]
    assert words(table.select_one("a:has(em)")) == "One and One"


def test_a_changed_path_reaches_the_pages(tmp_path):
    book = Book(tmp_path, {"adding": ADDING}, {"index.md": LANDING.format(heading="More")})
    book.output()
    (tmp_path / "book" / "index.md").write_text(LANDING.format(heading="One and One"), encoding="utf-8")
    assert book.build() == (0, "")
    assert [words(mark.parent.h2) for mark in book.article("adding").select(".on-path")] == ["One and One#"]


def test_a_heading_that_the_page_lacks_is_noticed(tmp_path):
    book = Book(tmp_path, {"adding": ADDING}, {"index.md": LANDING.format(heading="Two and Two")})
    status, warnings = book.build()
    assert status == 1
    assert "the two-hour path names 'Two and Two', which is no heading of adding" in warnings
