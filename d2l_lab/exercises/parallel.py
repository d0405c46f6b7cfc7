"""Cases for the exercises on several devices and machines: data and model parallelism, servers, and scaling out."""

from collections.abc import Callable
from typing import Any

import numpy as np

from d2l_lab.exercises.answers import Case, Guess


def _weights_are(*wanted: float) -> Callable[[Any], bool]:
    """Return whether weights are these, whichever device has the larger part."""
    return lambda found: np.allclose(sorted(found), sorted(wanted))


def _shares_are(*wanted: list[str]) -> Callable[[Any], bool]:
    """Return whether servers hold parts of these keys: for each server, the keys in order."""
    return lambda found: [sorted(name for name, _ in share) for share in found] == list(wanted)


def _all_rows(values: dict[str, Any]) -> Callable[[Any], bool]:
    """Return whether the servers hold all rows of all arrays, each once."""

    def hold(found: Any) -> bool:
        for name, array in values.items():
            parts = [part for share in found for (key, _), part in share.items() if key == name]
            if not np.array_equal(np.sort(np.concatenate(parts), axis=0), array):
                return False
        return True

    return hold


def _nearly_equal(found: Any) -> bool:
    """Return whether the parts of each array differ by no more than one row."""
    rows: dict[str, list[int]] = {}
    for share in found:
        for (name, _), part in share.items():
            rows.setdefault(name, []).append(len(part))
    return all(max(lengths) - min(lengths) <= 1 for lengths in rows.values())


def _numbered(found: Any) -> bool:
    """Return whether the number in each key is that of its server."""
    return all(number == server for server, share in enumerate(found) for _, number in share)


SMALL = {"W": np.arange(8.0).reshape(4, 2), "b": np.arange(4.0)}
UNEVEN = {"W": np.arange(14.0).reshape(7, 2), "b": np.arange(5.0)}
LATE = np.array([[1.0, 2, 9], [1, 2, 1]])
AWAY = np.array([[1.0, 1, 4], [1, 1, 4], [1, 1, 4], [1, 4, 1]])
LLAMA = (10, 11_136)  # seconds of a checkpoint, and between failures

GUESSES = {
    "halves": Guess("", "which part of a step with many examples is halved, and do two halves at once share anything?"),
    "buckets": Guess(
        "s", "the link works while later layers are computed: when is the last bucket ready, and when across?"
    ),
    "ahead": Guess(
        "s", "how many steps can the others take before the bound, and at whose pace do they go on after it?"
    ),
    "micro_batches": Guess("s", "the first stage is busy for all micro-batches; what is left to do when it has ended?"),
    "away": Guess("", "multiply how many workers begin a pause each second by the seconds for which it lasts"),
}

