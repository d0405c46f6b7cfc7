"""Curves that grow: what is kept, how often they are drawn, and that one picture is left."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from pictures import only_svg

from d2l_utils.d2l_names.animator import Animator


def test_points_are_kept_for_each_curve_and_another_number_of_curves_than_before_is_an_error():
    animator = Animator()
    numbers = [np.float32(0.25), np.array(0.75)]
    for point in ((1, (0.5, None)), (2, numbers), ([3, 4], np.array([2.0, 4])), (None, (1, 1))):
        animator.add(*point)
    assert (animator.X, animator.Y) == ([[1, 2, 3], [2, 4]], [[0.5, 0.25, 2], [0.75, 4]])
    with pytest.raises(ValueError, match="longer"):
        animator.add(2, (5, 6, 7))


def test_without_jupyter_nothing_is_drawn_and_nothing_of_it_imported():
    code = (
        "import sys; from d2l_utils.d2l_names.animator import Animator; a = Animator(); a.add(1, 2); a.add(2, 3);"
        "print(a.Y, len(a.axes[0].lines), {'IPython', 'matplotlib_inline', 'sphinx'} & set(sys.modules))"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[[2.0, 3.0]] 0 set()\n"


START = """
from d2l_utils.d2l_names import animator as module
module.PAUSE = {pause}
animator = module.Animator("epoch", "loss", ["train", "test"], xlim=[1, 8])
for epoch in range(1, 9):
    animator.add(epoch, (1 / epoch, 2 / epoch if epoch % 2 else None))
"""
CELLS = [
    START.format(pause=0),
    START.format(pause=60),
    "for epoch in (9, 10): animator.add(epoch, (5, None))",
    "animator.add(11, (6, None)); raise KeyError",
    "animator.add(12, ('seven', None))",
]


@pytest.mark.slow
def test_points_change_the_one_picture_those_in_quick_succession_when_their_cell_ends_or_fails(executed):
    drawn, outputs = executed(*CELLS)
    assert drawn[0] == ["display"] + ["update_display"] * 7
    assert drawn[1:4] == [["display", "update_display"], ["update_display"], ["update_display"]]
    alts = [only_svg(pictures).metadata["image/svg+xml"]["alt"] for pictures in outputs[:2]]
    assert alts[0] == "Plot of loss over epoch: train from 1 to 0.125; test from 2 to 0.286."
    assert "train from 1 to 6;" in alts[1]  # the later cells changed it too
    assert outputs[2] == []
    assert [output.ename for output in outputs[3] + outputs[4]] == ["KeyError", "ValueError"]
