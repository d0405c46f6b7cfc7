"""Operators of our own for MXNet's arrays, for the section that writes one."""

from pathlib import Path

import mxnet as mx
from mxnet import base
from mxnet.ndarray import register as arrays
from mxnet.symbol import register as symbols

from d2l_lab.instruments.native import compiled

REGISTERED = """
#include "{source}"
using namespace mxnet::ext;
using Words = const std::unordered_map<std::string, std::string> &;
using Shapes = std::vector<std::vector<unsigned>>;
template <void run(Arrays &, Arrays &)>
MXReturnValue call(Words, Arrays *in, Arrays *out, const OpResource &) {{
  for (auto &array : *out) std::fill_n(array.data<float>(), array.size(), 0.f);
  return run(*in, *out), MX_SUCCESS;
}}
MXReturnValue parse(Words, int *in, int *out) {{ return *in = {inputs}, *out = 1, MX_SUCCESS; }}
MXReturnValue types(Words, std::vector<int> *in, std::vector<int> *out) {{ return out->at(0) = in->at(0), MX_SUCCESS; }}
MXReturnValue shapes(Words, Shapes *in, Shapes *out) {{
  return out->at(0) = in->at(0), out->at(0).back() /= {parts}, MX_SUCCESS;
}}
REGISTER_OP(_npx_{name}).setForward(call<forward>, "cpu").setBackward(call<backward>, "cpu")
    .setParseAttrs(parse).setInferType(types).setInferShape(shapes);
MXReturnValue initialize(int) {{ return MX_SUCCESS; }}
"""
MAKERS = {None: arrays._make_ndarray_function, "ndarray": arrays._make_ndarray_function}
MAKERS |= {"symbol": symbols._make_symbol_function}


def compile_operator(source: str, inputs: int, parts: int = 1) -> Path:
    """Compile an operator whose result has the shape of its first input, and return the library's path.

    Parameters
    ----------
    source
        The path of a program in C++, <name>.cc. It includes mxnet/lib_api.h and defines the type Arrays, a vector of
        tensors, and two functions of the inputs and the results, which are zeros of float32 at first, each an
        Arrays &: `forward`, and `backward`, whose inputs are the gradient of the result, the operator's inputs and
        its result.
    inputs
        How many inputs the operator has.
    parts
        How many times as long the first input's last axis is as the result's.
    """
    path = Path(source).resolve()
    package = Path(mx.__file__).parent
    whole = path.with_name(f"{path.stem}-registered.cc")
    whole.write_text(REGISTERED.format(source=path.name, inputs=inputs, parts=parts, name=path.stem), encoding="utf-8")
    return compiled(str(whole), "-std=c++17", f"-I{package / 'include'}", str(package / "src" / "lib_api.cc"))


def load_operator(library: str | Path) -> None:
    """Load the library of an operator <name>, and put it into `mxnet.npx._op`, for arrays and for blocks.

    MXNet 1.9 makes the functions of `npx` when it is imported, and has no public way to do it again, so this calls what
    it calls then.
    """
    mx.library.load(str(library), False)
    for module, make in MAKERS.items():
        base._init_np_op_module("mxnet", "numpy_extension", module, make)
