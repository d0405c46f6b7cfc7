"""For each exercise that is checked, answers that are plausibly wrong, and words of the hint for each."""

import numpy as np

OUTPUTS = 56**2 * 64  # of the convolution
PRODUCTS = 512 * 256 + 256 * 128 + 128 * 2  # of the network, for each row


def read_for_each_row(widths, rows):
    pairs = list(zip(widths, widths[1:], strict=False))
    return sum(2 * rows * p * q for p, q in pairs), 4 * rows * sum(p * q + p + q for p, q in pairs)


def sum_of_blocks(x):
    """Return the sum of blocks that are summed up one number after the other, as the blocks' sums are."""
    blocks = [np.add.accumulate(x[i : i + 1024])[-1] for i in range(0, len(x), 1024)]
    return np.add.accumulate(blocks)[-1]


def scale_that_counts_across_a_skip(scale, good, gradient):
    if not np.isfinite(gradient).all():
        return scale / 2, good
    return (scale, good + 1) if good < 9 else (2 * scale, 0)


def transpose_without_the_last_tile(x, side):
    y = np.zeros(x.shape[::-1])
    for q in range(0, x.shape[1] - side + 1, side):
        y[q : q + side] = x[:, q : q + side].T
    return y


def rows_put_back_by_the_same_order(table, rows):
    order = np.argsort(rows)
    return rows[order], table[rows[order]][order]


def one_scale_for_all_rows(W):
    scale = np.full(len(W), abs(W).max() / 127)
    return np.round(W / scale[:, None]).astype(np.int8), scale


def rows_cut_off(W):
    scale = abs(W).max(1) / 127
    return (W / scale[:, None] * (1 + 1e-9)).astype(np.int8), scale


def attention_of_tiles(q, k, v, tile, scale, rescale):
    """Return the attention of one head, with a mistake or without."""
    largest, total, out = np.full((len(q), 1), -np.inf), 0.0, 0.0
    for i in range(0, len(k), tile):
        scores = q @ k[i : i + tile].T / (np.sqrt(q.shape[1]) if scale else 1)
        new = np.maximum(largest, scores.max(axis=1, keepdims=True))
        weights, shrink = np.exp(scores - new), np.exp(largest - new) if rescale else 1
        total = total * shrink + weights.sum(axis=1, keepdims=True)
        out = out * shrink + weights @ v[i : i + tile]
        largest = new
    return out / total


