"""What PyTorch's folder alone does."""

import os
import subprocess
import sys

import pytest
import torch
from native_pytorch import network

from book import ROOT, project

PROFILED = """
from torch import profiler

with profiler.profile() as recorded:
    pass
"""


@pytest.mark.parametrize("kind", ["cuda", "mps"])
def test_every_device_of_the_accelerator_is_waited_for_when_no_array_is_given(kind, d2l, monkeypatch):
    waited = []
    answers = {"is_available": True, "device_count": 2, "current_accelerator": torch.device(kind)}
    for attribute, answer in answers.items():
        monkeypatch.setattr(torch.accelerator, attribute, lambda answer=answer: answer)
    monkeypatch.setattr(torch.accelerator, "synchronize", waited.append)
    d2l.synchronize(torch.ones(2), torch.ones(2, device="meta"))
    assert waited == []
    d2l.synchronize()
    assert sorted(map(str, waited)) == [f"{kind}:0", f"{kind}:1"]


def test_an_operation_uses_one_thread_once_there_are_stand_ins(d2l, gpus):
    gpus(0)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    d2l.devices(99)
    after = torch.get_num_threads()
    torch.set_num_threads(before)
    assert after == 1


def test_an_operation_uses_as_many_threads_as_the_quota_of_cpus_allows():
    """PyTorch has counted the CPUs before d2l_utils is imported: here, four."""
    code = "import torch; from d2l_lab.machine import system; torch.set_num_threads(4); "
    code += "system.cores = lambda: 3; import d2l_utils.torch; print(torch.get_num_threads())"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert done.stdout == "3\n", done.stderr


def test_the_machine_is_measured_in_the_threads_of_the_import_after_stand_ins_were_made(d2l, gpus, monkeypatch):
    gpus(0)
    before, used = torch.get_num_threads(), []
    monkeypatch.setattr(d2l, "_threads", 2)
    monkeypatch.setattr(d2l, "synchronize", lambda x: used.append(torch.get_num_threads()))
    d2l.devices(2)
    functions = [d2l.product(torch.device("cpu"), 8, "float32")]
    functions += [function for function, _ in d2l.memory_passes(torch.device("cpu"), 64).values()]
    for function in functions:
        function()
        used.append(torch.get_num_threads())
    torch.set_num_threads(before)
    assert used == [2, 1] * 3


def test_each_module_is_back_in_its_own_mode_after_the_evaluation(d2l, batches, two):
    net = network(two[0])
    net[0].eval()
    d2l.evaluate_accuracy_gpu(net, batches)
    assert [module.training for module in net.modules()] == [True, False, True]


def test_the_profiler_logs_nothing_in_the_kernel():
    settings = project()["tool"]["d2l"]["frameworks"]["pytorch"]["kernel-environment"]
    command = [sys.executable, "-c", PROFILED]
    done = subprocess.run(command, env=os.environ | settings, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stderr) == (0, "")
