"""The pages: an extension of Sphinx, which registers what its modules add."""

from importlib import import_module
from typing import Any

from sphinx.application import Sphinx

EXTENSIONS = (
    "language bibliography maths page_info cell_outputs file_cells records.record_nodes records.claims_page "
    "records.running_total records.models_page solutions explorable tabs single_framework endnotes ereader glossary "
    "short_path lists problems checklist api machine_profile numbering search_texts address leavings"
)


def setup(app: Sphinx) -> dict[str, Any]:
    """Let each module register what it has; `env_version` rises when one notes something else of a page."""
    for name in EXTENSIONS.split():
        import_module(f"{__name__}.{name}").setup(app)
    # A page is not read in a forked process: V8, which sets the formulas, hangs there.
    return {"env_version": 5, "parallel_read_safe": False}
