"""Settings of the book, for both passes of Sphinx.

python -m sphinx -b dummy -c book/pages notebooks _build/dummy     reads the sources, writes numbers.json
python -m sphinx -b html -c book/pages _build/book _build/html     reads the merged notebooks, writes the pages
"""

import gc
import sys
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
BUILD = ROOT / "_build"
sys.path.insert(0, str(ROOT))
import book  # noqa: E402

book.keep_grammars_out()  # myst_nb imports nbformat
gc.disable()  # nearly all that a pass makes lives to its end: looking for garbage would take a third of its time

project = "Computational Performance"
version = book.project()["project"]["version"]
html_title = project
language = "en"
extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton", "sphinxcontrib.bibtex", "book.pages"]
templates_path = ["_templates"]
include_patterns = ["*.md", "*.ipynb", "*/*.md", "*/*.ipynb"]  # the first pass is told the names of the sources
exclude_patterns = [".*", "**/.*"]
d2l_numbers = str(BUILD / "numbers.json")
d2l_notebooks = str(BUILD / "notebooks")
d2l_machine = str(BUILD / "machine.json")

# Every page lists the works that it cites, so that a section can be read on its own:
# a work cited on two pages stands in two lists, which sphinxcontrib-bibtex would warn of.
suppress_warnings = ["bibtex.duplicate_citation"]

source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}
nb_execution_mode = "off"
nb_render_text_lexer = "myst-ansi"  # whose colours book.css has
nb_render_markdown_format = "gfm"  # tables in the Markdown that a cell displays
myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist", "fieldlist", "attrs_inline"]
myst_dmath_double_inline = False
numfig = True
numfig_format = {"figure": "Fig. %s", "table": "Table %s", "code-block": "Listing %s", "section": "Section %s"}
numfig_secnum_depth = 1
math_numfig = True
math_eqref_format = "({number})"
html_math_renderer = "mathml"

bibtex_bibfiles: list[str] = []  # book.pages.bibliography finds it beside the pages
bibtex_default_style = "chapter"
bibtex_reference_style = "round_author_year"

html_theme = "furo"
pygments_style = "a11y-light"
pygments_dark_style = "a11y-dark"
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#1f5f99",
        "color-brand-content": "#1f5f99",
        "color-foreground-primary": "#1b1f24",
        "color-highlight-on-target": "#f3f0e0",
        "color-code-background": "#f5f6f8",
        "admonition-font-size": ".9375rem",
        "admonition-title-font-size": ".9375rem",
    },
    "dark_css_variables": {
        "color-brand-primary": "#86bce8",
        "color-brand-content": "#86bce8",
        "color-highlight-on-target": "#2c2a1e",
        "color-code-background": "#1b1d21",
    },
}
html_context = {"framework_titles": book.FRAMEWORKS}  # for the switch
html_static_path = ["_static"]
html_css_files = ["book.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("book.js", "words.js")]
html_favicon = "_static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_permalinks_icon = "#"
html_domain_indices = False
html_use_index = False
html_show_copyright = False
copybutton_selector = "div.cell_input pre, div.highlight-sh pre"
copybutton_prompt_text = "$ "


def leave_out_styles(app: Sphinx, page: str, template: str, context: dict[str, Any], doctree: object) -> None:
    """Drop MyST-NB's style sheet: its colours fail the contrast of WCAG AA; book.css draws cells instead."""
    sheets = context.get("css_files", ())
    context["css_files"] = [sheet for sheet in sheets if "mystnb" not in str(sheet.filename)]


def keep_outputs_with_doctrees(app: Sphinx) -> None:
    """Have MyST-NB put the pictures of cells beside the doctrees that name them, not among the pages."""
    config = app.env.mystnb_config  # type: ignore[attr-defined]
    app.env.mystnb_config = config.copy(output_folder=f"{app.doctreedir}/outputs")  # type: ignore[attr-defined]


def setup(app: Sphinx) -> None:
    app.connect("builder-inited", keep_outputs_with_doctrees, priority=900)  # after MyST-NB
    app.connect("html-page-context", leave_out_styles)
