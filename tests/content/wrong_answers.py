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


def speedup_with_a_free_compiled_call(rows, operations, alpha, peak):
    arithmetic = 2 * rows * (512 * 256 + 256 * 128 + 128 * 2) / peak
    return (operations * alpha + arithmetic) / arithmetic


def speedup_of_whichever_is_longer(rows, operations, alpha, peak):
    arithmetic = 2 * rows * (512 * 256 + 256 * 128 + 128 * 2) / peak
    return max(operations * alpha, arithmetic) / max(alpha, arithmetic)


def speedup_with_one_flop_a_weight(rows, operations, alpha, peak):
    arithmetic = rows * (512 * 256 + 256 * 128 + 128 * 2) / peak
    return (operations * alpha + arithmetic) / (alpha + arithmetic)


def speedup_of_a_single_row(rows, operations, alpha, peak):
    arithmetic = 2 * (512 * 256 + 256 * 128 + 128 * 2) / peak
    return (operations * alpha + arithmetic) / (alpha + arithmetic)


def chain_with_a_pass_for_each_operation(pairs, numbers, bandwidth, peak):
    return max(2 * pairs * 8 * numbers / bandwidth, 2 * pairs * numbers / peak)


def chain_whose_parts_add_up(pairs, numbers, bandwidth, peak):
    return 8 * numbers / bandwidth + 2 * pairs * numbers / peak


def chain_of_bytes_alone(pairs, numbers, bandwidth, peak):
    return 8 * numbers / bandwidth


def pipeline_with_a_pace_too_many(n, t0, t1, t2, t3):
    return t0 + t1 + t2 + n * max(t0, t1, t2) + t3


def pipeline_whose_loader_only_comes_first(n, t0, t1, t2, t3):
    return t0 + t1 + t2 + (n - 1) * max(t1, t2) + t3


def pipeline_with_handing_over_as_a_stage(n, t0, t1, t2, t3):
    return t0 + t1 + t2 + (n - 1) * max(t0, t1, t2, t3) + t3


def merged_with_as_many_calls_as_before(n, k, t1, t2):
    return t1 + (n - 1) * max(t1, k * t2) + k * t2


def merged_with_calls_of_one_addition(n, k, t1, t2):
    return t1 + (n / k - 1) * max(t1, t2) + t2


def merged_at_the_front_ends_pace(n, k, t1, t2):
    return n / k * t1 + k * t2


def ratio_in_the_limit(p, c, n):
    return max(p, c) / (p + c)


def ratio_upside_down(p, c, n):
    return n * (p + c) / (p + (n - 1) * max(p, c) + c)


def ratio_at_the_copies_pace(p, c, n):
    return (n * p + c) / (n * (p + c))


def makespan_of_work_that_divides_evenly(durations, before, m):
    return max(*durations, sum(durations) / m)


def makespan_without_predecessors(durations, before, m):
    free = [0] * m
    for duration in durations:
        free[free.index(min(free))] += duration
    return max(free)


def makespan_of_workers_that_wait_in_line(durations, before, m):
    free, end, issued = [0] * m, {}, 0
    for node, duration in enumerate(durations, 1):
        worker = free.index(min(free))
        issued = max([issued, free[worker], *(end[other] for other in before.get(node, []))])
        free[worker] = end[node] = issued + duration
    return max(free)


COMPUTE = [
    ("convolution", convolution_without_its_weights, "the weights are read"),
    ("convolution", convolution_with_one_flop_a_weight, "make two flops"),
    ("dense_net", net_whose_weights_are_read_for_each_row, "once for all rows"),
    ("speedup", speedup_with_a_free_compiled_call, "of a single call"),
    ("speedup", speedup_of_whichever_is_longer, "times add up"),
    ("speedup", speedup_with_one_flop_a_weight, "two for each weight"),
    ("speedup", speedup_of_a_single_row, "grows with the rows"),
    ("chain_seconds", chain_with_a_pass_for_each_operation, "reads a number"),
    ("chain_seconds", chain_whose_parts_add_up, "at the same time"),
    ("chain_seconds", chain_of_bytes_alone, "long chains wait"),
    ("pipeline", pipeline_with_a_pace_too_many, "overlaps with nothing"),
    ("pipeline", pipeline_whose_loader_only_comes_first, "whichever it is"),
    ("pipeline", pipeline_with_handing_over_as_a_stage, "only the last result"),
    ("merged", merged_with_as_many_calls_as_before, "issued once"),
    ("merged", merged_with_calls_of_one_addition, "executes all four"),
    ("merged", merged_at_the_front_ends_pace, "executes for longer"),
    ("predicted_ratio", ratio_in_the_limit, "the only copy"),
    ("predicted_ratio", ratio_upside_down, "overlap saves"),
    ("predicted_ratio", ratio_at_the_copies_pace, "the copies hide"),
    ("list_makespan", makespan_of_work_that_divides_evenly, "a free worker takes the next"),
    ("list_makespan", makespan_without_predecessors, "all its predecessors"),
    ("list_makespan", makespan_of_workers_that_wait_in_line, "passes over"),
]

WRONG = [*COMPUTE]
