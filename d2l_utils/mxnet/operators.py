"""Operators of our own for MXNet's arrays, for the section that writes one."""

from pathlib import Path

import mxnet as mx
from mxnet import base
from mxnet.ndarray import register as arrays
from mxnet.symbol import register as symbols

MAKERS = {None: arrays._make_ndarray_function, "ndarray": arrays._make_ndarray_function}
MAKERS |= {"symbol": symbols._make_symbol_function}


def load_operators(library: str | Path) -> None:
    """Load a library of operators, and put those that are named _npx_<name> in `mxnet.npx._op` as <name>.

    MXNet 1.9 makes the functions of `npx` once, when it is imported, and has no public way to do it again; so this calls
    what it calls then.
    """
    mx.library.load(str(library), False)
    for module, make in MAKERS.items():
        base._init_np_op_module("mxnet", "numpy_extension", module, make)
