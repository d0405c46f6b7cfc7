"""HTML that cells display, as pages and the e-book hold it."""

import xml.etree.ElementTree as ET

import pytest
from bs4 import BeautifulSoup

from book.fragments import contained, drawing, make_printable, page
from book.xhtml import XHTML, to_xml

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACw="
SVG = 'xmlns="http://www.w3.org/2000/svg"'


def inside(html):
    """Return what `html` becomes, after a look at whether XML and HTML read it alike."""
    text = contained(html, "o", "words")
    tree = ET.fromstring(text)
    assert "".join(tree.itertext()).split() == BeautifulSoup(text, "html5lib").body.div.get_text().split()
    head, _, rest = text.partition(">")
    assert head.startswith('<div class="html-output"')
    return rest.removesuffix("</div>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("a&nbsp;b<br>c", "a\xa0b<br/>c"),
        ("<p>one<div><b>two", "<p>one</p><div><b>two</b></div>"),
        ("</div></div><p>after", "<p>after</p>"),
        ("<TABLE><TR><TD COLSPAN=2>1", '<table><tbody><tr><td colspan="2">1</td></tr></tbody></table>'),
        ("<td>1<!-- told --> 2<!--", "1 2"),
        ("<p></p><span></span>", "<p></p><span></span>"),
        ('<o:p>1</o:p><a"b>2</a"b><p @x=1 2=3 xml:lang=de k>3', '<span>1</span><span>2</span><p k="">3</p>'),
        ("<title>t</title><base href=/><p>1", "<p>1</p>"),
        ("<plaintext>1 < 2", "<pre>1 &lt; 2</pre>"),
        ("&#27;&#xfffe;&#0;1", "\ufffd1"),
        ("<img src=plot.png><a href=data.csv>1</a><a href=#x>2</a>", "<span>words</span><span>1</span><span>2</span>"),
        (f"<img src={PIXEL}>", f'<img src="{PIXEL}" alt="words"/>'),
        (
            "<a href=#b>1</a><p id=b aria-labelledby='b c'>",
            '<a href="#o-b">1</a><p id="o-b" aria-labelledby="o-b c"></p>',
        ),
        ("<style>#a b{}</style><p id=a>", '<style>#o-a b{}</style><p id="o-a"></p>'),
        ("<math><mi>x", '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>'),
        (
            "<SVG viewbox='0 0 1 1'><clippath id=g /><rect fill='url(#g)'></SVG>",
            f'<svg viewBox="0 0 1 1" {SVG}><clipPath id="o-g"></clipPath><rect fill="url(#o-g)"></rect></svg>',
        ),
        ("<table><tr><th scope=col><th>a", "<table><tbody><tr><td></td><th>a</th></tr></tbody></table>"),
    ],
)
def test_html_that_a_browser_accepts_is_written_as_xml(html, expected):
    assert inside(html) == expected


def test_scripts_mean_the_same_in_html_as_in_xml():
    html = "<p id=a><script>if (1 < 2 && f('#a')) g()</script><script type=application/json>[\"<&\"]</script>"
    text = contained(html, "o")
    read = [script.text for script in ET.fromstring(text).iter(f"{{{XHTML}}}script")]
    seen = [script.string for script in BeautifulSoup(text, "html5lib").find_all("script")]
    assert read[0].split("\n")[1] == seen[0].split("\n")[1] == "if (1 < 2 && f('#a')) g()"
    assert read[1] == seen[1] == r'["\u003c\u0026"]'
    assert '<p id="a">' in text


def test_html_nested_too_deeply_is_refused_in_words():
    with pytest.raises(ValueError, match="nested too deeply"):
        contained("<div>" * 1_000, "o")


def test_only_a_drawing_that_is_no_xml_is_rewritten():
    plain = f"<svg {SVG}><path d='M0'/></svg>"
    assert drawing(plain) == plain
    assert drawing("\n<?xml version='1.0'?><svg>&nbsp;<path d=M0>") == f'<svg {SVG}>\xa0<path d="M0" /></svg>'
    with pytest.raises(ValueError, match="no drawing"):
        drawing("<b>")


def test_a_page_of_an_e_book_that_is_no_xml_keeps_what_it_says():
    head = "<head><title>t</title><link href='epub.css'/></head>"
    body = "<p>a&nbsp;b<br>c\x1b</p><script>1 < 2</script> d<font color=red>e</font><img src=http://a.b/c alt=words>"
    root = page(f"<html xmlns='{XHTML}'>{head}<body>{body}</body></html>")
    make_printable(root)
    text = to_xml(root)
    assert '<link href="epub.css" /></head>' in text
    assert text.endswith("<p>a\xa0b<br />c</p> d<span>e</span><span>words</span></body></html>")
