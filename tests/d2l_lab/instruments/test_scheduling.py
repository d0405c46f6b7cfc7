"""Graphs of work, run on workers."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from time import sleep

import pytest

from d2l_lab.instruments.scheduling import as_spans, execute
from d2l_lab.plots.timeline import Span


def graph(**nodes):
    """Return a graph of (worker, names of the nodes before), whose functions return their inputs."""
    return {name: (worker, lambda *inputs: inputs, list(before)) for name, (worker, *before) in nodes.items()}


@pytest.fixture
def workers():
    with ThreadPoolExecutor(1) as x, ThreadPoolExecutor(1) as y:
        yield {"x": x, "y": y}


def test_results_become_the_inputs_of_the_nodes_behind_and_neither_a_failure_nor_a_circle_runs(workers):
    nodes = {"a": ("x", lambda: 2, []), "b": ("y", lambda: 3, []), "c": ("x", lambda a, b: a - b, ["a", "b"])}
    results, times = execute(nodes, workers)
    assert results == {"a": 2, "b": 3, "c": -1}
    assert max(times["a"][1], times["b"][1]) <= times["c"][0]
    with pytest.raises(ZeroDivisionError):
        execute({"a": ("x", lambda: 1 / 0, []), "b": ("y", str, ["a"])}, workers)
    with pytest.raises(ValueError, match="'b' comes before a node that it waits for"):
        execute(graph(b=("x", "a"), a="x"), workers)


def test_two_workers_are_at_work_at_once_unless_nodes_run_one_by_one(workers):
    barrier = Barrier(2)
    meet = {name: (name, lambda: barrier.wait(timeout=10) >= 0, []) for name in "xy"}
    assert execute(meet, workers)[0] == {"x": True, "y": True}
    times = execute({name: (name, lambda: sleep(0.02), []) for name in "xy"}, workers, one_by_one=True)[1]
    assert times["x"][1] <= times["y"][0]


def test_spans_of_a_run_count_from_its_start_and_lose_their_numbers():
    nodes = graph(**{"copy 0": "x", "copy1 10": "y"})
    spans = as_spans("real", nodes, {"copy 0": (5, 6), "copy1 10": (7, 9)})
    assert spans == [Span("real, x", 0, 1, "copy"), Span("real, y", 2, 4, "copy")]
