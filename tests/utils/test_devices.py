"""Devices: what the machine has, what stands in for it, and what is said when it is too late for that."""

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STARTS = {"tensorflow", "jax"}  # frameworks whose number of CPU devices is fixed once they start

SCRIPT = """
import importlib, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {blocked!r}:
            raise ImportError(name + " is not to be imported")

sys.meta_path.insert(0, Blocked())
d2l = importlib.import_module("d2l_utils.{module}")
found = d2l.devices(3)
assert len(found) == 3, found
assert len(d2l.devices(2)) == 2
try:
    d2l.devices(99)
except RuntimeError as error:
    print("RuntimeError:", error)
"""


def gpus(d2l):
    return [device for device in d2l.try_all_gpus() if "cpu" not in name(device)]


def name(device):
    return getattr(device, "_device_name", str(device)).lower()


def test_try_gpu_returns_the_cpu_where_there_is_no_such_gpu(d2l, on):
    y, place = on(d2l.try_gpu(64), np.ones(2, "float32"))
    assert "cpu" in place.lower()
    assert "cpu" in on(d2l.try_gpu(-1), np.ones(2, "float32"))[1].lower()


def test_try_all_gpus_is_never_empty(d2l, on):
    found = d2l.try_all_gpus()
    assert [name(device) for device in found[:1]] == [name(d2l.try_gpu())]
    assert len(found) == max(1, len(gpus(d2l)))


def test_an_array_computes_the_same_on_every_device(d2l, on, numpy):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    for device in d2l.try_all_gpus():
        np.testing.assert_array_equal(numpy(on(device, x)[0] + 1), x + 1)


def test_one_device_can_be_had_at_any_time(d2l, on, capsys):
    (device,) = d2l.devices(1)
    assert len(capsys.readouterr().out.splitlines()) == 1
    y, place = on(device, np.ones(2, "float32"))
    assert ("cpu" in place.lower()) == (not gpus(d2l))


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_of_devices_below_one_is_an_error(n, d2l):
    with pytest.raises(ValueError, match="at least 1"):
        d2l.devices(n)


def test_more_devices_than_were_made_before_the_start_are_an_error_that_names_the_cure(framework, d2l, on):
    on(d2l.try_gpu(), np.ones(2, "float32"))
    if framework in STARTS:
        with pytest.raises(RuntimeError, match=r"restart the kernel and call devices\(77\)"):
            d2l.devices(77)
    else:
        assert len(d2l.devices(77)) == 77


@pytest.fixture(scope="module")
def fresh(framework, d2l):
    """The lines that a fresh process prints that asks for 3, 2 and 99 devices and may import no other framework."""
    module = d2l.__name__.split(".")[1]
    blocked = {"torch", "tensorflow", "jax", "mxnet", "sphinx", "docutils", "IPython"} - {module}
    code = SCRIPT.format(blocked=blocked, module=module)
    root = Path(__file__).parents[2]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_stand_ins_are_announced_in_one_line_and_no_other_framework_is_imported(fresh, framework, d2l):
    if not gpus(d2l):
        assert fresh[0].startswith("PyTorch has one CPU device: 3" if framework == "pytorch" else "3 stand-ins")
        assert "thread" in fresh[0]
    assert len(fresh) == 3


def test_too_many_devices_after_the_start_fail_in_a_fresh_process_too(fresh, framework):
    assert fresh[2].startswith("RuntimeError") == (framework in STARTS)


class FakeGPU:
    """A device as JAX describes it."""

    platform = "gpu"

    def __init__(self, i):
        self.i = i

    def __str__(self):
        return f"cuda:{self.i}"


@pytest.fixture
def two_gpus(framework, monkeypatch):
    """Let the framework tell of two GPUs, which nothing is computed on."""
    native = importlib.import_module("torch" if framework == "pytorch" else framework)
    both = [FakeGPU(0), FakeGPU(1)]
    place, count = {
        "pytorch": ("cuda.device_count", lambda: 2),
        "tensorflow": ("config.list_physical_devices", lambda kind: both * (kind == "GPU")),
        "jax": ("local_devices", lambda backend=None: both * (backend is None)),
        "mxnet": ("context.num_gpus", lambda: 2),
    }[framework]
    *owner, attribute = place.split(".")
    monkeypatch.setattr(getattr(native, owner[0]) if owner else native, attribute, count)


@pytest.mark.usefixtures("two_gpus")
def test_where_there_are_gpus_they_are_returned(d2l, capsys):
    def number(device):
        return "".join(letter for letter in name(device).split("device:")[-1] if letter.isdigit())

    for found in (d2l.try_all_gpus(), [d2l.try_gpu(), d2l.try_gpu(1)], d2l.devices(2)):
        assert [number(device) for device in found] == ["0", "1"]
        assert not any("cpu" in name(device) for device in found)
    assert capsys.readouterr().out.startswith("2 GPUs: ")
    assert [number(device) for device in d2l.devices(1)] == ["0"]


@pytest.mark.usefixtures("two_gpus")
def test_torch_waits_for_every_gpu_when_no_array_is_given(framework, d2l, monkeypatch):
    if framework == "pytorch":
        import torch

        waited = []
        monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
        d2l.synchronize(torch.ones(2))
        assert waited == []
        d2l.synchronize()
        assert sorted(map(str, waited)) == ["cuda:0", "cuda:1"]


def test_torch_computes_in_one_thread_once_it_has_stand_ins(framework, d2l):
    if framework == "pytorch" and len(gpus(d2l)) < 2:
        import torch

        threads = torch.get_num_threads()
        d2l.devices(2)
        assert torch.get_num_threads() == 1
        torch.set_num_threads(threads)
