"""Names that we share with the published package d2l take its calls and give its results, so readers' cells go on."""

import ast
import importlib
from importlib.util import find_spec
from inspect import getsource
from pathlib import Path

import numpy as np
import pytest

from book import MODULES
from book.exports import definition, exports

pytestmark = pytest.mark.only("mxnet")  # whose environment alone has the package
DIFFERENT = {
    ("tensorflow", "sgd"): "gradients come last in all our frameworks: (params, lr, batch_size, grads)",
    ("jax", "Residual"): "an nnx module, which tells training from evaluation by itself",
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
def test_a_shared_name_takes_the_calls_of_the_published_module(folder):
    tree = ast.parse(Path(find_spec("d2l").origin).with_name(f"{folder}.py").read_text(encoding="utf-8"))
    theirs = {node.name: node for node in tree.body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    module = f"d2l_utils.{folder}"
    shared = [name for name in exports(module) if name in theirs and (folder, name) not in DIFFERENT]
    assert [fault for name in shared for fault in refused(theirs[name], definition(module, name))] == []
    assert {"Timer", "Benchmark", "Accumulator", "Animator", "plot", "try_gpu", "accuracy"} & set(theirs) <= set(shared)


@pytest.mark.parametrize(
    ("theirs", "ours", "fault"),
    [
        ("a, b=1", "a, b=2, c=3", False),
        ("a, b=1", "a, b", True),
        ("a, b=1", "b, a=1", True),
        ("a", "a, *, b, c=1", True),
        ("self, a", "self, a", False),
    ],
)
def test_a_call_that_would_fail_is_noticed(theirs, ours, fault):
    assert bool(refused(*(ast.parse(f"def f({text}): 0").body[0] for text in (theirs, ours)))) is fault


@pytest.fixture(scope="module")
def published(native):
    """The package's own module."""
    return importlib.import_module("d2l.mxnet")


@pytest.fixture
def both(d2l, published):
    """A function that calls the same in our module and in the published one, and returns both results."""
    return lambda call: (call(d2l), call(published))


def test_a_timer_sums_and_averages_as_the_published_one(both):
    def times(module):
        timer = module.Timer()
        timer.times = [1.0, 2.0, 4.0]
        return timer.sum(), timer.avg(), list(timer.cumsum()), timer.stop() < 1, len(timer.times)

    ours, theirs = both(times)
    assert ours == theirs


def test_a_benchmark_prints_what_the_published_one_prints(both, capsys):
    def benchmark(module):
        with module.Benchmark("It took"):
            pass
        return "".join("0" if letter.isdigit() else letter for letter in capsys.readouterr().out)

    ours, theirs = both(benchmark)
    assert ours == theirs == "It took: 0.0000 sec\n"


def test_sums_accuracies_and_splits_are_those_of_the_published_module(both, array):
    X, y = array(np.random.RandomState(0).rand(8, 3).astype("float32")), array(np.arange(8, dtype="int32") % 3)

    def results(module):
        sums = module.Accumulator(2)
        sums.add(1, 2)
        sums.add(3, 4)
        devices = [module.try_gpu(), module.try_gpu(99)]
        shards = [part.asnumpy().tolist() for parts in module.split_batch(X, y, devices) for part in parts]
        accuracies = [module.accuracy(X, y), module.accuracy(y.astype("float32"), y)]
        return sums[0], sums[1], accuracies, shards, [str(device) for device in devices]

    ours, theirs = both(results)
    assert ours == theirs


def test_a_step_of_sgd_and_the_accuracies_of_a_network_are_those_of_the_published_module(both, native, batches):
    def results(module):
        net = native.network([module.try_gpu()], dropout=0)
        w = native.array(np.array([1.0, -1.0], "float32"))
        w.attach_grad()
        w.grad[:] = 2.0
        module.sgd([w], 0.5, 4)
        return w.tolist(), module.evaluate_accuracy_gpu(net, batches), module.evaluate_accuracy_gpus(net, batches)

    ours, theirs = both(results)
    assert ours == theirs == ([0.75, -1.25], pytest.approx(0.9), pytest.approx(0.9))


@pytest.mark.parametrize("arguments", [(3,), (3, True), (5, True, 2)])
def test_a_residual_block_computes_what_the_published_one_computes(arguments, both, native, array):
    X = array(np.random.RandomState(0).rand(2, 3, 6, 6).astype("float32"))

    def output(module):
        block = module.Residual(*arguments)
        block.initialize(native.mx.init.Constant(0.1))
        return block(X).asnumpy()

    ours, theirs = both(output)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5)


def test_the_resnet_has_the_convolutions_of_the_published_one(both, native, array):
    def shapes(module):
        net = native.initialised(module.resnet18(10))
        logits = net(array(np.ones((1, 1, 8, 8), "float32")))
        return logits.shape, [p.shape for p in net.collect_params().values() if len(p.shape) > 1]

    ours, theirs = both(shapes)
    assert ours == theirs


def test_the_published_cell_of_the_resnet_runs_with_only_its_import_changed(d2l, published, native, array):
    names = {"d2l": d2l, "nn": published.nn}
    exec(getsource(published.resnet18), names)
    net = native.initialised(names["resnet18"](10))
    assert net(array(np.ones((2, 1, 8, 8), "float32"))).shape == (2, 10)


def test_a_plot_draws_the_lines_of_the_published_one(both):
    from matplotlib import pyplot as plt

    plt.switch_backend("agg")

    def drawn(module):
        _, axes = plt.subplots()
        module.plot([1, 2, 3], [[1, 4, 9], [1, 8, 27]], "n", "power", ["square", "cube"], yscale="log", axes=axes)
        lines = [(line.get_xydata().tolist(), line.get_label()) for line in axes.lines]
        return lines, axes.get_xlabel(), axes.get_ylabel(), axes.get_yscale(), plt.rcParams["figure.figsize"]

    ours, theirs = both(drawn)
    plt.close("all")
    assert ours == theirs