def cut_with_all_left_over_rows_in_the_last_part(values, s):
    ends = {key: [i * (len(value) // s) for i in range(s)] + [len(value)] for key, value in values.items()}
    return [{(key, i): value[ends[key][i] : ends[key][i + 1]] for key, value in values.items()} for i in range(s)]


def steps_of_slots_that_are_dealt_out_beforehand(lengths, slots):
    static = sum(max(lengths[i : i + slots]) for i in range(0, len(lengths), slots))
    return static, max(sum(lengths[s::slots]) for s in range(slots))


def best_k_by_the_tokens_of_a_pass_alone(a, times):
    return len(times) - 1 if a else 0


WRONG = [
    ("convolution", lambda per_output, weights: (2 * per_output * OUTPUTS, 8 * OUTPUTS), "the weights are read"),
    ("convolution", lambda per_output, weights: (per_output * OUTPUTS, 4 * (2 * OUTPUTS + weights)), "make two flops"),
    ("dense_net", read_for_each_row, "once for all rows"),
    ("speedup", lambda rows, ops, alpha, peak: 1 + ops * alpha * peak / (2 * rows * PRODUCTS), "of a single call"),
    ("chain_seconds", lambda pairs, N, b, P: max(2 * pairs * 8 * N / b, 2 * pairs * N / P), "reads a number"),
    ("chain_seconds", lambda pairs, N, b, P: 8 * N / b + 2 * pairs * N / P, "at the same time"),
    ("pipeline", lambda n, t0, t1, t2, t3: t0 + t1 + t2 + n * max(t0, t1, t2) + t3, "overlaps with nothing"),
    ("pipeline", lambda n, t0, t1, t2, t3: t0 + t1 + t2 + (n - 1) * max(t1, t2) + t3, "whichever it is"),
    ("merged", lambda n, k, t1, t2: t1 + (n - 1) * max(t1, k * t2) + k * t2, "issued once"),
    ("merged", lambda n, k, t1, t2: n / k * t1 + k * t2, "executes for longer"),
    ("predicted_ratio", lambda p, c, n: max(p, c) / (p + c), "the only copy"),
    ("predicted_ratio", lambda p, c, n: (n * p + c) / (n * (p + c)), "the copies hide"),
    ("critical_path", lambda seconds, before: sum(seconds.values()), "run at once"),
    ("expected", lambda B, whole, half, n: whole - (B - n) * (whole - half) / (B / 2), "odd minibatch"),
    ("expected", lambda B, whole, half, n: half + (n - B // 2) * (whole - half) / B, "where does the line start"),
    ("lstm_flops", lambda inputs, units, tokens: 2 * tokens * 4 * units * (inputs + units), "backward pass"),
    ("lstm_flops", lambda inputs, units, tokens: 6 * tokens * 4 * units * inputs, "last output"),
    ("sum16", sum_of_blocks, "how many additions"),
    ("adapt", scale_that_counts_across_a_skip, "after a skip"),
    ("transpose", transpose_without_the_last_tile, "narrower than the others"),
    ("look_up", rows_put_back_by_the_same_order, "the same that leads back"),
    ("lines_kept", lambda stride, sets, ways: sets * ways, "comes back to the same set"),
    ("lines_kept", lambda stride, sets, ways: max(1, sets // stride) * ways, "before it comes back"),
    ("tiles_left", lambda n, rows, keys: (n // rows) * (n // keys), "covers the one above the diagonal"),
    ("tiles_left", lambda n, rows, keys: sum(i // keys + 1 for i in range(0, n, rows)), "sees the most keys"),
    ("round_rows", one_scale_for_all_rows, "a scale of its own"),
    ("round_rows", rows_cut_off, "nearest integer"),
    ("tiled_attention", lambda *parts: attention_of_tiles(*parts, scale=False, rescale=True), "check the scale"),
    ("tiled_attention", lambda *parts: attention_of_tiles(*parts, scale=True, rescale=False), "earlier tiles"),
    ("equal_at", lambda width, heads: (12 * width, 24 * width, 34 * width / (5 * heads)), "two products"),
    ("equal_at", lambda width, heads: (6 * width, 12 * width, 34 * width / 5), "scores of its own"),
    ("sharded", lambda n, width, batch, k: (4 * n * width**2 / k, 12 * n * width**2), "nobody to send to"),
    ("example_weights", lambda n: [1 / n] * n, "taken over fewer examples"),
    ("end", lambda per: 20 * 100e-6 + 50e-6 + (20 % per or per) * 80e-6, "waits until the one before it"),
    ("weak_scaling", lambda one, many, k: (one[0] / many[0], one[0] / many[0] / k), "each of them takes longer"),
    ("enough", lambda k: 9 * (k - 1), "has to be below"),
    ("enough", lambda k: 9 * k + 1, "fewer would do"),
    ("interleaving", lambda m, k, v: v, "only the waiting shrinks"),
    ("crossing", lambda n, alpha, b: n * alpha * b, "neglect no term"),
    ("cut", cut_with_all_left_over_rows_in_the_last_part, "spread the rows"),
    ("backed_up", lambda compute, m: np.cumsum([0, *np.sort(compute)[:, m - 1]]), "finishes what it has begun"),
    ("lost_share", lambda tau, C, M, r: C / tau + (tau + r) / M, "anywhere between two checkpoints"),
    ("lost_share", lambda tau, C, M, r: (C + r) / tau + tau / (2 * M), "once a failure"),
    ("steps", lambda lengths, slots: (max(lengths), -(-sum(lengths) // slots)), "as long as its longest answer"),
    ("steps", steps_of_slots_that_are_dealt_out_beforehand, "takes the next answer"),
    ("places", lambda lengths, page, shared: sum(lengths) - (len(lengths) - 1) * shared, "taken whole"),
    ("places", lambda lengths, page, shared: page * sum(-(-x // page) for x in lengths), "stored once"),
    ("best_k", best_k_by_the_tokens_of_a_pass_alone, "divide them by its time"),
]
