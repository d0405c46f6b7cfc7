"""What TensorFlow's operations do in a step, for its bill."""

import gc
import re
from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework import op_callbacks
from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

from d2l_lab.instruments.bill import Touched, add_seconds, traced
from d2l_lab.protocol import Record, Row

FREE = {"Reshape", "Identity", "Const", "Placeholder", "Shape", "NoOp", "ExpandDims", "Squeeze", "ShapeN"}
CONTAINERS = {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
ATTRIBUTES = {"transpose_a", "adj_x", "equation"}
OF_GRAPH, OF_EAGER = re.compile(r"([\w./-]+):(\w+)"), "EagerLocalExecute: "  # events of a trace
Call = tuple[str, float | None, dict[Any, float], str]  # operation, flops, bytes by array, where the first comes from
Graphs = dict[str, dict[str, Call]]  # calls by name, by that of the function


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler's trace says when each operation ran. Shapes are those of the graphs that the trace names, and of eager
    operations those that a callback has seen.
    """
    options = tf.profiler.experimental.ProfilerOptions(host_tracer_level=3)  # with operations that take little time
    eager, touched, graphs = list[Call](), Touched(), Graphs()

    def callback(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        kind, given = tf.compat.as_str(op_type), attrs or ()
        if graph is None and not kind.startswith("__"):
            named = {tf.compat.as_str(key): value for key, value in zip(given[::2], given[1::2], strict=True)}
            eager.append(_call(kind, inputs, outputs, named, lambda x: x._id))  # which no other array gets

    op_callbacks.add_op_callback(callback)
    try:
        run()
    finally:
        op_callbacks.remove_op_callback(callback)

    def record() -> Record:
        whole, trace = traced(partial(tf.profiler.experimental.Profile, options=options), run)
        return _record(whole, XSpace.FromString(trace), eager, graphs, touched)

    record()  # from now on every array was touched before
    return record


def _record(whole: float, space: Any, eager: list[Call], graphs: Graphs, touched: Touched) -> Record:
    """Return a record from a trace and the calls of eager operations: times are those of the GPUs if there are any."""
    rows, spans, events = dict[str, Row](), list[tuple[float, float, str]](), list[tuple[float, float, str, bool]]()
    for plane, line in ((each, line) for each in space.planes for line in each.lines):
        known, gpu = plane.stat_metadata, plane.name.startswith("/device:GPU")
        for event in line.events:
            found = [stat for stat in event.stats if known[stat.metadata_id].name == "tf_op"] if gpu else []
            name = plane.event_metadata[event.metadata_id].name
            name = found[0].str_value or known[found[0].ref_value].name if found else name
            start = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
            events.append((start, start + event.duration_ps / 1e12, name, gpu))
    names = {name.removeprefix(OF_EAGER) for _, _, name, _ in events if name.startswith(f"{OF_EAGER}__")}
    calls, gpu = _calls(names, graphs), any(event[3] for event in events)
    for start, end, name, on_gpu in sorted(events):
        if match := OF_GRAPH.fullmatch(name):
            parts, kind = match[1].split("/"), match[2].lstrip("_")
            keys = [key for i in range(len(parts)) if (key := "/".join(parts[i:])) in calls]
            call = calls[keys[0]] if keys else (kind, None, {}, "")
            fused = "Fused" in kind and "Norm" not in kind  # has the name of its last part
            kind = kind if fused else call[0]
            while fused and not call[1] and call[3] in calls:
                call = calls[call[3]]
        elif (kind := name.removeprefix(OF_EAGER)) == name or kind.startswith("__"):
            continue
        if on_gpu is gpu and kind not in CONTAINERS:
            spans.append((start, end, kind))
            if match:
                rows.setdefault(kind, Row()).add(call[1], touched.reaches(call[2]))
    for kind, flops, arrays, _ in eager:
        rows.setdefault(kind, Row()).add(flops, touched.reaches(arrays))
    add_seconds(rows, spans)
    return Record(whole, rows, issued=2 * len(eager) > len(spans))


def _calls(names: set[str], graphs: Graphs) -> dict[str, Call]:
    """Return the calls in the graphs of functions and of those that they call, by name."""
    new = names - graphs.keys()
    functions = {each.name.decode(): each for each in gc.get_objects() if type(each) is AtomicFunction} if new else {}
    for name in new:
        graphs[name], waiting = {}, [functions[name]] if name in functions else []
        for function in waiting:
            waiting += function.children
            for op in function.graph.get_operations():
                named = {key: op.get_attr(key) for key in op.node_def.attr if key in ATTRIBUTES}
                graphs[name][op.name] = _call(op.type, op.inputs, op.outputs, named, lambda x: x.name)
    return {key: call for name in names for key, call in graphs[name].items()}


def _call(kind: str, inputs: Any, outputs: Any, named: dict[str, Any], key: Callable[[Any], Any]) -> Call:
    """Return a call; its flops are None where shapes are missing or nobody knows whether it copies its array."""
    came, made = ([None if x.shape.rank is None else [*x.shape] for x in arrays] for arrays in (inputs, outputs))
    try:
        flops = None if kind == "ReadVariableOp" else _flops(kind, came, made, named)
    except (TypeError, IndexError):  # a dimension is not known
        flops = None
    sizes = {key(x): _bytes(x) for x in [*inputs, *outputs]} if kind not in FREE | {"ReadVariableOp"} else {}
    if kind in ("ResourceGather", "GatherV2"):
        sizes[key(inputs[0])] = _bytes(outputs[0])
    if kind.startswith(("ResourceScatter", "AssignAdd", "AssignSub")):
        sizes[key(inputs[0])] = 2 * _bytes(inputs[-1])
    return kind, flops, sizes, str(key(inputs[0])).partition(":")[0] if inputs else ""


def _flops(kind: str, came: Any, made: Any, named: dict[str, Any]) -> float:
    """Return the flops of a product, 0 for another operation."""
    if kind == "MatMul" or kind.startswith("BatchMatMul"):
        return 2.0 * prod(made[0]) * came[0][-2 if named.get("transpose_a") or named.get("adj_x") else -1]
    if kind == "Einsum" and len(came) == 2:
        letters = tf.compat.as_str(named["equation"]).partition("->")[0].replace(",", "")
        return 2.0 * prod(dict(zip(letters, [*came[0], *came[1]], strict=True)).values())
    if kind.startswith("Conv2D"):
        outputs = made[0] if kind == "Conv2D" else came[2]
        return 2.0 * prod(outputs) * prod((made[0] if kind == "Conv2DBackpropFilter" else came[1])[:-1])
    return 0.0


def _bytes(x: Any) -> float:
    return float((x.shape.num_elements() or 0) * x.dtype.size)  # of a handle next to nothing
