"""Outputs of cells that are awkward to show, and a page of each."""

from tiny_book import code, notebook, prose, shown

from book.outputs import presentable
from d2l_lab.instruments.predictions import Comparison

GRADIENT = '<svg viewBox="0 0 2 1" width=90><linearGradient id="g"><stop offset=0 stop-color={}></linearGradient>'
DRAWING = '{}<rect width=2 height=1 fill="url(#g)" /></svg>'.format
PANDAS = """<div><style scoped>.dataframe tbody tr th { vertical-align: top; }</style>
<table border="1" class="dataframe"><thead><tr style="text-align: right;"><th></th><th>a&nbsp;b</th></tr></thead>
<tbody><tr><th>0</th><td>frame</td></tr></tbody></table></div>"""
KERAS = '\x1b[1mModel: \x1b[32m"tiny"\x1b[0m\n\x1b[38;5;34m12\x1b[0m \x1b[41mparameters\x1b[0m\n'


def displayed(data, mime="text/html"):
    """Return an output of a type, with the words that IPython adds to each."""
    return shown({mime: data, "text/plain": "<IPython.core.display.Data object>"})


OUTPUTS = {
    "ansi": [KERAS],
    "control characters": ["a\x00b\x0cc\x08d\ufffe\ufeff\ud800\n"],
    "progress bar": ["".join(f"\r{number} %" for number in range(101)) + "\n"],
    "unicode": ["e\u0301 😀 👩\u200d👧 עברית العربية 中文 \u202eleft\n"],
    "long text": [("x" * 79 + "\n") * 125_000],
    "entities": [displayed("non&nbsp;breaking<br>line &copy;")],
    "pandas": [displayed(PANDAS)],
    "unclosed": [displayed("<p>unclosed<div><table><TR><TD ALIGN=center>cell<TD>")],
    "scripts": [displayed("<p id=x>script<script>if (1 < 2 && x) f('</div>')</script><!-- told --")],
    "drawings": [displayed(DRAWING(GRADIENT.format(colour))) for colour in ("red", "blue")],
    "picture": [displayed("\n<svg viewBox='0 0 2 1'><title>&nbsp;</title><path d=M0>", "image/svg+xml")],
    "formula": [displayed("<math><mfrac><mi>a</mi><mi>b</mi></mfrac></math>")],
    "markdown": [displayed("mark<br>down <b>bold\n\n| head |\n|---|\n| row |", "text/markdown")],
    "files": [displayed("<img src=plot.png alt=plot><a href=data.csv>data</a>")],
    "widget": [shown({"text/plain": "IntSlider(value=0)", "application/json": {}})],
    "error": [{"output_type": "error", "ename": "E", "evalue": "e", "traceback": ["\x1b[31mraised\x07\x1b[0m"]}],
    "comparison": [shown(Comparison("adding", "saving", "s", 1.0, 1.2, 1.1, 1.3))],
    "nothing": [],
}
WORDS = {  # that a reader sees of each
    "ansi": 'Model: "tiny" 12 parameters',
    "control characters": "ab d�� ",
    "progress bar": "100 %",
    "unicode": "e\u0301 😀 👩\u200d👧 עברית العربية 中文 \u202eleft",
    "entities": "non breaking line ©",
    "pandas": "a b 0 frame",
    "unclosed": "unclosed cell",
    "scripts": "script",
    "formula": "ab",
    "markdown": "mark down bold head row",
    "files": "plotdata",
    "widget": "IntSlider(value=0)",
    "error": "raised",
    "nothing": "",
}


def cells(**marks):
    """Return a cell for each output, which a build has made ready for pages."""
    found = []
    for name, outputs in OUTPUTS.items():
        cell = code(name, outputs=outputs, mystnb={"image": {"alt": name}}, **marks)
        found.append(cell | {"outputs": presentable(cell["outputs"])})
    return found


def page(**facts):
    return notebook(prose("# Awkward"), *cells(), prose("## After\n\nThe text after them."), code("1", "jax"), **facts)
