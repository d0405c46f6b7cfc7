"""One body of tests for all frameworks; each run takes place in one framework's environment.

What the tests need of the framework itself, such as its arrays and its networks, is in `native_<framework>.py`; tests
of what one framework alone does are in `test_<framework>.py`.
"""

import importlib
import os

import numpy as np
import pytest

from book import MODULES

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")


def pytest_addoption(parser):
    parser.addoption("--framework", choices=list(MODULES), help="the framework whose folder of d2l_utils is tested")


def pytest_configure(config):
    config.addinivalue_line("markers", "only(framework, …): the test is about what these frameworks' folders alone do")


def pytest_ignore_collect(collection_path, config):
    """Leave the tests of another framework's own ways to the run in that framework's environment."""
    name = collection_path.stem.removeprefix("test_")
    return True if name in MODULES and name != config.getoption("--framework", default=None) else None


def pytest_collection_modifyitems(config, items):
    """Do the same for single tests, by their marker."""
    name = config.getoption("--framework", default=None)
    others = [item for item in items if (only := item.get_closest_marker("only")) and name not in only.args]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def framework(request):
    name = request.config.getoption("--framework", default=None)
    if name is None:
        pytest.fail("name it: _build/env/<framework>/bin/python -m pytest tests/frameworks --framework <framework>")
    return name


@pytest.fixture(scope="session")
def native(framework):
    """What the tests say in the framework's own words: the module native_<framework>.

    It has ISSUES_AHEAD (whether an operation returns before it is done), LABELS (the type of the data sets' labels),
    and functions: `place` names an array's device; `sgd_step` returns weights w after a step of 0.5 that minimises the
    sum over two examples of w · x; `network` has dropout, and logits that are the two columns of its input, exactly
    where none is lost; `optimizer` is plain gradient descent with a learning rate of 0.05.
    """
    return importlib.import_module(f"native_{framework}")


@pytest.fixture(scope="session")
def d2l(framework, native):
    return importlib.import_module(f"d2l_utils.{MODULES[framework]}")


@pytest.fixture(scope="session")
def array(native):
    return native.array


@pytest.fixture(scope="session")
def numpy(native):
    """A function from an array of the framework to one of NumPy, which waits for it."""
    return native.numpy


@pytest.fixture
def asynchronous(native):
    """Let the framework queue its operations, if it can."""
    with native.asynchronous():
        yield


@pytest.fixture
def gpus(native, monkeypatch):
    """A function of n that lets the framework find n GPUs, which nothing is computed on."""
    return lambda n: native.pretend_gpus(n, monkeypatch)


@pytest.fixture
def two(d2l, native, gpus):
    """Two devices of the framework; where none can be made once it has started, the same one twice."""
    gpus(0)
    return d2l.devices(2) if native.DEVICES_AT_ANY_TIME else d2l.devices(1) * 2


@pytest.fixture(scope="session")
def work(array, d2l):
    """A function that issues a chain of sums, which take much longer than issuing them, and returns its result.

    Sums, because TensorFlow's product looks at the shape of its operands, which waits for them. The result is small: a
    copy from a GPU would take longer than the sums.
    """
    rows = 100_000 if d2l.gpu_names() else 2000
    x = array(np.ones((rows, 2000), "float32"))

    def issue():
        y = x
        for _ in range(20):
            y = y + x
        return y[:1]

    d2l.synchronize(issue())
    return issue


@pytest.fixture
def batches(array):
    """Three minibatches, of 7, 2 and 1, of which the networks here get 9 labels of 10 right."""
    logits = np.random.RandomState(0).rand(10, 2).astype("float32")
    y = logits.argmax(1).astype("int32")
    y[4] = 1 - y[4]
    return [(array(logits[part]), array(y[part])) for part in (slice(7), slice(7, 9), slice(9, 10))]
