"""What MXNet's operations do in a step, for its bill."""

import ctypes
import gc
import json
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from math import prod
from os import devnull
from typing import Any
from unittest.mock import patch

import mxnet as mx
from mxnet.base import _LIB, check_call
from mxnet.ndarray import register

from d2l_lab.instruments.bill import Touched
from d2l_lab.machine.rounds import run as timed
from d2l_lab.protocol import Record, Row

FREE = {"reshape", "expanddims", "squeeze", "flatten"}
GATES = {"rnn_relu": 1, "rnn_tanh": 1, "gru": 3, "lstm": 4}
SETTINGS = {"profile_imperative": True, "profile_symbolic": True, "aggregate_stats": True, "filename": devnull}
ONE_BY_ONE = [("forward_bulk_size", 0), ("backward_bulk_size", 0)]  # an event for each operation


def recorder(run: Callable[[], object]) -> Callable[[], Record]:
    """Return a function that runs a step, which has run before, and returns what its operations did.

    The profiler times each operation. Those of a forward pass, a loss and an optimizer are counted where Python issues
    them, with hybridized networks left imperative for that one step; a backward pass follows from the forward pass.
    """
    counts, copies, touched = dict[str, Row](), dict[int, Any](), Touched()
    for _ in range(2):  # in the second step every array was touched before
        counts.clear()
        count = _counter(counts, touched)
        with _changed(lambda block: {"_active": False}), patch.object(register, "_imperative_invoke", count):
            run()

    def record() -> Record:
        copy = lambda block: {"_cached_op": copies.get(id(block)), "_flags": [*block._flags, *ONE_BY_ONE]}  # noqa: E731
        with _changed(copy) as blocks:
            run()  # builds what is to run
            copies.update((id(block), block._cached_op) for block in blocks)
            mx.profiler.set_config(**SETTINGS)
            mx.profiler.set_state("run")
            whole = timed(run, 1)
            mx.profiler.set_state("stop")
        rows = dict[str, Row]()
        for name, event in json.loads(mx.profiler.dumps(reset=True, format="json"))["Time"]["operator"].items():
            count = counts.get(_plain(name), Row(uncounted=1.0))
            if name not in ("DeleteVariable", "WaitForVar", "SetValueOp"):
                missing = event["Count"] if count.uncounted else 0.0
                rows[name] = Row(event["Count"], count.flops, count.reaches, event["Total"] / 1e3, missing)
        return Record(whole, rows, issued=True)

    return record


@contextmanager
def _changed(change: Callable[[Any], dict[str, Any]]) -> Iterator[list[Any]]:
    """Change attributes of all hybridized networks for a while."""
    blocks = [each for each in gc.get_objects() if issubclass(type(each), mx.gluon.HybridBlock) and each._active]
    with ExitStack() as changed:
        for block in blocks:
            changed.enter_context(patch.multiple(block, **change(block)))
        yield blocks


def _counter(counts: dict[str, Row], touched: Touched) -> Callable[..., Any]:
    """Return what issues operations and counts them, and the backward passes of those that are recorded."""
    invoke, found = register._imperative_invoke, dict[int, Any]()  # the arrays that a backward pass goes through

    def count(handle: int, arrays: Any, keys: Any, values: Any, *rest: Any) -> Any:
        made, called = invoke(handle, arrays, keys, values, *rest), ctypes.c_char_p()
        check_call(_LIB.MXSymbolGetAtomicSymbolName(ctypes.c_void_p(handle), ctypes.byref(called)))
        outs, name = made if isinstance(made, (list, tuple)) else [made], _plain((called.value or b"").decode())
        flops = _flops(name, dict(zip(keys, map(str, values), strict=True)), arrays, outs)
        both = [] if name in FREE else [*arrays, *outs]
        sizes = {id(x): _bytes(x) * sum(x is each for each in both) for x in both}  # twice where it changes
        again = {key: 2 * size for key, size in sizes.items()}
        if name == "embedding":  # reads some rows of the table; the gradient has them all
            again, sizes = {id(x): _bytes(x) for x in both[1:]}, {id(x): _bytes(outs[0]) for x in both[1:]}
        counts.setdefault(name, Row()).add(flops, touched.reaches(sizes))
        through = [x.grad is not None or id(x) in found for x in arrays]
        if mx.autograd.is_recording() and any(through):
            found.update((id(x), x) for x in outs)
            flops = flops and flops * sum(through[:2])
            counts.setdefault(f"backward {name}", Row()).add(flops, touched.reaches(again))
        return made

    return count


def _plain(name: str) -> str:
    """Return what names of an operation have in common, such as _npi_add and broadcast_add, marked if backward."""
    bare = re.sub(r"^(_backward)?(_?(npi|npx|np|contrib|broadcast|elemwise|sparse))*_?", "", name).replace("_", "")
    return ("backward " if name.startswith("_backward") else "") + bare.lower()


def _bytes(x: Any) -> float:
    return float(x.size * mx.base._np.dtype(x.dtype).itemsize)


def _flops(name: str, given: dict[str, str], arrays: Any, outs: Any) -> float | None:
    """Return the flops of a product, 0 for another operation, None if they are not known."""
    if name in ("fullyconnected", "convolution", "deconvolution"):
        return 2.0 * (arrays if name == "deconvolution" else outs)[0].size * prod(arrays[1].shape[1:])
    if name == "rnn":
        n, sides = int(given["state_size"]), 1 + (given.get("bidirectional") == "True")
        columns = arrays[0].shape[2] + n + (int(given["num_layers"]) - 1) * (sides + 1) * n  # of each gate's matrices
        return 2.0 * prod(arrays[0].shape[:2]) * sides * GATES[given["mode"]] * n * columns
    if name in ("dot", "batchdot", "matmul"):
        return 2.0 * outs[0].size * arrays[0].shape[-2 if given.get("transpose_a") == "True" else -1]
    return None if name in ("einsum", "tensordot") else 0.0
