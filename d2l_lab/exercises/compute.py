"""Cases for the exercises on one device's time: the performance model, compilation, asynchrony and overlap."""

from d2l_lab.exercises.answers import Case, Guess

FLOPS = "a multiplication and an addition for each weight of an output make two flops"
BYTES = "an image comes in, one goes out, and the weights are read: count each number once, with 4 bytes"
LAYERS = "each layer reads its weights once for all rows, and moves its inputs and its outputs row by row"

ANY_STAGE = "after the first minibatch the slowest of the three sets the pace, whichever it is"
WIDTHS = "add up the flops of three products, two for each weight and row"

SECONDS = {"split": 1, "copy in": 1, "forward1": 4, "forward2": 2, "gradient2": 2, "backward": 2, "gradient1": 4}
SECONDS |= {"update2": 1, "update1": 2, "copy out": 1}
BEFORE = {"copy in": ["split"], "forward1": ["copy in"], "forward2": ["forward1"], "backward": ["forward1", "forward2"]}
BEFORE |= {"gradient2": ["forward1", "forward2"], "gradient1": ["copy in", "backward"], "update2": ["gradient2"]}
BEFORE |= {"update1": ["gradient1"], "copy out": ["update1", "update2"]}

GUESSES = {
    "product": Guess(
        "s", "count the flops of all rows and columns, and divide them by P: does another term exceed that?"
    ),
    "traces": Guess("", "what is new in the second call, and what does the graph of the first one take for fixed?"),
    "stages": Guess("s", "once the pipeline is full, how many minibatches end in the time of a stage?"),
    "late_share": Guess(
        "", "a loop that loads in turn waits for each sleep, then computes for c: add up one minibatch"
    ),
    "small_share": Guess(
        "", "which part of the time is fixed, and what is left of the rest with one example in sixteen?"
    ),
}

CASES = {
    "convolution": (
        Case((9, 9 * 64), lambda found: found[0] == 3_612_672, FLOPS),
        Case((9, 9 * 64), (3_612_672, 1_607_936), BYTES),
        Case((9 * 64, 9 * 64**2), (231_211_008, 1_753_088), BYTES),
    ),
    "dense_net": (
        Case(([784, 256, 10], 1), lambda found: found[0] == 406_528, "a layer from p to q does 2 p q flops for a row"),
        Case(([784, 256, 10], 1), (406_528, 818_280), LAYERS),
        Case(([784, 256, 10], 64), (64 * 406_528, 4 * (203_264 + 64 * 1306)), LAYERS),
        Case(([8, 8, 8, 8], 2), (768, 4 * (192 + 96)), "go through all pairs of neighbouring widths"),
    ),
    "speedup": (
        Case((1, 5, 1e-5, 1e30), 5, "without arithmetic dispatch is left, of each operation or of a single call"),
        Case((1, 5, 1e-30, 1e11), 1, "compiled or not, the products remain"),
        Case((1, 5, 1e-5, 1e11), lambda found: found < 4.9, "a product waits for its dispatch: their times add up"),
        Case((1, 5, 1e-5, 1e11), (5e-5 + 3.28192e-6) / (1e-5 + 3.28192e-6), WIDTHS),
        Case((64, 5, 1e-5, 1e11), 2.6004288e-4 / 2.2004288e-4, "arithmetic grows with the rows, dispatch does not"),
    ),
    "chain_seconds": (
        Case(
            (4, 10**6, 2e10, 1e12),
            lambda found: abs(found / 4e-4 - 1) < 0.1,
            "one pass reads a number of 4 bytes once and writes it once, whatever happens to it in a register",
        ),
        Case((4, 10**6, 2e10, 1e12), 4e-4, "memory and arithmetic are busy at the same time"),
        Case((64, 10**6, 2e10, 1e11), 1.28e-3, "a pair is a multiplication and an addition; long chains wait for them"),
    ),
    "pipeline": (
        Case((1, 4, 1, 2, 1), 8, "a single minibatch overlaps with nothing: it passes each stage, and is handed over"),
        Case((5, 0, 1, 2, 1), 12, "a loader that takes no time leaves the section's case, waiting once"),
        Case((5, 4, 1, 2, 1), 24, ANY_STAGE),
        Case((5, 1, 3, 2, 1), 19, ANY_STAGE),
        Case((5, 1, 2, 3, 10), 28, "only the last result is handed over, so this is no stage of the pipeline"),
    ),
    "merged": (
        Case((4, 1, 10, 0.5), 40.5, "calls of one addition each are the section's case of waiting once"),
        Case((4, 4, 10, 0.5), 12, "one call does everything here: it is issued once, and executes all four additions"),
        Case((40, 2, 10, 0.5), 201, "count the calls, and give each its time to issue and its time to execute"),
        Case((10_000, 100, 10, 0.5), 5010, "a call of a hundred additions executes for longer than it takes to issue"),
    ),
    "predicted_ratio": (
        Case((2, 1, 1), 1, "the only copy has no other computation to run beside"),
        Case((1, 1, 2), lambda found: found < 1, "put the time in turn below the line: overlap saves, so less than 1"),
        Case((1, 1, 2), 0.75, "look at the figure: the first work and the last have nothing beside them"),
        Case((2, 1, 1000), 2001 / 3000, "a long copy sets the pace, and most of the computing hides behind it"),
        Case((1, 2, 1000), 2001 / 3000, "where computing takes longer, the copies hide"),
    ),
    "critical_path": (
        Case(({"a": 3}, {}), 3, "a single node takes its own time"),
        Case(({"a": 1, "b": 2, "c": 5}, {}), 5, "nodes that wait for nothing run at once"),
        Case(({"a": 1, "b": 2, "c": 5}, {"c": ["a"]}), 6, "a node starts when those before it have ended"),
        Case(({"a": 1, "b": 4, "c": 5}, {"c": ["a", "b"]}), 9, "a node waits for the last of those before it"),
        Case(({"a": 9, "b": 1, "c": 1}, {"c": ["b"]}), 9, "the path with the most nodes need not be the longest"),
        Case((SECONDS, BEFORE), 17, "follow the figure from the split to the copies out, and add up each path"),
    ),
    "expected": (
        Case((64, 20, 16, 64), 20, "the whole minibatch takes what it takes: where does the line start?"),
        Case((64, 20, 16, 16), 14, "half of the minibatch more takes the difference of the two times"),
        Case((64, 20, 20, 16), 20, "if half takes as long as the whole, all of the time is fixed"),
        Case((7, 15, 7, 1), 3, "half of an odd minibatch has fewer examples than the rest of it"),
    ),
    "lstm_flops": (
        Case((1, 1, 1), lambda found: found in (16, 48), "a gate has weights for the input and for its last output"),
        Case((1, 1, 1), 48, "the backward pass does twice the work of the forward pass"),
        Case((128, 256, 512), 1_207_959_552, "each gate has as many outputs as there are units"),
    ),
}
