"""For each exercise that is checked, one or two answers that are plausibly wrong, and words of the hint for each."""

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


def speedup_with_a_free_compiled_call(rows, operations, alpha, peak):
    arithmetic = 2 * rows * (512 * 256 + 256 * 128 + 128 * 2) / peak
    return (operations * alpha + arithmetic) / arithmetic


def speedup_with_one_flop_a_weight(rows, operations, alpha, peak):
    arithmetic = rows * (512 * 256 + 256 * 128 + 128 * 2) / peak
    return (operations * alpha + arithmetic) / (alpha + arithmetic)


def chain_with_a_pass_for_each_operation(pairs, numbers, bandwidth, peak):
    return max(2 * pairs * 8 * numbers / bandwidth, 2 * pairs * numbers / peak)


def chain_whose_parts_add_up(pairs, numbers, bandwidth, peak):
    return 8 * numbers / bandwidth + 2 * pairs * numbers / peak


def pipeline_with_a_pace_too_many(n, t0, t1, t2, t3):
    return t0 + t1 + t2 + n * max(t0, t1, t2) + t3


def pipeline_whose_loader_only_comes_first(n, t0, t1, t2, t3):
    return t0 + t1 + t2 + (n - 1) * max(t1, t2) + t3


def merged_with_as_many_calls_as_before(n, k, t1, t2):
    return t1 + (n - 1) * max(t1, k * t2) + k * t2


def merged_at_the_front_ends_pace(n, k, t1, t2):
    return n / k * t1 + k * t2


def ratio_in_the_limit(p, c, n):
    return max(p, c) / (p + c)


def ratio_at_the_copies_pace(p, c, n):
    return (n * p + c) / (n * (p + c))


def path_of_all_nodes(seconds, before):
    return sum(seconds.values())


def path_behind_the_first_predecessor(seconds, before):
    end = {}
    for node, own in seconds.items():
        end[node] = own + sum(end[other] for other in before.get(node, [])[:1])
    return max(end.values())


COMPUTE = [
    ("convolution", convolution_without_its_weights, "the weights are read"),
    ("convolution", convolution_with_one_flop_a_weight, "make two flops"),
    ("dense_net", net_whose_weights_are_read_for_each_row, "once for all rows"),
    ("speedup", speedup_with_a_free_compiled_call, "of a single call"),
    ("speedup", speedup_with_one_flop_a_weight, "two for each weight"),
    ("chain_seconds", chain_with_a_pass_for_each_operation, "reads a number"),
    ("chain_seconds", chain_whose_parts_add_up, "at the same time"),
    ("pipeline", pipeline_with_a_pace_too_many, "overlaps with nothing"),
    ("pipeline", pipeline_whose_loader_only_comes_first, "whichever it is"),
    ("merged", merged_with_as_many_calls_as_before, "issued once"),
    ("merged", merged_at_the_front_ends_pace, "executes for longer"),
    ("predicted_ratio", ratio_in_the_limit, "the only copy"),
    ("predicted_ratio", ratio_at_the_copies_pace, "the copies hide"),
    ("critical_path", path_of_all_nodes, "run at once"),
    ("critical_path", path_behind_the_first_predecessor, "the last of those"),
]


def sum_that_runs(x):
    return np.add.accumulate(x)[-1]


def sum_of_blocks_that_run(x):
    return sum_that_runs(np.array([sum_that_runs(x[i : i + 1024]) for i in range(0, len(x), 1024)]))


def scale_that_counts_across_a_skip(scale, good, gradient):
    if not np.isfinite(gradient).all():
        return scale / 2, good
    return (scale, good + 1) if good < 9 else (2 * scale, 0)


def scale_whose_count_goes_on(scale, good, gradient):
    if not np.isfinite(gradient).all():
        return scale / 2, 0
    return (1 if good < 9 else 2) * scale, good + 1


def transpose_within_tiles_only(x, side):
    y = np.empty(x.shape)
    for p in range(0, len(x), side):
        for q in range(0, x.shape[1], side):
            y[p : p + side, q : q + side] = x[p : p + side, q : q + side].T
    return y


def transpose_without_the_last_tile(x, side):
    y = np.zeros(x.shape[::-1])
    for q in range(0, x.shape[1] - side + 1, side):
        y[q : q + side] = x[:, q : q + side].T
    return y


def rows_put_back_by_the_same_order(table, rows):
    order = np.argsort(rows)
    return rows[order], table[rows[order]][order]


def rows_that_fill_one_place_each(table, rows):
    read, places = np.unique(rows, return_index=True)
    back = np.zeros((len(rows), table.shape[1]))
    back[places] = table[read]
    return read, back


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


def attention_without_its_scale(q, k, v, tile):
    return attention_of_tiles(q, k, v, tile, scale=False, rescale=True)


def attention_that_never_rescales(q, k, v, tile):
    return attention_of_tiles(q, k, v, tile, scale=True, rescale=False)


def lengths_with_one_product(width, heads):
    return 12 * width, 24 * width, 34 * width / (5 * heads)


def lengths_with_bytes_for_one_head(width, heads):
    return 6 * width, 12 * width, 34 * width / 5


