"""What TensorFlow's operations do in a step, for its bill."""

import gc
import math
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import tensorflow as tf
from tensorflow.python.eager.polymorphic_function.atomic_function import AtomicFunction
from tensorflow.python.framework import op_callbacks
from tensorflow.tsl.profiler.protobuf.xplane_pb2 import XSpace

from d2l_lab.instruments.bill import Touched, wall_seconds
from d2l_lab.protocol import Record, Row

FREE = {
    "Reshape",
    "Identity",
    "Const",
    "Placeholder",
    "Shape",
    "NoOp",
    "ExpandDims",
    "Squeeze",
    "StopGradient",
    "ShapeN",
}
CONTAINERS = {"While", "StatelessWhile", "If", "StatelessIf", "PartitionedCall", "StatefulPartitionedCall"}
OF_GRAPH, OF_EAGER = re.compile(r"([\w./-]+):(\w+)"), "EagerLocalExecute: "  # events of a trace
Call = tuple[str, float | None, dict[Any, float], str]  # operation, flops, bytes by array, where the first comes from
Span = tuple[float, float, str]


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler's trace says when each operation ran. Shapes are those of the graphs that the trace names, and of eager
    operations those that a callback has seen.
    """
    eager, kept = list[Call](), list[Any]()

    def callback(op_type: Any, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None) -> None:
        kind = op_type.decode() if isinstance(op_type, bytes) else op_type
        if graph is None and not kind.startswith("__"):
            given = dict(zip(attrs[::2], attrs[1::2], strict=True)) if attrs else {}
            eager.append(
                _call(
                    kind,
                    inputs,
                    outputs,
                    {str(key, "utf-8") if isinstance(key, bytes) else key: value for key, value in given.items()},
                    id,
                )
            )
            kept.extend([*inputs, *outputs])  # so that no other array gets their ids

    op_callbacks.add_op_callback(callback)
    try:
        run()
    finally:
        op_callbacks.remove_op_callback(callback)
        kept.clear()
    touched, graphs = Touched(), dict[str, dict[str, Call]]()

    def record() -> Record:
        with TemporaryDirectory() as folder:
            with tf.profiler.experimental.Profile(folder):
                start = perf_counter()
                run()
                whole = perf_counter() - start
            (path,) = Path(folder).rglob("*.xplane.pb")
            events = list(_events(XSpace.FromString(path.read_bytes())))
        return _record(whole, events, eager, graphs, touched)

    record()  # from now on every array was touched before
    return record


def _events(space: Any) -> Iterator[Span]:
    """Yield start, end and name of the operations in a trace: those of the GPUs if there are any."""
    found = {"/device:GPU": list[Span](), "": list[Span]()}
    for plane in space.planes:
        of_gpu = plane.name.startswith("/device:GPU")
        for line in plane.lines:
            for event in line.events:
                name = plane.event_metadata[event.metadata_id].name
                for stat in event.stats if of_gpu else ():
                    if plane.stat_metadata[stat.metadata_id].name == "tf_op":
                        name = stat.str_value or plane.stat_metadata[stat.ref_value].name
                start = line.timestamp_ns / 1e9 + event.offset_ps / 1e12
                found["/device:GPU" if of_gpu else ""].append((start, start + event.duration_ps / 1e12, name))
    yield from (
        found["/device:GPU"] + [event for event in found[""] if event[2].startswith(OF_EAGER)]
        if found["/device:GPU"]
        else found[""]
    )


def _record(
    whole: float, events: list[Span], eager: list[Call], graphs: dict[str, dict[str, Call]], touched: Touched
) -> Record:
    """Return a record from the events of a trace and the calls of eager operations."""
    rows, spans = dict[str, Row](), list[Span]()
    names = {name.removeprefix(OF_EAGER) for _, _, name in events if name.startswith(OF_EAGER)}
    calls = _calls({name for name in names if name.startswith("__")}, graphs)
    for start, end, name in sorted(events):
        if match := OF_GRAPH.fullmatch(name):
            parts, kind = match[1].split("/"), match[2].lstrip("_")
            if kind in CONTAINERS:
                continue
            found = next((calls[key] for i in range(len(parts)) if (key := "/".join(parts[i:])) in calls), None)
            fused = "Fused" in kind and "Norm" not in kind  # has the name of its last part
            while fused and found and not found[1] and found[3] in calls:
                found = calls[found[3]]
            kind, (_, flops, arrays, _) = (kind if fused or not found else found[0]), found or ("", None, {}, "")
            rows.setdefault(kind, Row()).add(flops, touched.reaches(arrays))
        elif name.startswith(OF_EAGER) and not name.startswith(f"{OF_EAGER}__"):
            kind = name.removeprefix(OF_EAGER)
        else:
            continue
        spans.append((start, end, kind))
    for kind, flops, arrays, _ in eager:
        rows.setdefault(kind, Row()).add(flops, touched.reaches(arrays))
    for kind, seconds in wall_seconds(spans).items():
        rows.setdefault(kind, Row(1.0, uncounted=1.0)).seconds = seconds
    return Record(whole, rows, issued=2 * len(eager) > len(spans))


def _calls(names: set[str], graphs: dict[str, dict[str, Call]]) -> dict[str, Call]:
    """Return the calls in the graphs of functions and of those that they call, by name."""
    if names - graphs.keys():
        functions = {each.name.decode(): each for each in gc.get_objects() if type(each) is AtomicFunction}
        for name in names - graphs.keys():
            graphs[name], waiting = {}, [functions[name]] if name in functions else []
            while waiting:
                function = waiting.pop()
                waiting += function.children
                for op in function.graph.get_operations():
                    attributes = {key: op.get_attr(key) for key in op.node_def.attr if key in ATTRIBUTES} | {
                        "in graph": True
                    }
                    graphs[name][op.name] = _call(op.type, op.inputs, op.outputs, attributes, lambda x: x.name)
    return {key: call for name in names for key, call in graphs[name].items()}


ATTRIBUTES = {"transpose_a", "transpose_b", "adj_x", "adj_y", "equation", "data_format"}


def _call(kind: str, inputs: Any, outputs: Any, attributes: dict[str, Any], key: Callable[[Any], Any]) -> Call:
    """Return a call; its flops are None where shapes are missing or nobody knows whether it copies its array."""
    source = inputs[0].op.name if inputs and attributes.pop("in graph", False) else ""
    came, made = [_dims(x) for x in inputs], [_dims(x) for x in outputs]
    try:
        flops = None if kind == "ReadVariableOp" else _flops(kind, came, made, attributes)
    except (TypeError, IndexError):  # a dimension is not known
        flops = None
    if kind in FREE | {"ReadVariableOp"}:
        return kind, flops, {}, source
    sizes = {key(x): _bytes(x) for x in [*inputs, *outputs]}
    if kind in ("ResourceGather", "GatherV2", "Gather"):
        sizes[key(inputs[0])] = _bytes(outputs[0])
    if kind.startswith("ResourceScatter"):
        sizes[key(inputs[0])] = 2 * _bytes(inputs[-1])
    if kind.startswith("Assign") and "Variable" in kind:
        sizes[key(inputs[0])] = _bytes(inputs[1]) * (0 if kind == "AssignVariableOp" else 2)
    return kind, flops, sizes, source


def _flops(kind: str, came: Any, made: Any, attributes: dict[str, Any]) -> float:
    """Return the flops of a product, 0 for another operation."""
    if kind == "MatMul":
        return 2.0 * math.prod(made[0]) * came[0][0 if attributes.get("transpose_a") else 1]
    if kind.startswith("BatchMatMul"):
        return 2.0 * math.prod(made[0]) * came[0][-2 if attributes.get("adj_x") else -1]
    if kind == "Einsum":
        equation = attributes["equation"]
        letters = (equation.decode() if isinstance(equation, bytes) else equation).partition("->")[0].split(",")
        if len(letters) == 2:
            return 2.0 * math.prod(
                {
                    c: n for part, dims in zip(letters, came, strict=True) for c, n in zip(part, dims, strict=True)
                }.values()
            )
    if kind in ("Conv2D", "Conv3D"):
        return 2.0 * math.prod(made[0]) * math.prod(came[1][:-1])
    if kind in ("Conv2DBackpropInput", "Conv3DBackpropInputV2"):
        return 2.0 * math.prod(came[2]) * math.prod(came[1][:-1])
    if kind in ("Conv2DBackpropFilter", "Conv3DBackpropFilterV2"):
        return 2.0 * math.prod(came[2]) * math.prod(made[0][:-1])
    return 0.0


def _dims(x: Any) -> list[int] | None:
    return None if x.shape.rank is None else [*x.shape]


def _bytes(x: Any) -> float:
    if x.dtype in (tf.resource, tf.variant, tf.string) or not x.shape.is_fully_defined():
        return 0.0
    return float(math.prod(x.shape) * x.dtype.size)
