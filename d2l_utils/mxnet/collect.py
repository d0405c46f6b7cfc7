"""What MXNet's operations do in a step, for its bill."""

import ctypes
import gc
import json
import math
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import Any

import mxnet as mx
import numpy as onp
from mxnet.base import _LIB, check_call
from mxnet.ndarray import register

from d2l_lab.protocol import Record, Row

FREE = {"reshape", "expanddims", "squeeze", "flatten", "copyreshape"}
NOT_OPERATIONS = {"DeleteVariable", "WaitForVar", "SetValueOp"}
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "gru": 3, "lstm": 4}
FEWER = [("forward_bulk_size", 0), ("backward_bulk_size", 0)]  # operations in one event


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler times each operation. Those of a forward pass, a loss and an optimizer are counted where Python issues
    them, with hybridized networks left imperative for that one step; a backward pass follows from the forward pass.
    """
    counts: dict[str, Row] = {}
    with _imperative(), _counting(counts):
        run()
    cached: dict[int, Any] = {}

    def record() -> Record:
        with _one_by_one(cached):
            run()  # builds what is to run
            mx.profiler.set_config(profile_imperative=True, profile_symbolic=True, aggregate_stats=True)
            mx.profiler.set_state("run")
            start = perf_counter()
            run()
            whole = perf_counter() - start
            mx.profiler.set_state("stop")
        found = json.loads(mx.profiler.dumps(reset=True, format="json"))["Time"]["operator"]
        rows = dict[str, Row]()
        for name, event in found.items():
            if name not in NOT_OPERATIONS:
                calls, count = event["Count"], counts.get(_plain(name))
                missing = calls if count is None or count.uncounted else 0
                count = count or Row()
                rows[name] = Row(calls, count.flops, dict(count.reaches), event["Total"] / 1e3, missing)
        return Record(whole, rows, issued=True)

    return record


def _plain(name: str) -> str:
    """Return what names of an operation have in common, such as _npi_add and broadcast_add, marked if backward."""
    bare = (
        re.sub(r"^(_backward)?(_?(npi|npx|np|contrib|broadcast|elemwise|sparse))*_?", "", name).replace("_", "").lower()
    )
    return ("backward " if name.startswith("_backward") else "") + bare


def _hybrids() -> list[Any]:
    return [each for each in gc.get_objects() if issubclass(type(each), mx.gluon.HybridBlock) and each._active]


@contextmanager
def _imperative() -> Iterator[None]:
    """Leave the hybridized networks imperative for a while."""
    blocks = _hybrids()
    for block in blocks:
        block._active = False
    try:
        yield
    finally:
        for block in blocks:
            block._active = True


@contextmanager
def _one_by_one(cached: dict[int, Any]) -> Iterator[None]:
    """Let hybridized networks run as they do, but in copies whose operations have events of their own."""
    blocks = [(block, block._cached_op, block._flags) for block in _hybrids() if block._cached_op]
    for block, _, flags in blocks:
        block._cached_op, block._flags = cached.get(id(block)), [*flags, *FEWER]
    try:
        yield
    finally:
        for block, operation, flags in blocks:
            cached[id(block)] = block._cached_op
            block._cached_op, block._flags = operation, flags


@contextmanager
def _counting(counts: dict[str, Row]) -> Iterator[None]:
    """Count the operations that Python issues, and the backward passes of those that are recorded."""
    invoke, found = register._imperative_invoke, dict[int, Any]()  # the arrays that a backward pass goes through

    def count(handle: int, arrays: Any, keys: Any, values: Any, *rest: Any) -> Any:
        made = invoke(handle, arrays, keys, values, *rest)
        outs = made if isinstance(made, (list, tuple)) else [made]
        name, given = _plain(_name(handle)), dict(zip(keys, map(str, values), strict=True))
        flops, size = _flops(name, given, arrays, outs), _bytes([*arrays, *outs])
        again = 2 * size
        if name == "embedding":  # reads some rows of the table; the gradient has them all
            again, size = _bytes([arrays[1], *outs]), 2 * _bytes(outs)
        size = 0.0 if name in FREE else size
        counts.setdefault(name, Row()).add(flops, {size: size})
        through = [x.grad is not None or id(x) in found for x in arrays]
        if mx.autograd.is_recording() and any(through):
            found.update((id(x), x) for x in outs)
            flops = flops and flops * sum(through[:2])
            counts.setdefault(f"backward {name}", Row()).add(flops, {again: 0.0 if name in FREE else again})
        return made

    register._imperative_invoke = count
    try:
        yield
    finally:
        register._imperative_invoke = invoke


def _name(handle: int) -> str:
    """Return the name of an operation, from what MXNet calls its handle."""
    name = ctypes.c_char_p()
    check_call(_LIB.MXSymbolGetAtomicSymbolName(ctypes.c_void_p(handle), ctypes.byref(name)))
    return name.value.decode() if name.value else ""


def _bytes(arrays: Any) -> float:
    return float(sum(x.size * onp.dtype(x.dtype).itemsize for x in arrays))


def _flops(name: str, given: dict[str, str], arrays: Any, outs: Any) -> float | None:
    """Return the flops of a product, 0 for another operation, None if they are not known."""
    if name in ("fullyconnected", "convolution"):
        return 2.0 * outs[0].size * math.prod(arrays[1].shape[1:])
    if name == "deconvolution":
        return 2.0 * arrays[0].size * math.prod(arrays[1].shape[1:])
    if name == "rnn":
        n, layers = int(given["state_size"]), int(given["num_layers"])
        sides, gates = 1 + (given.get("bidirectional") == "True"), GATES[given["mode"]]
        inner = arrays[0].shape[2] + n + (layers - 1) * (sides + 1) * n  # columns of the matrices of each gate
        return 2.0 * math.prod(arrays[0].shape[:2]) * sides * gates * n * inner
    if name in ("dot", "batchdot", "matmul"):
        return 2.0 * outs[0].size * arrays[0].shape[-2 if given.get("transpose_a") == "True" else -1]
    return None if name in ("einsum", "tensordot") else 0.0
