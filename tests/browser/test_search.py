"""The search, over HTTP and from disk: sentences with the words marked, and links to where they stand."""

from urllib.parse import quote

import pytest
from conftest import PAGES, SECTIONS, TRANSLATIONS
from test_switch import shown
from tiny_book import RUN, Book, code, notebook, prose

from book import FRAMEWORKS

TEXTS_LIMIT = 30  # KiB a page on disk, in the mean of each language: 24 have been seen
LAYERS = "@nnx.jit\ndef layers(x):\n    return x.item()"
CATCH = "try:\n    f()\nexcept Unsupported as error:\n    print(error)"
TINY = notebook(
    prose("# Tiny\n\nTiny it is.\n\n## Part\n\nA sentence on a compiler.\n\n内存的带宽。"),
    code("net = torch.compile(net)\nx = x.to(memory_format=torch.channels_last)", "pytorch"),
    code(LAYERS, "jax"),
    code(CATCH, "jax", outputs=["Data-dependent branching\n"]),
    jax=RUN,
    pytorch=RUN,
)


def hits(page, address, query):
    """Search; return the sentence, the marked words and the link of each hit."""
    page.goto(f"{address}/search.html?q={quote(query)}")
    page.wait_for_function("document.getElementById('search-status').textContent")
    return page.evaluate("hits()")


@pytest.fixture(scope="module")
def tiny(tmp_path_factory):
    """The address of a tiny book, which has little besides code."""
    pages = {"before": "# Before\n\n## Tiny\n\nA tiny section.\n", "page": TINY}
    return Book(tmp_path_factory.mktemp("tiny"), pages).output().as_uri()


def home(address, section):
    """Return the folder that holds a section, and the search in its language."""
    return f"{address}/{section}".rpartition("/")[0]


def test_a_hit_is_the_sentence_with_a_link_to_its_section(open_page, address, either):
    framework = PAGES[either][-1]
    page = open_page(f"{address}/{either}", fresh=True)
    sentence, section = page.evaluate(f"lastSentence('{framework}')")
    page.evaluate("name => localStorage.setItem('sphinx-design-tab-id-tab', name)", framework)
    ((_, marks, link),) = [hit for hit in hits(page, home(address, either), sentence) if hit[0] == sentence]
    assert len(marks) >= len(set(sentence.split()))
    assert link == f"{address}/{either}?tab={framework}#{section}"
    page.goto(link)
    assert shown(page) == [framework]


def test_a_section_is_found_by_its_title(open_page, address, either):
    page = open_page(f"{address}/{either}")
    title = page.evaluate("document.querySelector('h1').firstChild.nextSibling.data.trim()")
    assert hits(page, home(address, either), title)[0][2].startswith(f"{address}/{either}")


def test_of_what_all_frameworks_say_the_readers_own_is_shown(open_page, server, first):
    page = open_page(f"{server}/{first}", fresh=True)
    for framework in SECTIONS[first]:
        page.evaluate("name => localStorage.setItem('sphinx-design-tab-id-tab', name)", framework)
        links = [link for _, _, link in hits(page, server, "training step")]
        tabs = [name for name in FRAMEWORKS for link in links if f"?tab={name}#" in link]
        assert max(tabs, key=tabs.count) == framework


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("qwertz", "0 places for “qwertz”"),
        ("qwertz memory", "No place has all of “qwertz memory”"),
        ("caching", " for “caching”"),
        ("<b>(", "0 places for “<b>(”"),
        ("(", "0 places for “(”"),
    ],
)
def test_the_search_says_what_it_found(open_page, server, first, query, status):
    page = open_page(f"{server}/{first}")
    found = hits(page, server, query)
    assert status in page.inner_text("#search-status")
    assert bool(found) == (not status.startswith("0 "))


