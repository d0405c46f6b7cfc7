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


def sharded_as_one_all_reduce(layers, width, batch, k):
    weights = 4 * layers * width**2
    return weights / k, 2 * (k - 1) / k * weights


def sharded_with_ones_own_part(layers, width, batch, k):
    weights = 4 * layers * width**2
    return weights / k, 3 * weights


def sharded_that_sends_only_what_it_holds(layers, width, batch, k):
    weights = 4 * layers * width**2
    return weights / k, 3 * weights / k if k > 1 else 0


def equal_weights(n):
    return [1 / n] * n


def weights_that_sum_to_two(n):
    sizes = (n + 1) // 2, n // 2
    return [1 / size for size in sizes for _ in range(size)]


def end_of_buckets_that_do_not_wait(per_bucket):
    last = 20 % per_bucket or per_bucket
    return 20 * 100e-6 + 50e-6 + last * 80e-6


def end_without_overlap(per_bucket):
    return 20 * 100e-6 + -(-20 // per_bucket) * 50e-6 + 20 * 80e-6


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


def whole_keys_in_turn(values, s):
    shares = [{} for _ in range(s)]
    for i, (key, value) in enumerate(values.items()):
        shares[i % s][key, 0] = value
    return shares


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


def waiting_for_the_slowest(compute, m):
    return np.cumsum([0, *compute.max(axis=1)])


def lost_with_whole_intervals(tau, C, M, r):
    return C / tau + (tau + r) / M


def lost_with_a_restart_a_checkpoint(tau, C, M, r):
    return (C + r) / tau + tau / (2 * M)


DEVICES = [
    ("sharded", sharded_as_one_all_reduce, "weights forward and backward"),
    ("sharded", sharded_with_ones_own_part, "nobody to send to"),
    ("sharded", sharded_that_sends_only_what_it_holds, "every part that a device lacks"),
    ("example_weights", equal_weights, "taken over fewer examples"),
    ("example_weights", weights_that_sum_to_two, "counts half in the end"),
    ("end", end_of_buckets_that_do_not_wait, "waits until the one before it"),
    ("end", end_without_overlap, "do not add up the two"),
    ("end", end_with_a_full_last_bucket, "what does the last bucket hold"),
    ("weak_scaling", scaling_of_updates_alone, "each of them takes longer"),
    ("weak_scaling", scaling_that_tells_what_is_lost, "none of their work is lost"),
    ("enough", enough_for_a_tenth, "has to be below"),
    ("enough", enough_with_k_stages_that_wait, "fewer would do"),
    ("interleaving", interleaving_that_divides_the_step, "only the waiting shrinks"),
    ("interleaving", interleaving_of_shares, "compare seconds"),
    ("crossing", crossing_where_the_ring_bends, "neglect no term"),
    ("crossing", crossing_with_a_tree_of_any_height, "as high as one of eight"),
    ("cut", whole_keys_in_turn, "a part of every array"),
    ("cut", cut_without_the_rows_left_over, "no row may be lost"),
    ("cut", cut_with_all_left_over_rows_in_the_last_part, "spread the rows"),
    ("backed_up", waiting_for_the_slowest, "nobody waits"),
    ("backed_up", backed_up_by_workers_that_start_afresh, "finishes what it has begun"),
    ("backed_up", backed_up_by_workers_that_miss_nothing, "not those it has missed"),
    ("lost_share", lost_with_whole_intervals, "anywhere between two checkpoints"),
    ("lost_share", lost_with_a_restart_a_checkpoint, "once a failure"),
]

WRONG = [*COMPUTE, *DEVICES]
