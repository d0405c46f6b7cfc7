"""For each exercise that is checked, an answer that is plausibly wrong, and words of the hint that should meet it."""

import numpy as np


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


def sum_that_runs(x):
    return np.add.accumulate(x)[-1]


def sum_in_float32(x):
    return np.sum(x, dtype=np.float32)


def sum_of_blocks_that_run(x):
    return sum_that_runs(np.array([sum_that_runs(x[i : i + 1024]) for i in range(0, len(x), 1024)]))


def scale_that_misses_one_infinity(scale, good, gradient):
    if not np.isfinite(gradient).any():
        return scale / 2, 0
    return (scale, good + 1) if good < 9 else (2 * scale, 0)


def scale_that_counts_across_a_skip(scale, good, gradient):
    if not np.isfinite(gradient).all():
        return scale / 2, good
    return (scale, good + 1) if good < 9 else (2 * scale, 0)


def scale_that_is_doubled_a_step_late(scale, good, gradient):
    if not np.isfinite(gradient).all():
        return scale / 2, 0
    return (scale, good + 1) if good < 10 else (2 * scale, 0)


def scale_whose_count_goes_on(scale, good, gradient):
    if not np.isfinite(gradient).all():
        return scale / 2, 0
    return (1 if good < 9 else 2) * scale, good + 1


def scale_that_only_looks_for_infinity(scale, good, gradient):
    if np.isinf(gradient).any():
        return scale / 2, 0
    return (scale, good + 1) if good < 9 else (2 * scale, 0)


def array_whose_inputs_enter_at_once(X, W):
    (m, k), n = X.shape, W.shape[1]
    inputs, sums, Y = np.zeros((k, n)), np.zeros((k, n)), np.zeros((m, n))
    for t in range(m + k + n - 2):
        entering = X[t] if t < m else np.zeros(k)
        inputs = np.column_stack([entering, inputs[:, :-1]])
        sums = np.vstack([np.zeros(n), sums[:-1]]) + inputs * W
        for column in range(n):
            if 0 <= (row := t - (k - 1) - column) < m:
                Y[row, column] = sums[-1, column]
    return Y, m + k + n - 2


def array_that_takes_a_cycle_a_row(X, W):
    return X @ W, len(X)


def rows_left_in_sorted_order(table, rows):
    return np.sort(rows), table[np.sort(rows)]


def rows_put_back_by_the_same_order(table, rows):
    order = np.argsort(rows)
    return rows[order], table[rows[order]][order]


def rows_in_the_order_of_the_batch(table, rows):
    return rows, table[rows]


def rows_that_fill_one_place_each(table, rows):
    read, places = np.unique(rows, return_index=True)
    back = np.zeros((len(rows), table.shape[1]))
    back[places] = table[read]
    return read, back


def attention_of_tiles(q, k, v, tile, scale=True, rescale=True, ends=0, start=-np.inf):
    """Return the attention of one head, with a mistake or without."""
    largest, total, out = np.full((len(q), 1), start), 0.0, 0.0
    for i in range(0, len(k) - ends * (len(k) % tile), tile):
        scores = q @ k[i : i + tile].T / (np.sqrt(q.shape[1]) if scale else 1)
        new = np.maximum(largest, scores.max(axis=1, keepdims=True))
        weights, shrink = np.exp(scores - new), np.exp(largest - new) if rescale else 1
        total = total * shrink + weights.sum(axis=1, keepdims=True)
        out = out * shrink + weights @ v[i : i + tile]
        largest = new
    with np.errstate(invalid="ignore"):
        return out / total


def attention_without_its_scale(q, k, v, tile):
    return attention_of_tiles(q, k, v, tile, scale=False)


def attention_that_never_rescales(q, k, v, tile):
    return attention_of_tiles(q, k, v, tile, rescale=False)


def attention_without_the_last_keys(q, k, v, tile):
    return attention_of_tiles(q, k, v, tile, ends=1)


def attention_that_overflows(q, k, v, tile):
    with np.errstate(over="ignore", invalid="ignore"):
        weights = np.exp(q @ k.T / np.sqrt(q.shape[1]))
        return weights @ v / weights.sum(axis=1, keepdims=True)


def attention_that_starts_from_zero(q, k, v, tile):
    return attention_of_tiles(q, k, v, tile, start=0.0)


def lengths_with_one_product(width, heads):
    return 12 * width, 24 * width, 34 * width / (5 * heads)


def lengths_shorter_if_half_is_skipped(width, heads):
    return 6 * width, 3 * width, 34 * width / (5 * heads)


def lengths_with_flops_for_a_head(width, heads):
    return 6 * width / heads, 12 * width / heads, 34 * width / (5 * heads)


def lengths_with_bytes_for_one_head(width, heads):
    return 6 * width, 12 * width, 34 * width / 5


STORAGE = [
    ("sum16", sum_that_runs, "adding 1 changes nothing"),
    ("sum16", sum_in_float32, "which type"),
    ("sum16", sum_of_blocks_that_run, "how many additions"),
    ("adapt", scale_that_misses_one_infinity, "a single number"),
    ("adapt", scale_that_counts_across_a_skip, "after a skip"),
    ("adapt", scale_that_is_doubled_a_step_late, "the step at hand counts"),
    ("adapt", scale_whose_count_goes_on, "no step at the new scale"),
    ("adapt", scale_that_only_looks_for_infinity, "no number at all"),
    ("systolic", array_whose_inputs_enter_at_once, "must that row's input enter"),
    ("systolic", array_that_takes_a_cycle_a_row, "the last sum that leaves"),
    ("look_up", rows_in_the_order_of_the_batch, "from the smallest"),
    ("look_up", rows_left_in_sorted_order, "where its index stands"),
    ("look_up", rows_put_back_by_the_same_order, "the same that leads back"),
    ("look_up", rows_that_fill_one_place_each, "occurs twice"),
    ("tiled_attention", attention_without_its_scale, "check the scale"),
    ("tiled_attention", attention_that_never_rescales, "earlier tiles"),
    ("tiled_attention", attention_without_the_last_keys, "fewer keys"),
    ("tiled_attention", attention_that_overflows, "overflow"),
    ("tiled_attention", attention_that_starts_from_zero, "before the first tile"),
    ("equal_at", lengths_with_one_product, "two products"),
    ("equal_at", lengths_shorter_if_half_is_skipped, "a shorter length"),
    ("equal_at", lengths_with_flops_for_a_head, "share the width"),
    ("equal_at", lengths_with_bytes_for_one_head, "scores of its own"),
]

WRONG = [*COMPUTE, *STORAGE]
