"""Devices: what the machine has, and what stands in for it."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from devices import name, number

from book import MODULES, ROOT

SCRIPT = """
import importlib, sys
module, *blocked = sys.argv[1:]
sys.modules.update(dict.fromkeys(blocked))  # to import one of them is an ImportError
d2l = importlib.import_module(module)
assert len(d2l.devices(3)) == 3
assert len(d2l.devices(2)) == 2
assert module + ".networks" not in sys.modules
try:
    assert len(d2l.devices(99)) == 99
except RuntimeError as error:
    print("RuntimeError:", error)
assert d2l.resnet18 and module + ".networks" in sys.modules
"""


@pytest.fixture
def is_cpu(native):
    """A function that tells whether a device is a CPU, by an array on it."""
    return lambda device: "cpu" in native.place(native.put(device, np.ones(2, "float32"))).lower()


def test_where_there_are_gpus_they_are_returned_and_else_the_cpu_is_the_only_device(d2l, is_cpu, gpus, capsys):
    gpus(0)
    (device,) = d2l.devices(1)
    assert is_cpu(device)
    assert is_cpu(d2l.try_gpu())
    assert [name(device) for device in d2l.try_all_gpus()] == [name(d2l.try_gpu())]
    assert "stand-ins" in capsys.readouterr().out
    gpus(2)
    for found in (d2l.try_all_gpus(), [d2l.try_gpu(), d2l.try_gpu(1)], d2l.devices(2)):
        assert [number(device) for device in found] == ["0", "1"]
        assert not any("cpu" in name(device) for device in found)
    assert capsys.readouterr().out.startswith("2 GPUs: ")
    assert [number(device) for device in d2l.devices(1)] == ["0"]
    assert [is_cpu(d2l.try_gpu(i)) for i in (2, -1)] == [True, True]


def test_the_cpu_can_be_had_where_there_are_gpus(d2l, is_cpu, gpus):
    gpus(2)
    assert is_cpu(d2l.cpu())


def test_where_there_is_no_gpu_none_has_a_name(d2l, gpus):
    gpus(0)
    assert d2l.gpu_names() == []


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_of_devices_below_one_is_an_error(n, d2l):
    with pytest.raises(ValueError, match="at least 1"):
        d2l.devices(n)


def test_a_fresh_process_announces_its_stand_ins_and_imports_networks_on_demand(d2l, native):
    """It may import neither another framework nor what Jupyter and Sphinx bring.

    A framework that cannot make devices once it has started says what to do.
    """
    others = {*MODULES.values(), "sphinx", "docutils", "IPython"} - {d2l.__name__.split(".")[1]}
    command = [sys.executable, "-c", SCRIPT, d2l.__name__, *others]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    last = "99 stand-ins.*thread" if native.DEVICES_AT_ANY_TIME else r"RuntimeError: .*restart .* call devices\(99\)"
    lines = ["3 stand-ins.*thread.*", "2 stand-ins.*thread.*", f"{last}.*"]
    assert re.fullmatch("\n".join([*lines, ""]), done.stdout), done.stdout
