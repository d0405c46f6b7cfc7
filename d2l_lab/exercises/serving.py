"""Cases for the exercises on serving a model: batches whose answers end at different times, pages, drafts."""

from d2l_lab.exercises.answers import Case, Guess

CASES = {
    "steps": (
        Case(([4, 4], 2), (4, 4), "answers of one length end together: neither way has anything to refill"),
        Case(([3, 1, 2], 2), lambda found: found[0] == 5, "a static batch lasts as long as its longest answer"),
        Case(([3, 1, 2], 2), (5, 3), "a slot that becomes free takes the next answer at once"),
        Case(([9, 1, 1, 1, 1], 2), (11, 9), "a long answer keeps one slot; the other serves all that is left"),
        Case(([2, 2, 2], 4), (2, 2), "there may be more slots than answers"),
    ),
    "places": (
        Case(([16, 16], 16, 0), 32, "with nothing shared each sequence has its own pages"),
        Case(([17], 16, 0), 32, "a page is taken whole, however few of its places are used"),
        Case(([130, 130], 16, 96), 192, "full pages of the common beginning are stored once"),
        Case(([130, 130], 16, 100), 192, "a page that holds more than the common beginning cannot be shared"),
        Case(
            ([100, 100], 16, 100), 128, "count places, not pages: those of the pages in common, then those of the rest"
        ),
    ),
    "best_k": (
        Case((0.0, [1.0, 1.1, 1.2]), 0, "if no guess is right, a pass yields one token, and the cheapest pass wins"),
        Case((0.5, [1.0, 1.2, 1.4]), 1, "a pass yields 1 + a + … + a^k tokens: divide them by its time"),
        Case((0.9, [1.0, 1.0, 1.0, 1.0]), 3, "where guesses cost nothing, more of them are never worse"),
        Case((0.8, [2.0, 2.2, 2.4, 5.0]), 2, "a pass may cost much more with one guess more"),
    ),
}

GUESSES: dict[str, Guess] = {}
