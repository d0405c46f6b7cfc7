"""The first Sphinx pass: what each label is called in the book, written to numbers.json.

Readers' notebooks hold plain Markdown. Where the source says {numref}`fig-x` they say "Fig. 2.1";
this module asks Sphinx for these words once all pages are read and numbered (builder `dummy`):

    refs           label -> "Fig. 2.1", "(2.1)" or the title of a section
    cites          key -> {"p": "Li et al., 2014", "t": "Li et al. (2014)"}
    bibliography   key -> the reference as one line of Markdown
    sections       page -> {"number": "1", "title": "Asynchronous Computation"}; "" if a notebook has no number
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from docutils import nodes
from pybtex.backends.markdown import Backend
from sphinx.application import Sphinx
from sphinx.builders import Builder
from sphinx.environment import BuildEnvironment

from d2l_lab.files import write_atomically


def references(env: BuildEnvironment) -> dict[str, str]:
    """Return the words for every figure, table, equation and section that has a label."""
    words = {}
    domain: Any = env.domains.standard_domain
    for label, (page, _, title) in domain.labels.items():
        if page in env.found_docs:
            words[label] = title
    for label, (page, anchor) in domain.anonlabels.items():
        for kind, numbers in env.toc_fignumbers.get(page, {}).items():
            if anchor in numbers:
                words[label] = env.config.numfig_format[kind] % _dotted(numbers[anchor])
    for label, (page, _) in env.domains["math"].equations.items():
        numbers = env.toc_fignumbers[page]["displaymath"]
        words[label] = f"({_dotted(numbers[nodes.make_id(f'equation-{label}')])})"
    return words


def _dotted(number: Sequence[int]) -> str:
    return ".".join(map(str, number))


def citations(env: BuildEnvironment, builder: Builder) -> dict[str, dict[str, str]]:
    """Return the words for every cited work, within brackets ("p") and within a sentence ("t")."""
    domain: Any = env.domains["cite"]
    words = {}
    for citation in domain.citations:
        page = citation.bibliography_key.docname
        words[citation.key] = {
            kind: domain.resolve_xref(env, page, builder, role, citation.key, nodes.inline(), None).astext()
            for kind, role in (("p", "alp"), ("t", "t"))
        }
    return words


class Markdown(Backend):
    """Markdown that a person likes to read: only what would change the text is escaped."""

    def format_str(self, text: str) -> str:
        """Return `text` with a backslash before each character that would begin markup."""
        return "".join(f"\\{letter}" if letter in r"\`*_[]<>" else letter for letter in text)


def bibliography(env: Any) -> dict[str, str]:
    """Return each cited work's line in the list of references, as Markdown."""
    markdown = Markdown()
    return {
        citation.key: " ".join(citation.formatted_entry.text.render(markdown).split())
        for citation in env.domains["cite"].citations
    }


def sections(env: BuildEnvironment) -> dict[str, dict[str, str]]:
    """Return number and title of every page that the landing page lists, but for those of the folder `back`."""
    return {
        page: {"number": _dotted(env.toc_secnumbers.get(page, {}).get("") or ()), "title": env.titles[page].astext()}
        for page in sorted(env.toctree_includes.get(env.config.root_doc, ()))
        if "/" not in page
    }


def write_numbers(app: Sphinx, failed: Exception | None) -> None:
    env = app.env
    if app.builder.name != "dummy" or failed:
        return
    found = {
        "refs": references(env),
        "cites": citations(env, app.builder),
        "bibliography": bibliography(env),
        "sections": sections(env),
    }
    text = json.dumps(found, indent=1, sort_keys=True, ensure_ascii=False)
    write_atomically(Path(app.config.d2l_numbers), text + "\n")


def setup(app: Sphinx) -> None:
    app.add_config_value("d2l_numbers", "", "")
    app.connect("build-finished", write_numbers)  # also where all that was read stands as it was