CASES = {
    "sharded": (
        Case((1, 10, 1, 2), lambda found: found[0] == 200, "each device stores a k-th of the weights, 4 bytes each"),
        Case((1, 10, 1, 1), (400, 0), "one device alone has nobody to send to"),
        Case(
            (1, 10, 1, 2), (200, 600), "count all that travels in a step: weights forward and backward, and gradients"
        ),
        Case((8, 4096, 1024, 8), (67_108_864, 1_409_286_144), "every part that a device lacks has to come to it"),
    ),
    "example_weights": (
        Case((3,), lambda found: len(found) == 3, "each example has a weight of its own, also on the same device"),
        Case((4,), [0.25] * 4, "a device's mean counts half in the end: with equal parts all examples count alike"),
        Case(
            (3,), _weights_are(1 / 4, 1 / 4, 1 / 2), "both means count the same, but one is taken over fewer examples"
        ),
        Case((61,), _weights_are(*[1 / 62] * 31, *[1 / 60] * 30), "of an odd number one device takes one example more"),
    ),
    "end": (
        Case((20,), 3.65e-3, "a single bucket starts when all layers are ready, and pays one latency and all bytes"),
        Case((10,), 2.85e-3, "while the first bucket crosses, the next layers are computed: do not add up the two"),
        Case((1,), 2.7e-3, "a bucket that is ready waits until the one before it has crossed"),
        Case((3,), 2.3e-3, "20 is no multiple of 3: what does the last bucket hold, and when is it ready?"),
    ),
    "weak_scaling": (
        Case(((800, 0.5), (100, 0.5), 8), lambda found: found[0] >= 1, "a gain is the old time over the new one"),
        Case(((800, 0.5), (100, 0.5), 8), (8, 1), "eight times sooner with eight devices: none of their work is lost"),
        Case(((4000, 0.5), (900, 0.5), 8), (40 / 9, 5 / 9), "what share of a gain of k is left for each device?"),
        Case(
            ((4000, 0.5), (900, 0.6), 8), (100 / 27, 25 / 54), "fewer updates help less where each of them takes longer"
        ),
    ),
    "enough": (
        Case(
            (8,), lambda found: 7 / (found + 7) < 0.1, "with so few the bubble is a tenth or more: it has to be below"
        ),
        Case((8,), 64, "fewer would do: look for the smallest number"),
        Case((1,), 1, "a single stage never waits"),
        Case((16,), 136, "the number depends on the stages: how many of them wait for the first micro-batch?"),
    ),
    "interleaving": (
        Case((4, 3, 2), lambda found: found >= 1, "a gain is the time without over the time with, at least 1"),
        Case((4, 3, 1), 1, "with one stage on each device nothing changes"),
        Case((2, 3, 2), lambda found: found < 2, "the work takes as long as before: only the waiting shrinks"),
        Case((2, 3, 2), 4 / 3, "the bubble is a share of the step, which itself gets shorter: compare seconds"),
        Case((9, 8, 2), 1.28, "the empty time falls with the number of micro-batches, too"),
    ),
    "crossing": (
        Case((4, 1, 1), 0.8, "there both take equally long: solve for the bytes, and neglect no term of either"),
        Case((4, 14e-6, 12.5e9), 0.8 * 175_000, "only latency times bandwidth has the unit of bytes"),
        Case(
            (64, 14e-6, 12.5e9), 57 * 64 / 321 * 175_000, "the ring's latency grows with n, and the tree's with log n"
        ),
        Case((5, 14e-6, 12.5e9), 175_000 / 2.2, "a tree of five ranks is as high as one of eight"),
    ),
    "cut": (
        Case((SMALL, 2), _shares_are(["W", "b"], ["W", "b"]), "every server gets a part of every array, with its key"),
        Case((SMALL, 2), _numbered, "the second half of a key says which part it is, counted from 0"),
        Case((UNEVEN, 3), _all_rows(UNEVEN), "no row may be lost or held twice where the rows do not divide evenly"),
        Case((UNEVEN, 3), _nearly_equal, "spread the rows that are left over: parts differ by no more than one row"),
    ),
    "backed_up": (
        Case((LATE[:1], 2), lambda found: len(found) == 2, "the start, 0, comes before the ends of the steps"),
        Case((LATE[:, :2], 2), [0, 2, 4], "without backups a step ends when its slowest worker does"),
        Case((LATE[:1], 2), [0, 2], "m gradients are enough: nobody waits for the ones that come later"),
        Case(
            (LATE, 2), [0, 2, 4], "a late worker first finishes what it has begun: when is it free for the next step?"
        ),
        Case((AWAY, 2), [0, 1, 2, 3, 5], "a worker that comes back takes up the current step, not those it has missed"),
    ),
    "lost_share": (
        Case((1000, 10, 1e9, 0), lambda found: round(found, 4) == 0.01, "where nothing fails, only saving costs time"),
        Case(
            (1000, 0, 10_000, 0),
            0.05,
            "a failure strikes anywhere between two checkpoints: how much is lost on average?",
        ),
        Case((1000, 0, 10_000, 500), 0.1, "a restart takes its time once a failure, not once a checkpoint"),
        Case((500, *LLAMA, 600), 10 / 500 + 850 / 11_136, "add up the shares: saving, work done again, restarts"),
    ),
}
