"""A tiny project with one section that has everything a section may have.

`python tests/tiny.py …` is `python -m book …` with the numbers below, so that no test waits for Sphinx's first pass.
"""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from unittest.mock import patch

from book import FRAMEWORKS, MODULES, ROOT, keep_grammars_out
from book.__main__ import main
from book.layout import Edition
from book.run_keys import settings
from book.words import set_language

OTHERS = [name for name in FRAMEWORKS if name not in ("pytorch", "jax")]  # a cell that they share
GOLDEN = ROOT / "tests" / "book" / "golden"
SECTION = (GOLDEN / "section.md").read_text(encoding="utf-8").replace("OTHERS", ", ".join(OTHERS))
HEAD = SECTION[: SECTION.index("# Tiny")]
NUMBERS = json.loads((GOLDEN / "numbers.json").read_text(encoding="utf-8"))  # as Sphinx would find them
MACHINE = {"cpu": "Tiny CPU", "cores": 2, "memory_gb": 8, "gpus": [], "system": "Tiny OS"}
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>1 + 1</text></svg>'
PROFILE = f"""
import json, os, pathlib, sys
path = pathlib.Path(os.environ["D2L_MACHINE_PROFILE"])
profile = json.loads(path.read_text()) if path.exists() else {{"machine": {MACHINE}, "frameworks": {{}}}}
if sys.argv[1] not in profile["frameworks"]:
    profile["frameworks"][sys.argv[1]] = {{"dispatch": 1, "threads": os.environ.get("OMP_NUM_THREADS")}}
    path.write_text(json.dumps(profile))
"""


class Project:
    """A project in the folder `root` whose kernels are the Python that runs the tests."""

    def __init__(self, root, section=SECTION):
        self.root, self.profile = root, root / "_build" / "machine.json"
        for framework in FRAMEWORKS:
            self.kernel(framework)
        for name in ("__init__", "timing", *(f"{module}/__init__" for module in MODULES.values())):
            self.write(f"d2l_utils/{name}.py", f"def name():\n    return {name!r}\n")
        for package in ("d2l_lab", "d2l_lab/machine"):
            self.write(f"{package}/__init__.py", "")
        self.write("d2l_lab/machine/measuring.py", PROFILE)
        self.write("notebooks/img/sum.svg", SVG)
        self.write("notebooks/index.md", "# Index\n")
        self.write("notebooks/references.bib", "")
        self.section(section)

    def kernel(self, framework, **settings):
        """Register the kernel of `framework`, which gets these environment variables."""
        command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
        about = {"argv": command, "display_name": framework, "language": "python", "env": settings}
        self.write(f"jupyter/kernels/d2l-{framework}/kernel.json", json.dumps(about))

    def write(self, path, text):
        path = self.root / path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def section(self, text, slug="tiny"):
        self.write(f"notebooks/{slug}.md", text)

    def code(self, *sources, slug="tiny"):
        """Make the section consist of these shared code cells and, since it must have one, a cell of each framework."""
        self.section(section_of(*sources), slug)

    def environment(self):
        """Return the environment of a build: without what the tests' own environment would decide."""
        decisive = settings(os.environ, self.root)
        kept = {name: value for name, value in os.environ.items() if name not in decisive}
        return kept | {"JUPYTER_PATH": str(self.root / "jupyter"), "PYTHONPATH": str(ROOT)}

    def command(self, *arguments):
        return [sys.executable, __file__, *map(str, arguments), "--root", str(self.root)]

    def here(self, *arguments, **variables):
        """Run `python -m book …` within this process, for what starts no kernel; return what a process would.

        Its environment has these variables, too.
        """
        out, err = io.StringIO(), io.StringIO()
        with (
            redirect_stdout(out),
            redirect_stderr(err),
            patch.dict(os.environ, self.environment() | variables, clear=True),
        ):
            status = numbered([*map(str, arguments), "--root", str(self.root)])
        set_language(Edition(ROOT))  # English again, for the tests that follow
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())

    def make(self, *arguments, framework="jax"):
        """Run a step for a framework like `here`; return what it printed, after a look whether all went well."""
        done = self.here(*arguments, "--frameworks", framework)
        assert (done.returncode, done.stderr) == (0, "")
        return done.stdout

    def build(self, *frameworks, options=()):
        command = self.command("build", "--frameworks", *(frameworks or ["jax"]), *options)
        return subprocess.run(command, env=self.environment(), capture_output=True, text=True, timeout=100)

    def path(self, stage, framework="jax", slug="tiny"):
        return self.root / "_build" / stage / framework / f"{slug}.ipynb"

    def read(self, stage, framework="jax", slug="tiny"):
        return json.loads(self.path(stage, framework, slug).read_text(encoding="utf-8"))

    def printed(self, framework="jax", slug="tiny"):
        outputs = [output for cell in self.read("executed", framework, slug)["cells"] for output in cell["outputs"]]
        return [output["text"] for output in outputs if "text" in output]

    def merged(self, slug="tiny"):
        return json.loads((self.root / "_build" / "book" / f"{slug}.ipynb").read_text(encoding="utf-8"))


def section_of(*sources):
    """Return the text of a section with these shared code cells and one cell of each framework."""
    cells = "".join(f"\n```{{code-cell}} ipython3\n{source}\n```\n" for source in sources)
    return f"{HEAD}# Tiny\n{cells}\n```{{code-cell}} ipython3\n:tags: [{', '.join(FRAMEWORKS)}]\n\npass\n```\n"


def numbered(arguments):
    with patch("book.sources.number", lambda *_: NUMBERS):
        return main(arguments)


if __name__ == "__main__":
    keep_grammars_out()
    sys.exit(numbered(sys.argv[1:]))
