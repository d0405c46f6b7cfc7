"""What all four modules share works on each framework's own arrays."""

import numpy as np
import pytest


@pytest.mark.parametrize(("value", "mark"), [(0.25, "✓"), (0.75, "✗")])
def test_an_array_without_axes_can_be_claimed_about(value, mark, d2l, array, monkeypatch, capsys):
    monkeypatch.delenv("D2L_STRICT_CLAIMS", raising=False)
    x = array(np.float32(value))
    d2l.claim("it is small", x, below=0.5)
    d2l.claim("it is small", lambda: x, below=0.5)
    assert [line[0] for line in capsys.readouterr().out.splitlines()] == [mark, mark]


@pytest.mark.parametrize(("value", "mark"), [(0.25, "✓"), (0.75, "✗")])
def test_a_comparison_of_arrays_can_be_claimed(framework, value, mark, d2l, array, monkeypatch, capsys):
    monkeypatch.delenv("D2L_STRICT_CLAIMS", raising=False)
    d2l.claim("it is small", array(np.float32(value)) < 0.5)
    assert capsys.readouterr().out == f"{mark} it is small\n"


def test_an_array_with_axes_cannot_be_claimed_about(d2l, array):
    with pytest.raises(TypeError, match=r"array of shape \(2, 3\)"):
        d2l.claim("they are small", array(np.ones((2, 3), "float32")), below=2)


@pytest.mark.parametrize("shape", [(4,), (2, 4)])
def test_arrays_of_the_framework_are_plotted_as_numpy_arrays_are(shape, d2l, array):
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")
    x, y = np.arange(4, dtype="float32"), np.arange(np.prod(shape), dtype="float32").reshape(shape)
    figure, (ours, reference) = plt.subplots(2)
    d2l.plot(array(x), array(y), axes=ours)
    d2l.plot(x, y, axes=reference)
    for a, b in zip(ours.lines, reference.lines, strict=True):
        np.testing.assert_array_equal(a.get_xydata(), b.get_xydata())
    d2l.plot([array(np.float32(1)), array(np.float32(2))], axes=ours)
    assert ours.lines[0].get_ydata().tolist() == [1, 2]
    plt.close(figure)


def test_a_timed_product_of_the_framework_takes_time(d2l, array):
    x = array(np.ones((200, 200), "float32"))
    candidates = {"sum": lambda: d2l.synchronize(x + x), "product": lambda: d2l.synchronize(x @ x)}
    measured = d2l.compare(candidates, repeats=3)
    assert all(0 < m.low <= m.median <= m.high < 1 for m in measured.values())
