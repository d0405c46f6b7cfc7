"""For each exercise that is checked, an answer that is plausibly wrong, and words of the hint that should meet it."""


def convolution_without_its_weights(per_output, weights):
    outputs = 56**2 * 64
    return 2 * per_output * outputs, 8 * outputs


def convolution_with_one_flop_a_weight(per_output, weights):
    outputs = 56**2 * 64
    return per_output * outputs, 4 * (2 * outputs + weights)


def net_whose_weights_are_read_for_each_row(widths, rows):
    pairs = list(zip(widths, widths[1:], strict=False))
    return sum(2 * rows * p * q for p, q in pairs), 4 * rows * sum(p * q + p + q for p, q in pairs)


COMPUTE = [
    ("convolution", convolution_without_its_weights, "the weights are read"),
    ("convolution", convolution_with_one_flop_a_weight, "make two flops"),
    ("dense_net", net_whose_weights_are_read_for_each_row, "once for all rows"),
]

WRONG = [*COMPUTE]
