"""Graphs of work: how long they should take on their workers, and how long they do.

A graph is a dictionary from the name of a node to its worker, its function, and the names of the nodes before it, whose
results are the function's inputs.
"""

from functools import cache
from time import perf_counter

from d2l_utils.plots.timeline import Span


def longest_path(nodes, duration):
    """Return a function: seconds from a node's start to the graph's end."""

    @cache
    def path(name):
        after = [n for n, (_, _, before) in nodes.items() if name in before]
        return duration[name] + max(map(path, after), default=0)

    return path


def schedule(nodes, duration):
    """Return {name: (start, end)} in seconds of a list schedule, in the order in which the nodes start.

    Each worker does one node at a time, and the one that can start first; of several the one with the longest path to
    the end (Graham 1969; the order is that of HEFT, Topcuoglu et al. 2002, with each node bound to its worker).
    ValueError if the nodes wait for each other or for a node that is none.
    """
    path, free, times, waiting = longest_path(nodes, duration), {}, {}, _sorted(nodes)
    while waiting:
        starts = {}
        for name in waiting:
            worker, _, before = nodes[name]
            if all(p in times for p in before):
                starts[name] = max([times[p][1] for p in before] + [free.get(worker, 0)])
        name = min(starts, key=lambda n: (starts[n], -path(n)))
        times[name] = starts[name], starts[name] + duration[name]
        free[nodes[name][0]] = times[name][1]
        waiting.remove(name)
    return times


def makespan(times):
    """Return the seconds from the first start to the last end of a schedule or of a run: {name: (start, end)}."""
    return max(end for _, end in times.values()) - min(start for start, _ in times.values())


def execute(nodes, workers, order=None, one_by_one=False):
    """Run a graph on its workers and return the results and the times {name: (start, end)}, both by name.

    `workers` maps the worker's name to an executor of one thread. The nodes are handed over in the given order (that of
    the graph if None), and each waits for those before it; with `one_by_one` none starts while another runs. A function
    has to wait for its own result, or the times are those of issuing it. ValueError for an order that would never end.
    """
    order = list(order or nodes)
    for place, name in enumerate(order):
        if not set(nodes[name][2]) <= set(order[:place]):
            raise ValueError(f"{name!r} stands before a node that it waits for")
    futures, times = {}, {}

    def work(name):
        inputs = [futures[p].result() for p in nodes[name][2]]
        start = perf_counter()
        result = nodes[name][1](*inputs)
        times[name] = start, perf_counter()
        return result

    for name in order:
        futures[name] = workers[nodes[name][0]].submit(work, name)
        if one_by_one:
            futures[name].result()
    return {name: future.result() for name, future in futures.items()}, times


def as_spans(title, nodes, times):
    """Return the Spans of a schedule or a run for a timeline, a row for each worker with the title before its name.

    Time counts from the first start. A span's kind is the node's name without its number: `gradient` of `gradient2 0`.
    """
    origin = min(start for start, _ in times.values())
    return sorted(
        Span(f"{title}, {nodes[name][0]}", start - origin, end - origin, name.split()[0].rstrip("0123456789"))
        for name, (start, end) in times.items()
    )


def _sorted(nodes):
    """Return the names of the nodes, each after those that it waits for."""
    order = []
    while len(order) < len(nodes):
        ready = [name for name in nodes if name not in order and set(nodes[name][2]) <= set(order)]
        if not ready:
            raise ValueError(f"these nodes wait for each other: {sorted(set(nodes) - set(order))}")
        order += ready
    return order
