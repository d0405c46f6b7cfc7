"""Curves that grow: what is kept, how often they are drawn, and that one picture is left."""

import subprocess
import sys
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient
from pictures import only_svg

from d2l_utils.plots.animator import Animator


def test_points_are_kept_for_each_curve_and_none_is_left_out():
    animator = Animator(legend=["loss", "accuracy"])
    animator.add(1, (0.5, None))
    animator.add(2, [np.float32(0.25), np.array(0.75)])
    animator.add([3, 4], np.array([0.1, 0.9]))
    animator.add(None, (1, 1))
    assert animator.X == [[1, 2, 3], [2, 4]]
    assert [[0.5, 0.25, pytest.approx(0.1)], [0.75, pytest.approx(0.9)]] == animator.Y


def test_a_single_number_is_a_single_curve_and_another_number_of_curves_than_before_an_error():
    animator = Animator()
    animator.add(1, 5)
    animator.add(2, 6)
    assert (animator.X, animator.Y) == ([[1, 2]], [[5, 6]])
    with pytest.raises(ValueError, match="longer"):
        animator.add(2, (5, 6))


def test_without_jupyter_nothing_is_drawn():
    code = (
        "import sys; from d2l_utils.plots.animator import Animator; a = Animator(); a.add(1, 2); a.add(2, 3);"
        "print(a.Y, len(a.axes[0].lines), 'IPython' in sys.modules)"
    )
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    assert done.stdout == "[[2.0, 3.0]] 0 False\n"


START = """
from d2l_utils.plots import animator as module
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


class Client(NotebookClient):
    """Executes a notebook and counts the messages that show or change a picture, by cell, in `drawn`."""

    def process_message(self, msg, cell, cell_index):
        if msg["msg_type"] in ("display_data", "update_display_data"):
            self.drawn[cell_index].append(msg["msg_type"].removesuffix("_data"))
        return super().process_message(msg, cell, cell_index)


@pytest.fixture(scope="module")
def executed():
    """Messages and outputs of CELLS."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source) for source in CELLS])
    client = Client(notebook, timeout=60, kernel_name="python3", allow_errors=True)
    client.drawn = [[] for _ in CELLS]
    client.execute()
    return client.drawn, [cell.outputs for cell in notebook.cells]


def test_points_change_the_one_picture_of_their_cell_those_in_quick_succession_at_its_end(executed):
    drawn, outputs = executed
    assert drawn[:2] == [["display"] + ["update_display"] * 7, ["display", "update_display"]]
    alts = [only_svg(pictures).metadata["image/svg+xml"]["alt"] for pictures in outputs[:2]]
    assert alts[0] == "Plot of loss over epoch: train from 1 to 0.125; test from 2 to 0.286."
    assert "train from 1 to 6;" in alts[1]  # the later cells changed it too


def test_later_cells_change_the_picture_even_where_they_fail(executed):
    drawn, outputs = executed
    assert drawn[2:4] == [["update_display"], ["update_display"]]
    assert outputs[2] == []
    assert [output.ename for output in outputs[3] + outputs[4]] == ["KeyError", "ValueError"]
