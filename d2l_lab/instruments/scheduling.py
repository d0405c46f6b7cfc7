"""Graphs of work, run on their workers.

A graph is a dictionary from the name of a node to its worker, its function, and the names of the nodes before it, whose
results are the function's inputs.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor, Future
from itertools import islice
from time import perf_counter
from typing import Any

from d2l_lab.plots.timeline import Span

Graph = Mapping[str, tuple[str, Callable[..., Any], list[str]]]
Times = dict[str, tuple[float, float]]


def execute(nodes: Graph, workers: Mapping[str, Executor], one_by_one: bool = False) -> tuple[dict[str, Any], Times]:
    """Run a graph on its workers and return the results and the times {name: (start, end)}, both by name.

    Each node waits for those before it. A function has to wait for its own result, or its time is that of issuing it.

    Parameters
    ----------
    nodes
        The graph, in the order in which its nodes are submitted.
    workers
        An executor of one thread for each worker's name.
    one_by_one
        Whether no node starts while another runs.

    Raises
    ------
    ValueError
        If a node comes before one that it waits for, so that the run would never end.
    """
    for place, name in enumerate(nodes):
        if not set(nodes[name][2]) <= {*islice(nodes, place)}:
            raise ValueError(f"{name!r} comes before a node that it waits for")
    futures: dict[str, Future[Any]] = {}
    times: Times = {}

    def work(name: str) -> Any:
        inputs = [futures[p].result() for p in nodes[name][2]]
        start = perf_counter()
        result = nodes[name][1](*inputs)
        times[name] = start, perf_counter()
        return result

    for name in nodes:
        futures[name] = workers[nodes[name][0]].submit(work, name)
        if one_by_one:
            futures[name].result()
    return {name: future.result() for name, future in futures.items()}, times


def as_spans(title: str, nodes: Graph, times: Times) -> list[Span]:
    """Return the Spans of a run for a timeline, a row for each worker with the title before its name.

    Time counts from the first start. A span's kind is the node's name without its number: `gradient` of `gradient2 0`.
    """
    origin = min(start for start, _ in times.values())
    return sorted(
        Span(f"{title}, {nodes[name][0]}", start - origin, end - origin, name.split()[0].rstrip("0123456789"))
        for name, (start, end) in times.items()
    )
