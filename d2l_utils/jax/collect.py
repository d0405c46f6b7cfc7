"""What JAX's operations do in a step, for its bill."""

import math
import re
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

import jax

from d2l_lab.instruments.bill import Touched, wall_seconds
from d2l_lab.protocol import Record, Row

LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")  # name, shape, kind, rest
HEAD = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
BITS = {"pred": 8, "bf16": 16} | {f"{kind}{bits}": bits for kind in "sufc" for bits in (4, 8, 16, 32, 64, 128)}
CONTAINERS = {"while", "call", "conditional"}  # their operations have events of their own
SLICES = {"dynamic-slice", "gather", "slice"}
UPDATES = {"dynamic-update-slice": 1, "scatter": 2}  # and which operand has what they write
Instruction = tuple[str, str, float | None, dict[str, float]]  # what it is, its group, flops, and bytes by array


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler's trace says when each instruction of a compiled program ran, in every turn of a loop, and the text of
    the program what it is.
    """
    programs: dict[int, dict[str, Instruction]] = {}
    touched, options = Touched(), jax.profiler.ProfileOptions()
    options.python_tracer_level = 0

    def record() -> Record:
        with TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, profiler_options=options):
                start = perf_counter()
                run()
                whole = perf_counter() - start
            (path,) = Path(folder).rglob("*.xplane.pb")
            data = jax.profiler.ProfileData.from_file(str(path))
        events = [event for plane in data.planes for line in plane.lines for event in line.events]
        return _record(whole, events, programs, touched)

    record()  # from now on every array was touched before
    return record


def _record(whole: float, events: list[Any], programs: dict[int, dict[str, Instruction]], touched: Touched) -> Record:
    """Return a record from the events of a trace."""
    rows, spans = dict[str, Row](), list[tuple[float, float, str]]()
    found = [(event.start_ns, event.duration_ns, stats) for event in events if "hlo_op" in (stats := dict(event.stats))]
    if {stats["program_id"] for _, _, stats in found} - programs.keys():
        for executable in jax.devices()[0].client.live_executables():
            for module in executable.hlo_modules():
                name = _program_id(module.as_serialized_hlo_module_proto())
                if name not in programs:
                    programs[name] = instructions(module.to_string())
    for start, took, stats in sorted(found, key=lambda each: each[0]):
        program, name = stats["program_id"], stats["hlo_op"]
        kind, group, flops, arrays = programs.get(program, {}).get(name, ("", name, None, {}))
        if kind not in CONTAINERS:
            keys = {(program, array): size for array, size in arrays.items()}
            rows.setdefault(group, Row()).add(flops, touched.reaches(keys))
            spans.append((start / 1e9, (start + took) / 1e9, group))
    for group, seconds in wall_seconds(spans).items():
        rows[group].seconds = seconds
    executions = sum("ExecuteHelper" in event.name for event in events)
    return Record(whole, rows, issued=2 * executions > len(spans))


def instructions(text: str) -> dict[str, Instruction]:
    """Return the instructions of a compiled program by name, from its text."""
    computations: dict[str, dict[str, tuple[str, str, str]]] = defaultdict(dict)
    current = ""
    for line in text.splitlines():
        if head := HEAD.match(line):
            current = head[1]
        elif match := LINE.match(line):
            computations[current][match[1]] = match[2], match[3], match[4]

    def flops(computation: str, name: str) -> float | None:
        shape, kind, rest = computations[computation][name]
        operands = [computations[computation].get(each, ("",))[0] for each in _operands(rest)]
        if kind == "dot" or "$gemm" in rest or "$cublas" in rest:
            inner = re.search(r"lhs_contracting_dim\w*\W+([\d,\" ]*)", rest)
            dims = _shapes(operands[0])[0][1]
            return (
                2.0 * math.prod(_shapes(shape)[0][1]) * math.prod(dims[int(i)] for i in re.findall(r"\d+", inner[1]))
                if inner
                else None
            )
        if kind == "convolution":
            return _convolution(rest, *(_shapes(each)[0][1] for each in (*operands[:2], shape)))
        if called := re.search(r"(?:calls|to_apply)=%?([\w.\-]+)", rest):
            return sum(flops(called[1], each) or 0.0 for each in computations[called[1]])
        return None if kind == "custom-call" else 0.0

    def reached(inside: dict[str, tuple[str, str, str]], array: str, size: float) -> float:
        """Return how many bytes of an array the instructions of a computation touch: parts of it, or all."""
        total = 0.0
        for name, (shape, kind, rest) in inside.items():
            operands = _operands(rest)
            if operands[:1] == [array] and kind in SLICES:
                total += _size(shape)
            elif operands[:1] == [array] and kind in UPDATES:
                total += 2 * _size(inside[operands[UPDATES[kind]]][0])
            elif array in operands:
                total += reached(inside, name, size) if kind == "bitcast" else size
        return min(total, size)

    def one(computation: str, name: str) -> Instruction:
        shape, kind, rest = computations[computation][name]
        called = re.search(r"calls=%?([\w.\-]+)", rest)
        inside = computations[called[1]] if called else {name: computations[computation][name]}
        arrays = {each: _size(computations[computation].get(each, ("",))[0]) for each in _operands(rest)}
        within = {int(each[2].split(")")[0]): key for key, each in inside.items() if each[1] == "parameter"}
        outer = {array: (computations[computation].get(array, ("",))[0], "", "") for array in arrays}
        for i, (array, size) in enumerate(arrays.items()):
            arrays[array] = reached(inside | outer, within.get(i, array), size)
        made = _size(shape) - sum(_size(each[0]) for each in inside.values() if each[1] in UPDATES)  # in place
        count = flops(computation, name)
        path = re.search(r'op_name="([^"]*)"', rest)
        group = kind if kind in ("dot", "convolution") or not path else path[1].split("/")[-1]
        group = f"{kind} of products" if count and group not in ("dot", "convolution") else group
        backward = " (backward)" if path and "transpose(" in path[1] else ""
        return kind, group + backward, count, arrays | {name: max(made, 0.0)}

    return {name: one(computation, name) for computation, found in list(computations.items()) for name in found}


def _convolution(rest: str, came: list[int], kernel: list[int], made: list[int]) -> float:
    """Return the flops of a convolution without those that multiply padding, or zeros between the inputs."""
    of_came, of_kernel, of_made = re.split("_|->", re.findall(r"dim_labels=([\w>-]+)", rest)[0])
    window = dict(field.split("=") for field in "".join(re.findall(r"window=\{(.*?)\}", rest)).split())
    pairs = [n for n, label in zip(made, of_made, strict=True) if label in "bf"] + [kernel[of_kernel.index("i")]]
    for i in range(len(made) - 2):
        field = {name: text.split("x")[i].split("_")[0] for name, text in window.items()}
        step, apart, wide = (int(field.get(name, 1)) for name in ("stride", "lhs_dilate", "rhs_dilate"))
        n, taps, before = came[of_came.index(str(i))], kernel[of_kernel.index(str(i))], int(field.get("pad", 0))
        places = [p * step + q * wide - before for p in range(made[of_made.index(str(i))]) for q in range(taps)]
        pairs.append(sum(0 <= place <= (n - 1) * apart and place % apart == 0 for place in places))
    return 2.0 * math.prod(pairs)


def _operands(rest: str) -> list[str]:
    return re.findall(r"%([\w.\-]+)", rest.split("), ")[0])


def _shapes(text: str) -> list[tuple[int, list[int]]]:
    """Return the bits of a number and the dimensions of each array in the text of a shape."""
    found = re.findall(r"\b([a-z]+\d*\w*)\[([\d,]*)\]", text)
    return [(BITS.get(kind, 32), [int(n) for n in dims.split(",") if n]) for kind, dims in found]


def _size(text: str) -> float:
    return sum(bits / 8 * math.prod(dims) for bits, dims in _shapes(text))


def _program_id(proto: bytes) -> int:
    """Return field 5 of a serialized HloModuleProto, which the events of a trace call program_id; 0 if it is absent."""
    at = 0

    def number() -> int:
        nonlocal at
        value = shift = 0
        while True:
            at += 1
            value |= (proto[at - 1] & 127) << shift
            shift += 7
            if proto[at - 1] < 128:
                return value

    while at < len(proto):
        key = number()
        value = number() if key & 7 in (0, 2) else 0
        if key == 5 << 3:
            return value
        at += value if key & 7 == 2 else {5: 4, 1: 8}.get(key & 7, 0)
    return 0