STORAGE = [
    ("sum16", sum_that_runs, "adding 1 changes nothing"),
    ("sum16", sum_of_blocks_that_run, "how many additions"),
    ("adapt", scale_that_counts_across_a_skip, "after a skip"),
    ("adapt", scale_whose_count_goes_on, "no step at the new scale"),
    ("transpose", transpose_within_tiles_only, "the tile in row p"),
    ("transpose", transpose_without_the_last_tile, "narrower than the others"),
    ("look_up", rows_put_back_by_the_same_order, "the same that leads back"),
    ("look_up", rows_that_fill_one_place_each, "occurs twice"),
    ("tiled_attention", attention_without_its_scale, "check the scale"),
    ("tiled_attention", attention_that_never_rescales, "earlier tiles"),
    ("equal_at", lengths_with_one_product, "two products"),
    ("equal_at", lengths_with_bytes_for_one_head, "scores of its own"),
]


def sharded_as_one_all_reduce(layers, width, batch, k):
    weights = 4 * layers * width**2
    return weights / k, 2 * (k - 1) / k * weights


def sharded_with_ones_own_part(layers, width, batch, k):
    weights = 4 * layers * width**2
    return weights / k, 3 * weights


def equal_weights(n):
    return [1 / n] * n


def weights_that_sum_to_two(n):
    sizes = (n + 1) // 2, n // 2
    return [1 / size for size in sizes for _ in range(size)]


def end_of_buckets_that_do_not_wait(per_bucket):
    last = 20 % per_bucket or per_bucket
    return 20 * 100e-6 + 50e-6 + last * 80e-6


def end_with_a_full_last_bucket(per_bucket):
    free = 0
    for last in range(per_bucket, 20 + per_bucket, per_bucket):
        free = max(free, min(last, 20) * 100e-6) + 50e-6 + per_bucket * 80e-6
    return free


def scaling_of_updates_alone(one, many, k):
    return one[0] / many[0], one[0] / many[0] / k


def scaling_that_tells_what_is_lost(one, many, k):
    gain = one[0] * one[1] / many[0] / many[1]
    return gain, 1 - gain / k


def enough_for_a_tenth(k):
    return 9 * (k - 1)


def enough_with_k_stages_that_wait(k):
    return 9 * k + 1


def interleaving_that_divides_the_step(m, k, v):
    return v


def interleaving_of_shares(m, k, v):
    bubble = (k - 1) / (m + k - 1)
    return (1 - bubble / v) / (1 - bubble)


def crossing_where_the_ring_bends(n, alpha, b):
    return n * alpha * b


def crossing_with_a_tree_of_any_height(n, alpha, b):
    k = np.log2(n)
    return alpha * b * (n - 1 - k) / (k - (n - 1) / n)


def cut_without_the_rows_left_over(values, s):
    return [
        {(key, i): value[i * (len(value) // s) : (i + 1) * (len(value) // s)] for key, value in values.items()}
        for i in range(s)
    ]


def cut_with_all_left_over_rows_in_the_last_part(values, s):
    ends = {key: [i * (len(value) // s) for i in range(s)] + [len(value)] for key, value in values.items()}
    return [{(key, i): value[ends[key][i] : ends[key][i + 1]] for key, value in values.items()} for i in range(s)]


def backed_up_by_workers_that_start_afresh(compute, m):
    return np.cumsum([0, *np.sort(compute, axis=1)[:, m - 1]])


def backed_up_by_workers_that_miss_nothing(compute, m):
    free, ends = np.zeros(compute.shape[1]), [0]
    for seconds in compute:
        free = np.maximum(free, ends[-1]) + seconds
        ends.append(np.sort(free)[m - 1])
    return ends


def lost_with_whole_intervals(tau, C, M, r):
    return C / tau + (tau + r) / M


def lost_with_a_restart_a_checkpoint(tau, C, M, r):
    return (C + r) / tau + tau / (2 * M)


DEVICES = [
    ("sharded", sharded_as_one_all_reduce, "weights forward and backward"),
    ("sharded", sharded_with_ones_own_part, "nobody to send to"),
    ("example_weights", equal_weights, "taken over fewer examples"),
    ("example_weights", weights_that_sum_to_two, "counts half in the end"),
    ("end", end_of_buckets_that_do_not_wait, "waits until the one before it"),
    ("end", end_with_a_full_last_bucket, "what does the last bucket hold"),
    ("weak_scaling", scaling_of_updates_alone, "each of them takes longer"),
    ("weak_scaling", scaling_that_tells_what_is_lost, "none of their work is lost"),
    ("enough", enough_for_a_tenth, "has to be below"),
    ("enough", enough_with_k_stages_that_wait, "fewer would do"),
    ("interleaving", interleaving_that_divides_the_step, "only the waiting shrinks"),
    ("interleaving", interleaving_of_shares, "compare seconds"),
    ("crossing", crossing_where_the_ring_bends, "neglect no term"),
    ("crossing", crossing_with_a_tree_of_any_height, "as high as one of eight"),
    ("cut", cut_without_the_rows_left_over, "no row may be lost"),
    ("cut", cut_with_all_left_over_rows_in_the_last_part, "spread the rows"),
    ("backed_up", backed_up_by_workers_that_start_afresh, "finishes what it has begun"),
    ("backed_up", backed_up_by_workers_that_miss_nothing, "not those it has missed"),
    ("lost_share", lost_with_whole_intervals, "anywhere between two checkpoints"),
    ("lost_share", lost_with_a_restart_a_checkpoint, "once a failure"),
]

WRONG = [*COMPUTE, *STORAGE, *DEVICES]
