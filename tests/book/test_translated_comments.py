"""Comments and docstrings are translated where they stand, and no other character of the code."""

import pytest

from book.translations import comments

PYTHON = '''\
# Two lines that
# say one thing.
step = "# no comment"  # a step


def run(n):
    """Run ‘n’ steps,
    and return them.

    >>> run(2)  # an example
    2

    Nothing waits.
    """
    # inside
    return n


class Timer:
    "One line."
'''
IN_CHINESE = '''\
# 甲
# 乙
step = "# no comment"  # 一步


def run(n):
    """甲
    乙

    >>> run(2)  # an example
    2

    Nothing waits.
    """
    # inside
    return n


class Timer:
    "一行。"
'''
TEXTS = ["Two lines that say one thing.", "a step", "Run ‘n’ steps, and return them.", "Nothing waits.", "inside"]
TEXTS += ["One line."]
TRANSLATIONS = {TEXTS[0]: "甲\n乙", "a step": "一步", TEXTS[2]: "甲\n乙", "One line.": "一行。"}
C = '%%writefile -a one.cc\nchar *a = "http://x";  // an address\n'
SOURCE = f"""\
# Title

```{{code-cell}} ipython3
{PYTHON}
```

Prose that shows a script:

```sh
#!/bin/bash
#SBATCH --nodes=2
# on the first machine
ssh node1 'echo # no comment'
```

:::{{dropdown}} More
```python
rank = 0  # 0 here
```
:::

```{{code-cell}} ipython3
{C.rstrip()}
```
"""


def test_a_unit_is_a_comment_or_a_paragraph_of_a_docstring():
    assert comments.extract(SOURCE) == [*TEXTS, "on the first machine", "0 here", "an address"]


def test_each_is_translated_where_it_stands():
    assert comments.apply_to_cell(PYTHON, TRANSLATIONS.get) == IN_CHINESE
    assert comments.apply_to_cell(C, {"an address": "地址"}.get) == C.replace("an address", "地址")
    translations = {"on the first machine": "在第一台机器上", "0 here": "这里是 0", "inside": "里面"}
    expected = SOURCE
    for text in ("on the first machine", "0 here"):
        expected = expected.replace(text, translations[text])
    assert comments.apply_to_fences(SOURCE, translations.get) == expected


@pytest.mark.parametrize("code", [PYTHON, C, "%%bash\n# why\nls\n", "%matplotlib inline\nx = 1\n"])
def test_what_has_no_translation_stays(code):
    assert comments.apply_to_cell(code, lambda text: None) == code
