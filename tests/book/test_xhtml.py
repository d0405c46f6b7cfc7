"""Pages and drawings of an e-book: what is repaired, and how they are written."""

import xml.etree.ElementTree as ET

from book.xhtml import properties, repair_drawing, repair_page, to_xml

HTML = '<html xmlns="http://www.w3.org/1999/xhtml">{}</html>'
DRAWING = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'


def page(content):
    root = ET.fromstring(HTML.format(content))
    repair_page(root)
    return root


def drawing(content):
    root = ET.fromstring(DRAWING.format(content))
    repair_drawing(root)
    return to_xml(root)


def test_drawings_are_written_for_xml():
    root = page('<svg role="group"><a href="a.html"><title>t</title><text class="words">t</text></a></svg>')
    link = '<a href="a.xhtml"><title>t</title></a>'
    assert to_xml(root) == HTML.format(f'<svg xmlns="http://www.w3.org/2000/svg">{link}</svg>')
    assert properties(root) == ["svg"]
    formula = '<math xmlns="http://www.w3.org/1998/Math/MathML"><mi>x</mi></math>'
    assert to_xml(page(f"<p>{formula}</p>")) == HTML.format(f"<p>{formula}</p>")
    assert 'xlink:href="#x"' in drawing('<use xlink:href="#x"/>')
    assert drawing('<metadata>x</metadata><path id="a"/>').endswith('><path id="a" d="M0 0" /></svg>')


def test_the_halo_of_letters_is_painted_first():
    halo = '<g id="a" fill="red" stroke="white" paint-order="stroke"><text id="b">t</text></g>'
    first, second = ET.fromstring(drawing(halo))
    assert (first.attrib, second.attrib) == ({"fill": "red", "stroke": "white"}, {"id": "a", "fill": "red"})
    assert (first[0].attrib, second[0].attrib) == ({}, {"id": "b"})
