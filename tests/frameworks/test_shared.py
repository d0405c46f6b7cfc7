"""What all four modules share works on each framework's own arrays."""

import numpy as np
import pytest

from d2l_utils.common import D2L_NAMES, NAMES


def test_every_name_is_there_and_no_other(d2l):
    assert [name for name in NAMES + D2L_NAMES if not hasattr(d2l, name)] == []
    with pytest.raises(AttributeError, match="'d2l_utils.* has no attribute 'nothing'"):
        d2l.nothing  # noqa: B018


def test_an_array_with_axes_cannot_be_claimed_about(d2l, array):
    with pytest.raises(TypeError, match=r"array of shape \(2, 3\)"):
        d2l.claim("they are small", array(np.ones((2, 3), "float32")), below=2)
