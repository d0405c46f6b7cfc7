"""A name that we share with the published package d2l accepts its calls, so that readers' own cells go on working."""

import ast
from pathlib import Path

import pytest

UTILITIES = Path(__file__).parents[2] / "d2l_utils"
# d2l 1.0.3 from PyPI, file d2l/torch.py, read on 2026-11-21: the names that the chapter has or will have. The modules
# of the other frameworks take these calls or fewer; only TensorFlow's sgd differs (params, grads, lr, batch_size): in
# ours the gradients come last, everywhere.
PUBLISHED = """
class Timer:
    def __init__(self): ...
    def start(self): ...
    def stop(self): ...
    def avg(self): ...
    def sum(self): ...
    def cumsum(self): ...
class Benchmark:
    def __init__(self, description="Done"): ...
class Animator:
    def __init__(self, xlabel=None, ylabel=None, legend=None, xlim=None, ylim=None, xscale="linear", yscale="linear",
                 fmts=("-", "m--", "g-.", "r:"), nrows=1, ncols=1, figsize=(3.5, 2.5)): ...
    def add(self, x, y): ...
class Accumulator:
    def __init__(self, n): ...
    def add(self, *args): ...
    def reset(self): ...
def use_svg_display(): ...
def set_figsize(figsize=(3.5, 2.5)): ...
def set_axes(axes, xlabel, ylabel, xlim, ylim, xscale, yscale, legend): ...
def plot(X, Y=None, xlabel=None, ylabel=None, legend=[], xlim=None, ylim=None, xscale="linear", yscale="linear",
         fmts=("-", "m--", "g-.", "r:"), figsize=(3.5, 2.5), axes=None): ...
def try_gpu(i=0): ...
def try_all_gpus(): ...
def split_batch(X, y, devices): ...
def resnet18(num_classes, in_channels=1): ...
def accuracy(y_hat, y): ...
def evaluate_accuracy_gpu(net, data_iter, device=None): ...
def sgd(params, lr, batch_size): ...
def load_data_fashion_mnist(batch_size, resize=None): ...
"""


def signatures(code):
    """Return the parameters of each function and method by its name, 'Class.method' for a method."""
    found = {}
    for node in ast.parse(code).body:
        if isinstance(node, ast.FunctionDef):
            found[node.name] = node.args
        if isinstance(node, ast.ClassDef):
            methods = [method for method in node.body if isinstance(method, ast.FunctionDef)]
            found |= {f"{node.name}.{method.name}": method.args for method in methods}
    return found


def parameters(arguments):
    """Return the names of the parameters that can be given by place, without self, and of those that must be given."""
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args if argument.arg != "self"]
    only_named = [a.arg for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if not default]
    return names, [*names[: len(names) - len(arguments.defaults)], *only_named]


def refused(theirs, ours):
    """Say which calls that `theirs` takes `ours` would not take."""
    (names, needed), (our_names, our_needed) = parameters(theirs), parameters(ours)
    extra = [f"requires {name}" for name in our_needed if name not in needed]
    return [f"({', '.join(our_names)}) for ({', '.join(names)})"] * (our_names[: len(names)] != names) + extra


THEIRS, OURS = signatures(PUBLISHED), {}
for path in UTILITIES.glob("*.py"):
    if path.stem.partition("_")[0] not in ("tensorflow", "jax", "mxnet"):  # their interface is PyTorch's
        OURS |= signatures(path.read_text(encoding="utf-8"))
KNOWN = {name.partition(".")[0] for name in OURS}


@pytest.mark.parametrize("name", [name for name in THEIRS if name.partition(".")[0] in KNOWN])
def test_a_shared_name_accepts_the_calls_of_d2l(name):
    assert refused(THEIRS[name], OURS[name]) == []


@pytest.mark.parametrize(
    ("theirs", "ours", "fault"),
    [
        ("a, b=1", "a, b=2, c=3", []),
        ("a, b=1", "a, b", ["requires b"]),
        ("a, b=1", "b, a=1", ["(b, a) for (a, b)", "requires b"]),
        ("a", "a, b", ["requires b"]),
        ("a", "a, *, b, c=1", ["requires b"]),
        ("self, a", "self, a", []),
    ],
)
def test_a_call_that_would_fail_is_noticed(theirs, ours, fault):
    assert refused(*(signatures(f"def f({text}): 0")["f"] for text in (theirs, ours))) == fault
