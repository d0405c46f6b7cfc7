"""What all four modules share works on each framework's own arrays."""

import numpy as np
import pytest

from d2l_utils.common import NAMES


def test_every_name_is_there_and_no_other(d2l):
    assert [name for name in NAMES if not hasattr(d2l, name)] == []
    with pytest.raises(AttributeError, match="'d2l_utils.* has no attribute 'nothing'"):
        d2l.nothing  # noqa: B018


@pytest.mark.parametrize(("value", "mark"), [(0.25, "✓"), (0.75, "✗")])
def test_an_array_without_axes_can_be_claimed_about(value, mark, d2l, array, monkeypatch, capsys):
    monkeypatch.delenv("D2L_TEST", raising=False)  # which would make a claim that misses an error
    x = array(np.float32(value))
    for observed, bounds in ((x, {"below": 0.5}), (x < 0.5, {})):
        d2l.claim("it is small", observed, **bounds)
    assert [line[0] for line in capsys.readouterr().out.splitlines()] == [mark] * 2


def test_an_array_with_axes_cannot_be_claimed_about(d2l, array):
    with pytest.raises(TypeError, match=r"array of shape \(2, 3\)"):
        d2l.claim("they are small", array(np.ones((2, 3), "float32")), below=2)


def test_arrays_of_the_framework_are_plotted_as_numpy_arrays_are(d2l, array):
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    x, y = np.arange(4, dtype="float32"), np.arange(8, dtype="float32").reshape(2, 4)
    numbers = [array(np.float32(1)), array(np.float32(2))]
    figure, axes = plt.subplots()
    expected = [[[*zip(x, y[0], strict=True)]], [[*zip(x, each, strict=True)] for each in y], [[(0, 1), (1, 2)]]]
    for arguments, curves in zip([(array(x), array(y[0])), (array(x), array(y)), (numbers,)], expected, strict=True):
        d2l.plot(*arguments, axes=axes)
        assert [[*map(tuple, line.get_xydata())] for line in axes.lines] == curves
    plt.close(figure)
