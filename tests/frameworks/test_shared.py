"""What all four modules share works on each framework's own arrays."""

import numpy as np
import pytest


@pytest.fixture(autouse=True)
def _lenient(monkeypatch):
    monkeypatch.delenv("D2L_CLAIMS_FILE", raising=False)


@pytest.mark.parametrize(("value", "mark"), [(0.25, "✓"), (0.75, "✗")])
def test_an_array_without_axes_can_be_claimed_about(value, mark, d2l, array, capsys):
    x = array(np.float32(value))
    d2l.claim("it is small", x, below=0.5)
    d2l.claim("it is small", lambda: x, below=0.5)
    d2l.claim("it is small", x < 0.5)
    assert [line[0] for line in capsys.readouterr().out.splitlines()] == [mark] * 3


def test_an_array_with_axes_cannot_be_claimed_about(d2l, array):
    with pytest.raises(TypeError, match=r"array of shape \(2, 3\)"):
        d2l.claim("they are small", array(np.ones((2, 3), "float32")), below=2)


@pytest.mark.parametrize("shape", [(4,), (2, 4)])
def test_arrays_of_the_framework_are_plotted_as_numpy_arrays_are(shape, d2l, array):
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    x, y = np.arange(4, dtype="float32"), np.arange(np.prod(shape), dtype="float32").reshape(shape)
    figure, axes = plt.subplots()
    d2l.plot(array(x), array(y), axes=axes)
    drawn = [line.get_xydata().T.tolist() for line in axes.lines]
    assert drawn == [[x.tolist(), curve.tolist()] for curve in y.reshape(-1, 4)]
    d2l.plot([array(np.float32(1)), array(np.float32(2))], axes=axes)
    assert axes.lines[0].get_ydata().tolist() == [1, 2]
    plt.close(figure)
