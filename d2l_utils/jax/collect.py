"""What JAX's operations do in a step, for its bill."""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from math import prod
from typing import Any

import jax

from d2l_lab.instruments.bill import Touched, add_seconds, traced
from d2l_lab.protocol import Record, Row

LINE = re.compile(r"^ +(?:ROOT )?%?([\w.\-]+) = (\(.*?\)|\S+) ([\w\-]+)\((.*)$", re.M)  # name, shape, kind, rest
COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.\-]+) \([^\n]*\{$(.*?)^\}", re.M | re.S)
CONTAINERS = {"while", "call", "conditional"}  # their operations have events of their own
SLICES, UPDATES = {"dynamic-slice", "gather", "slice"}, {"dynamic-update-slice": 1, "scatter": 2}  # of which operand
Instruction = tuple[str, str, float | None, dict[str, float]]  # what it is, its group, flops, and bytes by array
Computation = dict[str, tuple[str, str, str]]  # shape, kind and rest of its instructions
NOWHERE = ("", "", "")
_programs, _texts = dict[int, dict[str, Instruction]](), dict[int, str]()  # of those that traces have named


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler's trace says when each instruction of a compiled program ran, in every turn of a loop, and the text of
    the program what it is.
    """
    touched = Touched()
    options = jax.profiler.ProfileOptions()
    options.python_tracer_level = 0

    def record() -> Record:
        whole, trace = traced(partial(jax.profiler.trace, profiler_options=options), run)
        return _record(whole, _events(jax.profiler.ProfileData.from_serialized_xspace(trace)), _programs, touched)

    record()  # from now on every array was touched before
    return record


def _events(trace: Any) -> list[Any]:
    """Return the events of a trace; where there are streams of GPUs, theirs alone, or each would be there twice."""
    lines = [(plane.name, line) for plane in trace.planes for line in plane.lines]
    streams = [(plane, line) for plane, line in lines if "GPU" in plane and line.name.startswith("Stream")]
    return [event for _, line in streams or lines for event in line.events]


def _record(whole: float, events: list[Any], programs: dict[int, dict[str, Instruction]], touched: Touched) -> Record:
    """Return a record from the events of a trace, which are those of a GPU where the programs run there."""
    rows, spans = dict[str, Row](), list[tuple[float, float, str]]()
    found = [(event, stats) for event in events if {"hlo_op", "kernel_details"} & (stats := dict(event.stats)).keys()]
    last, kernels = None, set[str]()  # of an instruction, which on a GPU may launch several
    unknown = dict[int, tuple[str, set[str]]]()  # programs' names and instructions
    for _, stats in found:
        if stats.get("program_id", 0) not in programs and "hlo_op" in stats:
            unknown.setdefault(stats["program_id"], (stats.get("hlo_module", ""), set()))[1].add(stats["hlo_op"])
    if unknown:
        gpu, newest_first = jax.devices()[0].platform == "gpu", jax.devices()[0].client.live_executables()
        modules = [each for program in newest_first for each in program.hlo_modules()]
        _texts.update((_by_name if gpu else _by_id)(unknown, modules, _texts))
        programs.update({program: _instructions(_texts[program]) for program in unknown})
    for event, stats in sorted(found, key=lambda each: each[0].start_ns):
        start, took, program = event.start_ns, event.duration_ns, stats.get("program_id", 0)
        known, name = programs.get(program, {}), stats.get("hlo_op", "")
        name = name if name in known else event.name  # of a kernel in a command buffer, or that names no instruction
        kind, group, flops, arrays = known.get(name, ("", name, None, {}))
        if kind not in CONTAINERS:
            if last != (program, name) or event.name in kernels:
                rows.setdefault(group, Row()).add(flops, touched.reaches({(program, x): n for x, n in arrays.items()}))
                last, kernels = (program, name), set()
            kernels.add(event.name)
            spans.append((start / 1e9, (start + took) / 1e9, group))
    add_seconds(rows, spans)
    return Record(whole, rows, issued=2 * sum("ExecuteHelper" in event.name for event in events) > len(spans))


def _by_id(unknown: Mapping[int, Any], modules: Sequence[Any], _: object) -> dict[int, str]:
    """Return the texts of the unknown programs, "" where there is none."""
    ids = {_program_id(each.as_serialized_hlo_module_proto()): each for each in modules}
    return {program: ids[program].to_string() if program in ids else "" for program in unknown}


def _by_name(
    unknown: Mapping[int, tuple[str, set[str]]], modules: Sequence[Any], texts: Mapping[int, str]
) -> dict[int, str]:
    """Return the texts of the unknown programs where traces have other numbers than modules, "" where it is not sure.

    A program is the newest of its name that has most of its instructions and is no other program; of several unknown
    ones of a name, later ones have higher numbers. The newest modules are first.
    """
    found = dict[int, str]()
    for name in {name for name, _ in unknown.values()}:
        ids = sorted((program for program, each in unknown.items() if each[0] == name), reverse=True)
        called = [each.to_string() for each in modules if each.name == name]
        free = {text: set(re.findall(r"%([\w.\-]+) = ", text)) for text in called if text not in texts.values()}
        sure = len(ids) in (1, len(free))
        for program in ids:
            best = max(free, key=lambda text: len(unknown[program][1] & free[text]), default="") if sure else ""
            found[program] = best
            free.pop(best, None)
    return found


def _instructions(text: str) -> dict[str, Instruction]:
    """Return the instructions of a compiled program by name, from its text."""
    computations = dict[str, Computation]()
    for head, body in COMPUTATION.findall(text):
        computations[head] = {name: (shape, kind, rest) for name, shape, kind, rest in LINE.findall(body)}

    def flops(computation: Computation, name: str) -> float | None:
        shape, kind, rest = computation[name]
        texts = [*(computation.get(each, NOWHERE)[0] for each in _operands(rest)), shape]
        dims = [found[0][1] for found in map(_shapes, texts) if found]
        if inner := re.search(r"lhs_contracting_dim\w*\W+([\d,\" ]*)", rest):  # of a dot, or of a GPU's library
            return 2.0 * prod(dims[-1]) * prod(dims[0][int(i)] for i in re.findall(r"\d+", inner[1]))
        if kind == "convolution" or "__cudnn$conv" in rest:
            came, kernel, made = dims[0], dims[1], dims[-1]
            if "convBackwardInput" in rest:  # a GPU's library: all else is said of the forward pass
                came, made = made, came
            elif "convBackwardFilter" in rest:
                kernel, made = made, kernel
            return _convolution(rest, came, kernel, made)
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
        counts = [flops(inside, each) for each in inside] if called else [flops(computation, name)]
        arrays[name], count = max(0.0, _size(shape) - in_place), None if counts == [None] else sum(filter(None, counts))
        group = path[1].split("/")[-1] if path and kind not in ("dot", "convolution") else kind
        group = f"{kind} of products" if count and group not in ("dot", "convolution") else group
        return kind, group + (" (backward)" if path and "transpose(" in path[1] else ""), count, arrays

    found = {name: one(computation, name) for computation in computations.values() for name in computation}
    return {re.sub(r"\W", "_", name): each for name, each in found.items()} | found  # kernels' names have no dots


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
    found = re.findall(r"\b[a-z]+(\d*)\w*\[([\d,]*)\]", text)  # such as bf16[8,2]; pred has no number
    return [(int(bits or 8), [int(n) for n in dims.split(",") if n]) for bits, dims in found]


def _size(text: str) -> float:
    return sum(bits / 8 * prod(dims) for bits, dims in _shapes(text))


def _program_id(proto: bytes) -> int:
    """Return field 5 of a serialized HloModuleProto, which the events of a trace call program_id; 0 if it is absent."""
    at = key = value = 0
    while at < len(proto) and key < 40:  # fields 1 to 5 are numbers, or texts and messages behind their length
        numbers = re.findall(rb"[\x80-\xff]*[\x00-\x7f]", proto[at : at + 20])[:2]  # 7 bits a byte, the lowest first
        key, value = (sum((byte & 127) << 7 * i for i, byte in enumerate(each)) for each in numbers)
        at += len(b"".join(numbers)) + (value if key & 7 == 2 else 0)
    return value if key == 40 else 0
