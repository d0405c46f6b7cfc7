"""A tiny project with one section that has everything a section may have."""

import io
import json
import os
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from book.__main__ import main

ROOT = Path(__file__).resolve().parent.parent
FRAMEWORKS = ["pytorch", "tensorflow", "jax", "mxnet"]

HEAD = """\
---
jupytext:
  text_representation:
    extension: .md
    format_name: myst
    format_version: 0.13
kernelspec:
  name: d2l-pytorch
  display_name: PyTorch
  language: python
---

"""

SECTION = (
    HEAD
    + """\
# Tiny

(first)=
## Adding

As {numref}`fig-sum` and {eq}`eq-sum` say, and {cite:t}`ada1843` said {cite:p}`ada1843,boole1854`, see {ref}`first`.
The next section is {doc}`other`, its {ref}`start <other-start>` too; `{eq}` is a role, $x$ a formula.

:::{figure} img/sum.svg
:name: fig-sum
:alt: "Two boxes: one sum"

Two numbers go in, see {eq}`eq-sum`.
:::

$$
z = x
  + y
$$ (eq-sum)

::::{admonition} Napkin: how much is {eq}`eq-sum`?
One and one.

$$
1 + 1
$$

:::{dropdown} Answer
It is **2**, as {eq}`eq-sum` says.

* two
:::
::::

| what | where |
|---|---|
| figure | {numref}`fig-sum` |
| `{numref}` | {numref}`fig-sum`, {eq}`eq-sum` |

```{code-cell} ipython3
import sys
print('one for all')
```

```{code-cell} ipython3
:tags: [pytorch]

word = 'torch'
```

```{code-cell} ipython3
:tags: [tensorflow, mxnet]

word = 'tensor'
```

```{code-cell} ipython3
:tags: [jax]
:alt: 'A picture: three points'

from IPython.display import SVG
word = 'jax'
SVG('<svg xmlns="http://www.w3.org/2000/svg"></svg>')
```

+++ {"tags": ["jax"]}

Only JAX: see {numref}`fig-sum`.

+++

For everyone.

```{code-cell} ipython3
:tags: [nbval-check-output]

print('word:', word)
print('✓ a word is there (6 letters, below 9)' if len(word) > 3 else '✗ a word is there (3 letters, above 3)')
```

```{code-cell} ipython3
:tags: [solution]

1 + 1
```

```{code-cell} ipython3
:tags: [raises-exception]

1 / 0
```

## References

:::{bibliography}
:filter: docname in docnames
:::
"""
)

NUMBERS = {
    "refs": {"fig-sum": "Fig. 1.1", "eq-sum": "(1.1)", "first": "Adding", "other-start": "Other"},
    "cites": {
        "ada1843": {"p": "Lovelace, 1843", "t": "Lovelace (1843)"},
        "boole1854": {"p": "Boole, 1854", "t": "Boole (1854)"},
        "knuth1968": {"p": "Knuth", "t": "Knuth"},
    },
    "bibliography": {
        "ada1843": "Lovelace. *Notes*. 1843.",
        "boole1854": "Boole. *Laws*. 1854.",
        "knuth1968": "Knuth. *Art*. 1968.",
    },
    "sections": {"tiny": {"number": "1", "title": "Tiny"}, "other": {"number": "2", "title": "Other"}},
}
MACHINE = {"cpu": "Tiny CPU", "cores": 2, "memory_gb": 8, "gpus": [], "system": "Tiny OS"}
SVG = '<svg xmlns="http://www.w3.org/2000/svg"><text>1 + 1</text></svg>'


class Project:
    """A project in the folder `root` whose four kernels are the Python that runs the tests."""

    def __init__(self, root, section=SECTION):
        self.root = root
        for framework in FRAMEWORKS:
            kernel = root / "jupyter" / "kernels" / f"d2l-{framework}" / "kernel.json"
            command = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
            self.write(kernel, json.dumps({"argv": command, "display_name": framework, "language": "python"}))
            self.write(root / "requirements" / f"{framework}.txt", f"{framework}==1\n")
        for module in ("__init__", "timing", "torch", "tensorflow", "jax", "mxnet"):
            self.write(root / "d2l_utils" / f"{module}.py", f"name = {module!r}\n")
        self.write(root / "notebooks" / "img" / "sum.svg", SVG)
        self.write(root / "notebooks" / "index.md", "# Index\n")
        self.write(root / "notebooks" / "references.bib", "")
        self.write(root / "_build" / "numbers.json", json.dumps(NUMBERS))
        self.write(root / "_build" / "machine.json", json.dumps({"machine": MACHINE}))
        self.section(section)

    def write(self, path, text):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def section(self, text, slug="tiny"):
        self.write(self.root / "notebooks" / f"{slug}.md", text)

    def code(self, *sources):
        """Make the section consist of these shared code cells and, since it must have one, a cell of each framework."""
        cells = "".join(f"\n```{{code-cell}} ipython3\n{source}\n```\n" for source in sources)
        last = f"\n```{{code-cell}} ipython3\n:tags: [{', '.join(FRAMEWORKS)}]\n\npass\n```\n"
        self.section(f"{HEAD}# Tiny\n{cells}{last}")

    def environment(self):
        return os.environ | {"JUPYTER_PATH": str(self.root / "jupyter"), "PYTHONPATH": str(ROOT)}

    def command(self, *arguments):
        return [sys.executable, "-m", "book", "--root", str(self.root), *map(str, arguments)]

    def call(self, *arguments):
        """Run `python -m book …`; return the finished process.

        Steps that start no kernel run inside this process, whose modules are there already.
        """
        if arguments[0] != "execute":
            said, cried = io.StringIO(), io.StringIO()
            with redirect_stdout(said), redirect_stderr(cried):
                try:
                    status = main(["--root", str(self.root), *map(str, arguments)])
                except SystemExit as end:
                    status = end.code
            return subprocess.CompletedProcess(arguments, status, said.getvalue(), cried.getvalue())
        return subprocess.run(
            self.command(*arguments), env=self.environment(), capture_output=True, text=True, timeout=100
        )

    def split(self, *frameworks):
        return self.call("split", "tiny", "--frameworks", *(frameworks or FRAMEWORKS))

    def execute(self, framework="jax", *options):
        return self.call("execute", self.path("notebooks", framework), *options)

    def merge(self, *frameworks):
        return self.call("merge", "tiny", "--frameworks", *(frameworks or FRAMEWORKS))

    def path(self, stage, framework="jax"):
        return self.root / "_build" / stage / framework / "tiny.ipynb"

    def read(self, stage, framework="jax"):
        return json.loads(self.path(stage, framework).read_text(encoding="utf-8"))

    def merged(self):
        return json.loads((self.root / "_build" / "book" / "tiny.ipynb").read_text(encoding="utf-8"))
