"""The paths through the book: their parts bear a mark, are linked, and lead to the next; the others do not."""

import pytest
from tiny_book import Book, code, notebook, prose, words

LANDING = """\
# Book

{{doc}}`adding`

## Two Hours on a Laptop

| section | read | minutes |
|---|---|---|
| {{doc}}`adding` | {parts} | 5 |
| {{doc}}`taking` | *One from Two* | 7 |

## A Path with GPUs

| section | read | minutes |
|---|---|---|
| {{doc}}`adding` | *Within* | 5 |

```{{toctree}}
adding
taking
```
"""
ADDING = notebook(
    prose("# Adding\n\n## First\n\nA **sum**."),
    code("one = 1\ntwo = 1 + one", "jax"),
    prose("## One and One\n\nTwo."),
    code("def double():\n    return one + one", "jax"),
    prose("## More\n\n### Within\n\nThree.\n\n### Rest\n\nFour."),
)
TAKING = notebook(prose("# Taking\n\n## One from Two\n\nOne."))
BOTH = {"adding": ADDING, "taking": TAKING}


def landing(parts):
    return {"index.md": LANDING.format(parts=parts)}


@pytest.fixture(scope="module")
def book(tmp_path_factory):
    return Book(tmp_path_factory.mktemp("paths"), BOTH, landing("*One and One* and *Within*"))


def marked(book):
    """Return the heading above each mark of a page, with what the mark says."""
    marks = book.article("adding").select(".on-path")
    return [(words(mark.parent.find(["h2", "h3"])).removesuffix("#"), words(mark)) for mark in marks]


def test_only_the_headings_on_a_path_bear_its_mark(book):
    both = "on the laptop path · on the GPU path"
    assert marked(book) == [
        ("One and One", "on the laptop path"),
        ("One and One", "Its cells use names from parts that the path skips: one (First)"),
        ("More", "the opening is on the laptop path · the opening is on the GPU path"),
        ("Within", both),
    ]


def test_the_landing_page_links_to_the_parts(book):
    links = book.article("index").select("td a:has(em)")
    places = ["adding.html#one-and-one", "adding.html#within", "taking.html#one-from-two", "adding.html#within"]
    assert [link["href"] for link in links] == places
    assert words(links[0]) == "One and One"


def test_a_part_ends_with_a_link_to_the_next(book):
    lines = book.article("adding").select(".onward")
    assert [words(line) for line in lines] == [
        "Next on the laptop path: Within",
        "Next on the laptop path: One from Two (Taking)",
        "Here the GPU path ends.",
    ]
    assert [line.a["href"] for line in lines[:2]] == ["#within", "taking.html#one-from-two"]
    assert [words(line) for line in book.article("taking").select(".onward")] == ["Here the laptop path ends."]
    assert lines[0].parent["id"] == "one-and-one"


def test_what_a_part_uses_from_parts_that_its_path_skips_is_linked(book):
    needs = next(mark for mark in book.article("adding").select(".on-path") if "Its cells" in mark.get_text())
    assert needs.a["href"] == "#first"
    assert [words(name) for name in needs.select("code")] == ["one"]  # not `two`, which no other cell uses


def test_each_framework_names_what_its_own_cells_use(tmp_path):
    cells = [code("one = 1", "jax"), code("two = 2", "pytorch"), prose("## One and One")]
    used = [code("print(one)", "jax"), code("print(two)", "pytorch"), prose("### Within")]
    pages = {"adding": notebook(prose("# Adding\n\n## First"), *cells, *used), "taking": TAKING}
    page = Book(tmp_path, pages, landing("*One and One*")).article("adding")
    named = {name: [words(code) for code in page.select(f".only-{name} .on-path code")] for name in ("jax", "pytorch")}
    assert named == {"jax": ["one"], "pytorch": ["two"]}


def test_the_contents_of_a_page_have_a_sign_beside_each_part(book):
    links = {words(link): link for link in book.whole("adding").select(".toc-tree a")}
    assert [title for title, link in links.items() if link.abbr] == ["One and One ◆", "Within ◆ ◇"]
    assert links["Within ◆ ◇"].abbr["title"] == "on the laptop path"


def test_a_word_is_linked_again_where_a_path_first_reads_it(tmp_path):
    glossary = "# Glossary\n\n```{glossary}\nsum\n  What is added.\n```\n"
    titles = ["## First", "## One and One", "## More", "### Within"]
    text = "\n\n".join(f"{title}\n\nA sum.\n\nThe sum." for title in titles)
    pages = {"adding": notebook(prose(f"# Adding\n\n{text}")), "taking": TAKING, "glossary": glossary}
    index = landing("*One and One*")["index.md"].replace("taking\n```", "taking\nglossary\n```")
    book = Book(tmp_path, pages, {"index.md": index})
    linked = [words(link.find_parent("section").find(["h2", "h3"])) for link in book.article("adding").select("a.word")]
    assert linked == ["First#", "One and One#", "More#"]  # the first; on the laptop path; on the other


def test_a_changed_path_reaches_the_pages(tmp_path):
    book = Book(tmp_path, BOTH, landing("*More*"))
    book.output()
    (tmp_path / "book" / "index.md").write_text(LANDING.format(parts="*One and One*"), encoding="utf-8")
    assert book.build() == (0, "")
    assert [title for title, _ in marked(book)] == ["One and One", "One and One", "More", "Within"]


def test_a_heading_that_the_page_lacks_is_noticed(tmp_path):
    status, warnings = Book(tmp_path, BOTH, landing("*Two and Two*")).build()
    assert status == 1
    assert "the laptop path names 'Two and Two', which is no heading of adding" in warnings
