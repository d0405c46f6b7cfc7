"""Compiled loops that measure a machine. The section on hardware teaches them; a test keeps both the same.

They release Python's lock, so that threads run them side by side. The first call of each compiles it.
"""

import numpy as np
from numba import njit


@njit(nogil=True)
def triad(a, b, c, s):
    """Set a = b + s · c, STREAM's fourth kernel: 2 flops and 3 words moved for each element. Arrays of one length."""
    for i in range(a.size):
        a[i] = b[i] + s * c[i]


@njit(nogil=True)
def chase(ring, place, steps):
    """Follow the ring for so many steps and return the place: each load waits for the one before it.

    No bounds are checked: `place` is that of a line which `lay_ring` has laid.
    """
    for _ in range(steps):
        place = ring[np.uint64(place)]  # no sign, so that numba looks for no negative place
    return place


@njit(nogil=True)
def lay_ring(ring, size):
    """Lay one cycle over all 64-byte lines in the first `size` bytes of `ring`, an array of int64, in a mixed order.

    `size` is a power of two, from 64 to the bytes of the ring; no bounds are checked. A linear congruential sequence
    visits each line once before it repeats (Hull and Dobell 1962: odd increment, multiplier one more than a multiple
    of 4), so that no table of random numbers is needed.
    """
    lines = size // 64
    for line in range(lines):
        ring[8 * line] = 8 * ((1_664_525 * line + 1_013_904_223) & (lines - 1))
