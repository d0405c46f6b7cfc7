"""Names that we share with the published package d2l take its calls and give its results, so readers' cells go on."""

import ast
import importlib
from contextlib import redirect_stdout
from importlib.util import find_spec
from inspect import getsource
from io import StringIO
from pathlib import Path

import numpy as np
import pytest
from matplotlib import pyplot as plt

from book import MODULES, ROOT
from d2l_utils.common import D2L_NAMES, NAMES

pytestmark = pytest.mark.only("mxnet")  # whose environment alone has the package
LOGITS = np.random.RandomState(0).rand(8, 3).astype("float32")
DIFFERENT = {
    ("tensorflow", "sgd"): "gradients come last in all our frameworks: (params, lr, batch_size, grads)",
    ("jax", "Residual"): "an nnx module, which tells training from evaluation by itself",
}


def named(paths):
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in paths]
    return {
        node.name: node for tree in trees for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))
    }


def parameters(node):
    """Return the names that can be given by place, without self, and how many of them must be given."""
    arguments = node.args
    names = [argument.arg for argument in arguments.posonlyargs + arguments.args if argument.arg != "self"]
    by_name = [default for default in arguments.kw_defaults if default is None]
    return names, len(names) - len(arguments.defaults) + len(by_name)


def calls(node):
    """Return the parameters of a function, or of each method of a class, by name."""
    if isinstance(node, ast.FunctionDef):
        return {node.name: parameters(node)}
    methods = [each for each in node.body if isinstance(each, ast.FunctionDef)]
    hidden = {"forward", "call"}  # the framework calls them, by names of its own
    public = [each for each in methods if each.name == "__init__" or each.name[0] != "_" and each.name not in hidden]
    fields = [each.target.id for each in node.body if isinstance(each, ast.AnnAssign)]
    return {each.name: parameters(each) for each in public} or {"__init__": (fields, 1)}


def refused(theirs, ours):
    """Return the calls of `theirs` that `ours` would not take."""
    faults = []
    for name, (names, needed) in calls(theirs).items():
        our_names, our_needed = calls(ours).get(name, ([], 0))
        if our_names[: len(names)] != names or our_needed > needed or name not in calls(ours):
            faults.append(f"{theirs.name}.{name}({', '.join(names)})")
    return faults


@pytest.mark.parametrize("folder", MODULES.values())
def test_a_shared_name_takes_the_calls_of_the_published_module(folder, d2l):
    theirs = named([Path(find_spec("d2l").origin).with_name(f"{folder}.py")])
    others = set(MODULES.values()) - {folder}
    rooms = ("d2l_lab/instruments", "d2l_lab/plots", "d2l_utils")
    paths = [path for room in rooms for path in (ROOT / room).rglob("*.py")]
    ours = named(path for path in paths if not others & {path.parent.name, path.stem})
    shared = [name for name in NAMES + D2L_NAMES if name in theirs and (folder, name) not in DIFFERENT]
    assert [fault for name in shared for fault in refused(theirs[name], ours[name])] == []
    assert {"Timer", "Benchmark", "Accumulator", "Animator", "plot", "try_gpu", "accuracy"} & set(theirs) <= set(shared)


# Calls of a module, ours or the published one, each with what comes of it.


def timer(module, native):
    found = module.Timer()
    found.times = [1.0, 2.0, 4.0]
    return found.sum(), found.avg(), list(found.cumsum()), found.stop() < 1, len(found.times)


def benchmark(module, native):
    with redirect_stdout(StringIO()) as out, module.Benchmark("It took"):
        pass
    return "".join("0" if letter.isdigit() else letter for letter in out.getvalue())


def sums_accuracies_and_splits(module, native):
    y = np.arange(8, dtype="int32") % 3
    X, y, classes = map(native.array, (LOGITS, y, y.astype("float32")))
    sums, devices = module.Accumulator(2), [module.try_gpu(), module.try_gpu(99)]
    for each in ((1, 2), (3, 4)):
        sums.add(*each)
    shards = [part.asnumpy().tolist() for parts in module.split_batch(X, y, devices) for part in parts]
    return sums[0], sums[1], module.accuracy(X, y), module.accuracy(classes, y), shards, str(devices)


def step_of_sgd(module, native):
    w = native.array(np.array([1.0, -1.0], "float32"))
    w.attach_grad()
    w.grad[:] = 2.0
    module.sgd([w], 0.5, 4)
    return w.tolist()


def accuracies_of_a_network(module, native):
    net = native.network([module.try_gpu()], dropout=0)
    batches = [(native.array(LOGITS[:, :2]), native.array(np.arange(8, dtype="int32") % 2))]
    return module.evaluate_accuracy_gpu(net, batches), module.evaluate_accuracy_gpus(net, batches)


def residual_blocks(module, native):
    X, outputs = native.array(LOGITS.reshape(2, 3, 2, 2)), []
    for arguments in ((3,), (3, True), (5, True, 2)):
        block = module.Residual(*arguments)
        block.initialize(native.mx.init.Constant(0.1))
        outputs.append(block(X).asnumpy().round(4).tolist())
    return outputs


def resnet(module, native):
    net = native.initialised(module.resnet18(10))
    logits = net(native.array(np.ones((1, 1, 8, 8), "float32")))
    return logits.shape, [p.shape for p in net.collect_params().values() if len(p.shape) > 1]


def plot(module, native):
    plt.switch_backend("agg")
    _, axes = plt.subplots()
    module.plot([1, 2, 3], [[1, 4, 9], [1, 8, 27]], "n", "power", ["square", "cube"], yscale="log", axes=axes)
    plt.close("all")
    lines = [(line.get_xydata().tolist(), line.get_label()) for line in axes.lines]
    return lines, axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale(), plt.rcParams["figure.figsize"]


CALLS = (timer, benchmark, sums_accuracies_and_splits, step_of_sgd, accuracies_of_a_network)


@pytest.mark.parametrize("call", [*CALLS, residual_blocks, resnet, plot], ids=lambda call: call.__name__)
def test_a_shared_name_gives_the_results_of_the_published_module(call, d2l, native):
    assert call(d2l, native) == call(importlib.import_module("d2l.mxnet"), native)


def test_the_published_cell_of_the_resnet_runs_with_only_its_import_changed(d2l, native):
    published = importlib.import_module("d2l.mxnet")
    names = {"d2l": d2l, "nn": published.nn}
    exec(getsource(published.resnet18), names)
    net = native.initialised(names["resnet18"](10))
    assert net(native.array(np.ones((2, 1, 8, 8), "float32"))).shape == (2, 10)
