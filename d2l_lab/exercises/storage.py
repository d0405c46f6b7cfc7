"""Cases for the exercises on numbers and where they are kept: memory and precision, hardware, the transformer."""

from typing import Any

import numpy as np

from d2l_lab.exercises.answers import Case, Guess

ONES = np.ones(2**14, np.float16)
GOOD, OVERFLOWN = np.ones(2, np.float16), np.array([1, np.inf], np.float16)
SIGNS = "an infinity has a sign, and a sum of infinities can be no number at all"

MATRIX = np.arange(24.0).reshape(4, 6)

TABLE = 10 * np.arange(6)[:, None] + np.arange(3)

RNG = np.random.default_rng(0)
Q, K, V = RNG.normal(size=(5, 4)), RNG.normal(size=(12, 4)), RNG.normal(size=(12, 3))
LOW = np.full((1, 4), 30.0), -100 * abs(K)


def _attention(q: Any, k: Any, v: Any) -> Any:
    """Return the attention of one head in the plain form, safe from overflow."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    weights = np.exp(scores - scores.max(axis=1, keepdims=True))
    return weights @ v / weights.sum(axis=1, keepdims=True)


def _transposes(x: Any, side: int, hint: str) -> Case:
    """Return a case for the transpose of a matrix in tiles."""
    return Case((x, side), lambda found: np.array_equal(found, x.T), hint)


def _looks_up(rows: list[int], hint: str) -> Case:
    """Return a case for rows of the table in a batch's order."""
    return Case((TABLE, np.array(rows)), lambda found: np.array_equal(found[1], TABLE[rows]), hint)


def _attends(q: Any, k: Any, tile: int, hint: str) -> Case:
    """Return a case for attention from tiles."""
    return Case((q, k, V, tile), _attention(q, k, V), hint)


GUESSES = {
    "copy_seconds": Guess(
        "s", "count the arrays that the core has to fetch, and divide their bytes by its own bandwidth"
    ),
    "kept": Guess("", "by how many standard deviations does the mean of the last look exceed what chance gives?"),
    "lost_steps": Guess("", "follow the scale once it has grown: how many good steps lie between two that overflow?"),
}

CASES = {
    "sum16": (
        Case((np.arange(4).astype(np.float16),), 6, "every number of the array enters the sum once"),
        Case((ONES,), 2**14, "from 2048 on, adding 1 changes nothing: how large must a term be to count?"),
        Case(
            (np.array([2048, 1], np.float16),), 2048, "the exact sum is no float16: which type have your partial sums?"
        ),
        Case(
            (np.float16(0.9) * ONES,),
            lambda found: abs(float(found) / 14_744 - 1) < 0.007,
            "the error is too large: how many additions does each number go through?",
        ),
    ),
    "adapt": (
        Case(
            (1024.0, 3, GOOD), (1024, 4), "a good step is counted, and the scale stays until there are enough of them"
        ),
        Case((1024.0, 6, OVERFLOWN), lambda found: found[0] == 512, "a single number that overflows spoils the step"),
        Case(
            (1024.0, 6, OVERFLOWN), (512, 0), "good steps have to follow each other: how many are there after a skip?"
        ),
        Case((1024.0, 8, GOOD), (1024, 9), "this is the ninth good step, one too few"),
        Case((1024.0, 9, GOOD), lambda found: found[0] == 2048, "the step at hand counts: it is the tenth good one"),
        Case((1024.0, 9, GOOD), (2048, 0), "there has been no step at the new scale yet"),
        Case((8.0, 0, -OVERFLOWN), (4, 0), SIGNS),
        Case((8.0, 0, np.float16("nan") * GOOD), (4, 0), SIGNS),
    ),
    "transpose": (
        _transposes(MATRIX[:2, :2], 2, "x[i, j] goes to the place in row j and column i"),
        _transposes(MATRIX[:, :4], 2, "the tile in row p and column q of tiles ends in row q and column p"),
        _transposes(MATRIX, 2, "a matrix of 4 rows and 6 columns has a transpose of another shape"),
        _transposes(MATRIX, 4, "the last tile may be narrower than the others"),
    ),
    "look_up": (
        Case(
            (TABLE, np.array([4, 1, 2])),
            lambda found: sorted(set(found[0])) == [1, 2, 4] and all(np.diff(found[0]) >= 0),
            "first come the indices, from the smallest to the largest",
        ),
        _looks_up([4, 1], "each row belongs where its index stands in the batch"),
        _looks_up([2, 0, 1, 5], "one order leads to sorted indices; is it the same that leads back?"),
        _looks_up([5, 0, 5, 1], "an index that occurs twice wants its row twice"),
    ),
    "tiled_attention": (
        _attends(
            Q, K, len(K), "one tile of all keys is the plain form: check the scale of scores, and what weights sum to"
        ),
        _attends(Q, K, 4, "what earlier tiles have summed up still refers to their own largest score"),
        _attends(Q, K, 5, "the last tile may hold fewer keys than the others"),
        _attends(1000 * Q, K, 4, "these exponentials overflow: which number may you take off all scores of a query?"),
        _attends(*LOW, 4, "all these scores are far below zero: which one is the largest before the first tile?"),
    ),
    "equal_at": (
        Case(
            (64, 1),
            lambda found: found[0] == 384,
            "count two products, scores and weighted values, in as many passes as the weights'",
        ),
        Case(
            (64, 1),
            lambda found: found[1] == 768,
            "half of the scores cost half the flops: are they equal at a shorter length, or a longer one?",
        ),
        Case((64, 1), lambda found: abs(found[2] - 435.2) < 1e-6, "set the two terms equal, and solve for the length"),
        Case((768, 12), lambda found: found[0] == 4608, "heads share the width: do they change the number of flops?"),
        Case((768, 12), (4608, 9216, 435.2), "each head keeps scores of its own"),
    ),
}
