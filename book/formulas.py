"""TeX as MathML, made while the book is built: browsers draw it themselves, without a script, style sheet or font.

The KaTeX that sphinxcontrib-katex carries runs inside V8, in this process; wrong TeX stops the build where it stands.
"""

import atexit
import functools
import importlib.resources

from py_mini_racer import MiniRacer

# Strict about TeX, not about characters: µ and … are as good in MathML as in the text around them.
FUNCTION = """
    const strict = (fault) => ['unknownSymbol', 'unicodeTextInMathMode'].includes(fault) ? 'ignore' : 'error';
    function mathml(tex, display) {
        try {
            return [katex.renderToString(tex, {displayMode: display, output: 'mathml', strict}), ''];
        } catch (error) {
            return ['', error.message];
        }
    }"""


class TeXError(ValueError):
    """KaTeX cannot read a formula."""


@functools.cache
def _katex() -> MiniRacer:
    source = importlib.resources.files("sphinxcontrib") / "katex.min.js"
    engine = MiniRacer()
    atexit.register(engine.close)  # by itself it waits for its thread once Python 3.13 has stopped that for good
    engine.eval(source.read_text(encoding="utf-8"))
    engine.eval(FUNCTION)
    return engine


@functools.cache
def mathml(tex: str, display: bool = False) -> str:
    """Return the <math> element that shows a formula, on a line of its own if `display`; TeXError for wrong TeX."""
    markup, fault = _katex().call("mathml", tex, display)
    if fault:
        raise TeXError(fault.removeprefix("KaTeX parse error: "))
    return markup.removeprefix('<span class="katex">').removesuffix("</span>")