@pytest.mark.parametrize(
    ("query", "line", "marks", "framework"),
    [
        ("channels_last", "x = x.to(memory_format=torch.channels_last)", ["channels_last"], "pytorch"),
        ("channels", "x = x.to(memory_format=torch.channels_last)", ["channels_last"], "pytorch"),
        ("last", "x = x.to(memory_format=torch.channels_last)", ["last"], "pytorch"),
        ("`torch.compile()`", "net = torch.compile(net)", ["torch.compile"], "pytorch"),
        ("torch.compile(net)", "net = torch.compile(net)", ["torch.compile(net"], "pytorch"),
        ("torch.channels(x)", "x = x.to(memory_format=torch.channels_last)", ["torch", "channels_last"], "pytorch"),
        ("memory_format=torch.", "x = x.to(memory_format=torch.channels_last)", ["memory_format=torch"], "pytorch"),
        (".item()", "return x.item()", [".item"], "jax"),
        ("@nnx.jit", "@nnx.jit", ["@nnx.jit"], "jax"),
        ("data-dependent", "Data-dependent branching", ["Data-dependent"], "jax"),
    ],
)
def test_a_name_is_found_in_code_as_readers_type_it(open_page, tiny, query, line, marks, framework):
    page = open_page(f"{tiny}/page.html", fresh=True)
    link = f"{tiny}/page.html?tab={framework}#part"
    assert hits(page, tiny, query) == [[line, marks, link]]
    assert page.inner_text("#search-results p > code") == line
    page.goto(link)
    assert shown(page) == [framework]


def test_a_sentence_comes_before_a_line_of_code(open_page, tiny):
    page = open_page(f"{tiny}/page.html")
    assert [line for line, *_ in hits(page, tiny, "compile")] == ["A sentence on a compiler."]
    assert not page.locator("#search-results code").count()


def test_a_page_comes_before_a_section_of_its_name(open_page, tiny):
    found = hits(open_page(f"{tiny}/page.html"), tiny, "tiny")
    assert (found[0][0], found[-1][0]) == ("Tiny it is.", "A tiny section.")


def test_chinese_is_found_where_the_browser_knows_no_words(open_page, tiny):
    page = open_page("about:blank", fresh=True)
    page.add_init_script("delete Intl.Segmenter")
    found = [hits(page, tiny, query) for query in ("带宽", "内存带宽", "宽", "宽带")]
    assert [[marks for _, marks, _ in each] for each in found] == [[["带宽"]], [["内存", "带宽"]], [["宽"]], []]


def test_a_browser_that_cannot_unpack_the_texts_is_told_so(open_page, tiny):
    page = open_page("about:blank", fresh=True)
    page.add_init_script("delete window.DecompressionStream")
    assert hits(page, tiny, "compile") == []
    assert page.inner_text("#search-status") == "The search needs a newer browser."


def test_chinese_is_found_word_by_word(open_page, server, translated):
    page = open_page(f"{server}/{translated}/index.html")
    marks = {mark for _, marks, _ in hits(page, f"{server}/{translated}", "计算性能qwertz") for mark in marks}
    assert {"计算", "性能"} <= marks
    assert "没有一处包含“计算性能qwertz”的全部词语" in page.inner_text("#search-status")


@pytest.mark.parametrize(("word", "form"), [("caches", "cache"), ("libraries", "library")])
def test_a_word_is_found_in_its_other_forms(open_page, server, first, word, form):
    marks = {mark.lower() for _, marks, _ in hits(open_page(f"{server}/{first}"), server, word) for mark in marks}
    assert form in marks


def test_a_place_has_to_have_as_many_of_the_words_as_any(open_page, server, first):
    page = open_page(f"{server}/{first}")
    assert 0 < len(hits(page, server, "cache latency")) < len(hits(page, server, "cache"))


def test_the_texts_are_loaded_by_those_who_search(open_page, server, book):
    asked = []
    page = open_page("about:blank", fresh=True)
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(f"{server}/search.html")
    assert not any("/_texts/" in url for url in asked)
    hits(page, server, "memory")
    assert any("/_texts/" in url for url in asked)
    for folder in ("", *TRANSLATIONS):
        sizes = [path.stat().st_size for path in (book / folder / "_texts").rglob("*.js")]
        assert sum(sizes) <= TEXTS_LIMIT * 1024 * len(sizes)
