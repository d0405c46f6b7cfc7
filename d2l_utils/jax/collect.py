"""What JAX's operations do in a step, for its bill."""

import re
from collections import defaultdict
from collections.abc import Callable
from math import prod
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import jax

from d2l_lab.instruments.bill import Touched, wall_seconds
from d2l_lab.machine.rounds import run as timed
from d2l_lab.protocol import Record, Row

LINE = re.compile(r"^\s+(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$")  # name, shape, kind, rest
HEAD = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \(.*\{$")
BITS = {"pred": 8, "bf16": 16} | {f"{kind}{bits}": bits for kind in "sufc" for bits in (4, 8, 16, 32, 64, 128)}
CONTAINERS = {"while", "call", "conditional"}  # their operations have events of their own
SLICES = {"dynamic-slice", "gather", "slice"}
UPDATES = {"dynamic-update-slice": 1, "scatter": 2}  # and which operand has what they write
Instruction = tuple[str, str, float | None, dict[str, float]]  # what it is, its group, flops, and bytes by array
Computation = dict[str, tuple[str, str, str]]  # shape, kind and rest of its instructions
NOWHERE = ("", "", "")


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler's trace says when each instruction of a compiled program ran, in every turn of a loop, and the text of
    the program what it is.
    """
    programs, touched = dict[int, dict[str, Instruction]](), Touched()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0

    def record() -> Record:
        with TemporaryDirectory() as folder:
            with jax.profiler.trace(folder, profiler_options=options):
                whole = timed(run, 1)
            (path,) = Path(folder).rglob("*.xplane.pb")
            planes = jax.profiler.ProfileData.from_file(str(path)).planes
        events = [event for plane in planes for line in plane.lines for event in line.events]
        return _record(whole, events, programs, touched)

    record()  # from now on every array was touched before
    return record


def _record(whole: float, events: list[Any], programs: dict[int, dict[str, Instruction]], touched: Touched) -> Record:
    """Return a record from the events of a trace, which are those of a GPU where the programs run there."""
    rows, spans = dict[str, Row](), list[tuple[float, float, str]]()
    found = [(event.start_ns, event.duration_ns, stats) for event in events if "hlo_op" in (stats := dict(event.stats))]
    if {stats["program_id"] for _, _, stats in found} - programs.keys():
        for executable in jax.devices()[0].client.live_executables():
            for module in executable.hlo_modules():
                name = _program_id(module.as_serialized_hlo_module_proto())
                programs[name] = programs.get(name) or _instructions(module.to_string())
    for start, took, stats in sorted(found, key=lambda each: each[0]):
        program, name = stats["program_id"], stats["hlo_op"]
        kind, group, flops, arrays = programs.get(program, {}).get(name, ("", name, None, {}))
        if kind not in CONTAINERS:
            reaches = touched.reaches({(program, array): size for array, size in arrays.items()})
            rows.setdefault(group, Row()).add(flops, reaches)
            spans.append((start / 1e9, (start + took) / 1e9, group))
    for group, seconds in wall_seconds(spans).items():
        rows[group].seconds = seconds
    return Record(whole, rows, issued=2 * sum("ExecuteHelper" in event.name for event in events) > len(spans))


def _instructions(text: str) -> dict[str, Instruction]:
    """Return the instructions of a compiled program by name, from its text."""
    computations, current = defaultdict[str, Computation](dict), ""
    for line in text.splitlines():
        if head := HEAD.match(line):
            current = head[1]
        elif match := LINE.match(line):
            computations[current][match[1]] = match[2], match[3], match[4]

    def flops(computation: Computation, name: str) -> float | None:
        shape, kind, rest = computation[name]
        arrays = [*(computation.get(each, NOWHERE)[0] for each in _operands(rest)), shape]
        dims = [_shapes(each)[0][1] for each in arrays if _shapes(each)]
        if inner := re.search(r"lhs_contracting_dim\w*\W+([\d,\" ]*)", rest):  # of a dot, or of a GPU's library
            return 2.0 * prod(dims[-1]) * prod(dims[0][int(i)] for i in re.findall(r"\d+", inner[1]))
        if kind == "convolution":
            return _convolution(rest, dims[0], dims[1], dims[-1])
        if called := re.search(r"(?:calls|to_apply)=%?([\w.\-]+)", rest):
            return sum(flops(computations[called[1]], each) or 0.0 for each in computations[called[1]])
        return None if kind == "custom-call" else 0.0

    def one(computation: Computation, name: str) -> Instruction:
        shape, kind, rest = computation[name]
        called, path = re.search(r"calls=%?([\w.\-]+)", rest), re.search(r'op_name="([^"]*)"', rest)
        inside = computations[called[1]] if called else {name: computation[name]}
        outer = {each: computation.get(each, NOWHERE) for each in _operands(rest)}
        within = {int(each[2].split(")")[0]): key for key, each in inside.items() if each[1] == "parameter"}
        known = inside | {each: (found[0], "", "") for each, found in outer.items()}
        arrays = {each: _reached(known, within.get(i, each), _size(outer[each][0])) for i, each in enumerate(outer)}
        in_place = sum(_size(each[0]) for each in inside.values() if each[1] in UPDATES)
        arrays[name], count = max(0.0, _size(shape) - in_place), flops(computation, name)
        group = path[1].split("/")[-1] if path and kind not in ("dot", "convolution") else kind
        group = f"{kind} of products" if count and group not in ("dot", "convolution") else group
        return kind, group + (" (backward)" if path and "transpose(" in path[1] else ""), count, arrays

    return {name: one(computation, name) for computation in list(computations.values()) for name in computation}


def _reached(inside: Computation, array: str, size: float) -> float:
    """Return how many bytes of an array the instructions of a computation touch: those of parts of it, or all."""
    total = 0.0
    for name, (shape, kind, rest) in inside.items():
        operands = _operands(rest)
        if operands[:1] == [array] and kind in SLICES:
            total += _size(shape)
        elif operands[:1] == [array] and kind in UPDATES:
            total += 2 * _size(inside[operands[UPDATES[kind]]][0])
        elif array in operands:
            total += _reached(inside, name, size) if kind == "bitcast" else size
    return min(total, size)


def _convolution(rest: str, came: list[int], kernel: list[int], made: list[int]) -> float:
    """Return the flops of a convolution without those that multiply padding, or zeros between the inputs."""
    of_came, of_kernel, of_made = re.split("_|->", re.findall(r"dim_labels=([\w>-]+)", rest)[0])
    window = dict(field.split("=") for field in "".join(re.findall(r"window=\{(.*?)\}", rest)).split())
    pairs = [n for n, label in zip(made, of_made, strict=True) if label in "bf"] + [kernel[of_kernel.index("i")]]
    for i in range(len(made) - 2):
        field = {name: int(text.split("x")[i].split("_")[0]) for name, text in window.items()}
        n, taps, before = came[of_came.index(str(i))], kernel[of_kernel.index(str(i))], field.get("pad", 0)
        step, apart, wide = (field.get(name, 1) for name in ("stride", "lhs_dilate", "rhs_dilate"))
        places = [p * step + q * wide - before for p in range(made[of_made.index(str(i))]) for q in range(taps)]
        pairs.append(sum(0 <= place <= (n - 1) * apart and place % apart == 0 for place in places))
    return 2.0 * prod(pairs)


def _operands(rest: str) -> list[str]:
    return re.findall(r"%([\w.\-]+)", rest.split("), ")[0])


def _shapes(text: str) -> list[tuple[int, list[int]]]:
    """Return the bits of a number and the dimensions of each array in the text of a shape."""
    found = re.findall(r"\b([a-z]+\d*\w*)\[([\d,]*)\]", text)
    return [(BITS.get(kind, 32), [int(n) for n in dims.split(",") if n]) for kind, dims in found]


def _size(text: str) -> float:
    return sum(bits / 8 * prod(dims) for bits, dims in _shapes(text))


def _program_id(proto: bytes) -> int:
    """Return field 5 of a serialized HloModuleProto, which the events of a trace call program_id; 0 if it is absent."""
    at = key = value = 0

    def number() -> int:
        nonlocal at
        start = at
        while proto[at] > 127:
            at += 1
        at += 1
        return sum((byte & 127) << 7 * i for i, byte in enumerate(proto[start:at]))

    while at < len(proto) and key < 40:  # fields 1 to 5 are numbers, or texts and messages behind their length
        key, value = number(), number()
        at += value if key & 7 == 2 else 0
    return value if key == 40 else 0
