"""Devices: what the machine has, what stands in for it, and what is said when it is too late for that."""

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

SCRIPT = """
import importlib, sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name in {blocked!r}:
            raise ImportError(name + " is not to be imported")

sys.meta_path.insert(0, Blocked())
d2l = importlib.import_module("{module}")
assert len(d2l.devices(3)) == 3
assert len(d2l.devices(2)) == 2
try:
    assert len(d2l.devices(99)) == 99
except RuntimeError as error:
    print("RuntimeError:", error)
"""


def name(device):
    return getattr(device, "_device_name", str(device)).lower()


def number(device):
    return re.search(r"\d+", name(device).split("device:")[-1]).group()


def is_cpu(device, on):
    return "cpu" in on(device, np.ones(2, "float32"))[1].lower()


def test_without_a_gpu_the_cpu_is_the_only_device(d2l, on, gpus):
    gpus(0)
    assert is_cpu(d2l.try_gpu(), on)
    assert [name(device) for device in d2l.try_all_gpus()] == [name(d2l.try_gpu())]


def test_where_there_are_gpus_they_are_returned(d2l, gpus, capsys):
    gpus(2)
    for found in (d2l.try_all_gpus(), [d2l.try_gpu(), d2l.try_gpu(1)], d2l.devices(2)):
        assert [number(device) for device in found] == ["0", "1"]
        assert not any("cpu" in name(device) for device in found)
    assert capsys.readouterr().out.startswith("2 GPUs: ")
    assert [number(device) for device in d2l.devices(1)] == ["0"]


@pytest.mark.parametrize("i", [2, -1])
def test_in_place_of_a_gpu_that_does_not_exist_there_is_the_cpu(i, d2l, on, gpus):
    gpus(2)
    assert is_cpu(d2l.try_gpu(i), on)


def test_an_array_computes_the_same_on_every_device_of_this_machine(d2l, on, numpy):
    x = np.arange(6, dtype="float32").reshape(2, 3)
    for device in [*d2l.try_all_gpus(), *d2l.devices(1)]:
        np.testing.assert_array_equal(numpy(on(device, x)[0] + 1), x + 1)


def test_one_stand_in_can_be_had_at_any_time(d2l, on, gpus, capsys):
    gpus(0)
    (device,) = d2l.devices(1)
    assert is_cpu(device, on)
    assert "stand-ins" in capsys.readouterr().out


@pytest.mark.parametrize("n", [0, -1])
def test_a_number_of_devices_below_one_is_an_error(n, d2l):
    with pytest.raises(ValueError, match="at least 1"):
        d2l.devices(n)


@pytest.mark.only("tensorflow", "jax")
def test_more_devices_than_were_made_before_the_start_are_an_error_that_names_the_cure(d2l, on):
    on(d2l.try_gpu(), np.ones(2, "float32"))
    with pytest.raises(RuntimeError, match=r"restart the kernel and call devices\(77\)"):
        d2l.devices(77)


@pytest.fixture(scope="module")
def fresh(d2l):
    """The lines that a fresh process without GPUs prints that asks for 3, 2 and 99 devices.

    It may import neither another framework nor what Jupyter and Sphinx bring.
    """
    others = {"torch", "tensorflow", "jax", "mxnet", "sphinx", "docutils", "IPython"} - {d2l.__name__.split(".")[1]}
    code, root = SCRIPT.format(blocked=others, module=d2l.__name__), Path(__file__).parents[2]
    environment = os.environ | {"CUDA_VISIBLE_DEVICES": ""}
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_stand_ins_are_announced_in_one_line_each_time(fresh):
    assert len(fresh) == 3
    assert re.search("3 stand-ins.*thread", fresh[0])
    assert re.search("2 stand-ins.*thread", fresh[1])


@pytest.mark.only("tensorflow", "jax")
def test_too_many_devices_after_the_start_fail_in_a_fresh_process_too(fresh):
    assert fresh[2].startswith("RuntimeError: ")


@pytest.mark.only("pytorch", "mxnet")
def test_stand_ins_can_be_made_at_any_time_where_the_framework_does_not_count_them(fresh):
    assert "99 stand-ins" in fresh[2]


@pytest.mark.only("pytorch")
def test_torch_waits_for_every_gpu_when_no_array_is_given(d2l, array, gpus, monkeypatch):
    import torch

    waited = []
    gpus(2)
    monkeypatch.setattr(torch.cuda, "synchronize", waited.append)
    d2l.synchronize(array(np.ones(2)))
    assert waited == []
    d2l.synchronize()
    assert sorted(map(str, waited)) == ["cuda:0", "cuda:1"]


@pytest.mark.only("pytorch")
def test_torch_computes_in_one_thread_once_it_has_stand_ins(d2l, gpus):
    import torch

    gpus(0)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    d2l.devices(2)
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 1


@pytest.mark.only("mxnet")
@pytest.mark.parametrize(("threads", "words"), [("1", "each operation computes in one thread"), ("2", "set OMP_NUM")])
def test_mxnet_says_whether_a_stand_in_computes_in_one_thread(threads, words, d2l, monkeypatch, capsys):
    monkeypatch.setenv("OMP_NUM_THREADS", threads)
    d2l.devices(2)
    assert words in capsys.readouterr().out
