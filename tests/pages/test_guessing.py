"""Stops on the pages: what stays to be seen beside them, who is offered to guess, and what an edition goes without."""

from tiny_book import RUN, code, notebook, prose, shown, words

from book.stops import marked
from d2l_lab.instruments.predictions import Comparison

PASSES = Comparison("eight passes", "estimate", "s", 5e-3, 6e-3, 5.5e-3, 6.5e-3)
OUTPUTS = ["b = 70.5 GB/s\n", shown({"text/plain": "eight  6.00 ms"}), shown(PASSES), "then 3.14\n"]
STOPS = marked(OUTPUTS[2:3], ["eight passes"], "stopping", "c1", "jax")
PAGES = {
    "stopping": notebook(
        prose("# Stopping"), code("compare()", "jax", outputs=[*OUTPUTS[:2], *STOPS, OUTPUTS[3]]), jax=RUN
    ),
    "unstopped": notebook(prose("# Unstopped"), code("compare()", "jax", outputs=OUTPUTS)),
}


def test_what_is_printed_above_a_stop_stays_unless_it_tells_the_figure(book):
    assert [words(block) for block in book.article("stopping").select(".terms")] == ["b = 70.5 GB/s"]
    assert book.article("unstopped").select(".terms, .stop, .guess-offer") == []


def test_a_page_with_stops_offers_to_guess_and_only_it_loads_the_script(book):
    lines = [words(line) for line in book.article("stopping").select(".guess-offer p")]
    assert lines == [
        "You can guess some of the figures before you see them. Guess first No, thanks",
        "You guess some figures first. Stop guessing",
    ]
    for page, loaded in (("stopping", 1), ("unstopped", 0)):
        assert len(book.whole(page).select("script[src*='guess.js']")) == loaded, page


def test_a_document_covers_nothing_and_offers_nothing(book):
    book.build("epub", only="jax")
    text = (book.folder / "epub" / "stopping.xhtml").read_text(encoding="utf-8")
    assert "6.00 ms" in text
    assert "guess-offer" not in text
