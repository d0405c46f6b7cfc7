"""Cases for the exercises on one device's time: the performance model, compilation, asynchrony and overlap."""

from d2l_utils.exercises.answers import Case

FLOPS = "a multiplication and an addition for each weight of an output make two flops"
BYTES = "an image comes in, one goes out, and the weights are read: count each number once, with 4 bytes"
LAYERS = "each layer reads its weights once for all rows, and moves its inputs and its outputs row by row"

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
}
