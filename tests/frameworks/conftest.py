"""One body of tests for four frameworks; each run takes place in one framework's environment."""

import importlib
import os

import numpy as np
import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
MODULES = {"pytorch": "torch", "tensorflow": "tensorflow", "jax": "jax", "mxnet": "mxnet"}


def pytest_addoption(parser):
    parser.addoption("--framework", choices=list(MODULES), help="the framework whose module is tested")


def pytest_configure(config):
    config.addinivalue_line("markers", "only(framework, …): the test is about what these frameworks' modules alone do")


def pytest_collection_modifyitems(config, items):
    """Leave the tests of another framework's own ways to the run in that framework's environment."""
    name = config.getoption("--framework", default=None)
    others = [item for item in items if (only := item.get_closest_marker("only")) and name not in only.args]
    config.hook.pytest_deselected(items=others)
    items[:] = [item for item in items if item not in others]


@pytest.fixture(scope="session")
def framework(request):
    """The framework's name."""
    name = request.config.getoption("--framework", default=None)
    if name is None:
        pytest.fail("name it: _build/env/<framework>/bin/python -m pytest tests/utils --framework <framework>")
    return name


@pytest.fixture(scope="session")
def d2l(framework):
    """The module of d2l_utils for the framework."""
    if framework == "mxnet":
        importlib.import_module("mxnet").npx.set_np()
    return importlib.import_module(f"d2l_utils.{MODULES[framework]}")


@pytest.fixture(scope="session")
def array(framework):
    """A function that turns a NumPy array into one of the framework's."""
    native = importlib.import_module(MODULES[framework])
    return {
        "pytorch": lambda x: native.from_numpy(np.array(x)),
        "tensorflow": lambda x: native.constant(x),
        "jax": lambda x: native.numpy.asarray(x),
        "mxnet": lambda x: native.np.array(x, dtype=np.asarray(x).dtype),
    }[framework]


@pytest.fixture(scope="session")
def numpy(framework):
    """A function that turns an array of the framework into a NumPy array, which waits for it."""
    return {"mxnet": lambda x: x.asnumpy()}.get(framework, np.asarray)


@pytest.fixture(scope="session")
def on(framework):
    """A function of a device and a NumPy array that puts the array there and returns it with the device's name."""
    native = importlib.import_module(MODULES[framework])

    def tensorflow(device, x):
        with device:
            y = native.constant(x) + 0
        return y, y.device.split(":", 3)[-1].removeprefix("device:")

    return {
        "pytorch": lambda device, x: (y := native.from_numpy(x).to(device), str(y.device)),
        "tensorflow": tensorflow,
        "jax": lambda device, x: (y := native.device_put(x, device), str(next(iter(y.devices())))),
        "mxnet": lambda device, x: (y := native.np.array(x, ctx=device), str(y.ctx)),
    }[framework]


@pytest.fixture
def asynchronous(framework):
    """Let TensorFlow queue eager operations, as the asynchronous frameworks do by themselves."""
    if framework != "tensorflow":
        yield
        return
    import tensorflow as tf

    tf.config.experimental.set_synchronous_execution(False)
    yield
    tf.config.experimental.set_synchronous_execution(True)


class FakeGPU:
    """A device as JAX describes it."""

    platform = "gpu"

    def __init__(self, i):
        self.i = i

    def __str__(self):
        return f"cuda:{self.i}"


@pytest.fixture
def gpus(framework, monkeypatch):
    """A function of n that lets the framework tell of n GPUs, which nothing is computed on."""
    native = importlib.import_module(MODULES[framework])
    cpus = {
        "tensorflow": lambda: native.config.list_physical_devices("CPU"),
        "jax": lambda: native.local_devices(backend="cpu"),
    }.get(framework, list)()

    def pretend(n):
        fakes = [FakeGPU(i) for i in range(n)]
        place, told = {
            "pytorch": ("cuda.device_count", lambda: n),
            "tensorflow": ("config.list_physical_devices", lambda kind: fakes if kind == "GPU" else cpus),
            "jax": ("local_devices", lambda backend=None: cpus if backend == "cpu" else fakes or cpus),
            "mxnet": ("context.num_gpus", lambda: n),
        }[framework]
        *owner, attribute = place.split(".")
        monkeypatch.setattr(getattr(native, owner[0]) if owner else native, attribute, told)

    return pretend
