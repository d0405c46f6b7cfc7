"""Cases for the exercises on kernels: the sets of a cache, the tiles of a mask, and rows of integers."""

from typing import Any

import numpy as np

from d2l_lab.exercises.answers import Case

VISITED = "count the sets that the column visits before it comes back to the first one"
LAST = "the last query of a tile sees the most keys: its position decides which tiles remain"
ROWS = "each row has a scale of its own, with which its largest number becomes 127 or −127"

W = np.random.default_rng(0).standard_normal((6, 40)) * np.logspace(-3, 2, 6)[:, None]


def is_near(found: Any) -> bool:
    """Return whether integers and scales give W but for half a scale."""
    integers, scale = found
    return bool(
        (abs(np.asarray(integers, dtype=float) * np.asarray(scale)[:, None] - W) < 0.501 * scale[:, None]).all()
    )


CASES = {
    "lines_kept": (
        Case(
            (1, 64, 8),
            512,
            "neighbouring lines visit every set, and each set holds as many lines as it has ways",
        ),
        Case((64, 64, 8), 8, "a stride of as many lines as there are sets comes back to the same set at once"),
        Case((248, 64, 8), 64, VISITED),
        Case((255, 64, 8), 512, "a stride that shares no factor with the number of sets visits all of them"),
        Case((256, 1024, 16), 64, VISITED),
    ),
    "tiles_left": (
        Case((4, 2, 2), 3, "of two tiles by two, the mask covers the one above the diagonal whole"),
        Case((12, 6, 4), 5, LAST),
        Case((4224, 6, 128), 11979, LAST),
        Case((8, 8, 2), 4, "with all queries in one tile nothing is left out, for its last query sees every key"),
    ),
    "round_rows": (
        Case((W,), lambda found: np.asarray(found[0]).shape == W.shape and len(found[1]) == 6, ROWS),
        Case((W,), lambda found: (abs(np.asarray(found[0], dtype=int)).max(axis=1) == 127).all(), ROWS),
        Case((W,), is_near, "round to the nearest integer, where a conversion to int8 alone cuts off"),
        Case((W,), lambda found: np.asarray(found[0]).dtype == np.int8, "store the integers in a byte each"),
    ),
}
