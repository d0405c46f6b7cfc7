"""The machine profile is measured by each framework, with right figures."""

import os
import statistics
import subprocess
import sys
import timeit

import numpy as np
import pytest

from book import MODULES, ROOT
from d2l_lab.instruments import framework as asked
from d2l_lab.machine.profile import profile_for

# A process that may run on many CPUs and use as many at the same time as it is told: its threads, and NumPy's.
THREADS = """
import importlib, sys
import numpy, psutil, threadpoolctl
from d2l_lab.machine import system
name, module, number = sys.argv[1:]
system.cores, system.usable = lambda: int(number), lambda: range(99)
importlib.import_module(module)
d2l = importlib.import_module(name)
d2l.memory_passes(d2l.cpu(), 2**24)["in place"][0]()
blas = [pool for pool in threadpoolctl.threadpool_info() if pool["user_api"] == "blas"]
print(psutil.Process().num_threads(), *[pool["num_threads"] for pool in blas])
"""


@pytest.fixture(scope="module")
def measured(tmp_path_factory, d2l):
    """The profile of this machine, measured once for this file, whose path it leaves in the environment."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("D2L_MACHINE_PROFILE", str(tmp_path_factory.mktemp("profile") / "machine.json"))
        patch.setenv("D2L_QUICK", "1")  # the figures that are kept, of three rounds
        yield d2l.your_machine()


def seconds(function):
    """Return the median seconds of five runs, without any clock of d2l_lab."""
    return statistics.median(timeit.repeat(function, number=1, repeat=5))


def agree(figure, again, factor=4):
    """Tell whether a figure is measured again as far as a busy machine lets it."""
    return figure / factor < again < figure * factor


def test_the_figures_of_memory_and_of_the_framework_are_measured_again(measured, d2l):
    x = np.ones(2**23)
    y = np.empty_like(x)
    assert agree(measured["bandwidth"]["one core"], 2 * x.nbytes / seconds(lambda: np.copyto(y, x)))
    # one more program on two cores takes half of what both move: 0.56 was seen
    assert measured["bandwidth"]["all cores"] > measured["bandwidth"]["one core"] / 4
    assert measured["latency"]["268435456"] > 3 * measured["latency"]["16384"]
    n, part = 2000, measured["framework"]
    again = 2 * n**3 / seconds(d2l.product(d2l.cpu(), n, "float32"))
    assert agree(part["product"]["float32"], again)
    add = d2l.tiny_sum(d2l.try_gpu())
    # beside twelve programs on two cores, one issued took seven times as long as one waited for
    assert part["dispatch"]["issue"] / 20 < part["dispatch"]["wait"] < 1e-3
    assert agree(part["dispatch"]["issue"], seconds(lambda: d2l.synchronize([add() for _ in range(1000)][-1])) / 1000)


def test_a_product_and_a_copy_have_the_size_that_is_asked_for_and_are_waited_for(d2l, numpy, monkeypatch):
    waited, cpu = [], d2l.cpu()
    monkeypatch.setattr(d2l, "synchronize", lambda x: waited.append(numpy(x).copy()))  # JAX's are gone later
    d2l.product(cpu, 8, "float32")()
    passes = d2l.memory_passes(cpu, 64)
    for function, times in passes.values():
        function()
        assert times in (2, 3)
    product, copied, scaled = waited
    assert (product.shape, product.dtype) == ((8, 8), "float32")
    assert 0 < product.min() < product.max() < 8  # sums of eight products of random numbers below 1
    assert list(passes) == ["copy", "in place"]
    assert copied.nbytes == scaled.nbytes == 64
    assert copied.any()
    assert scaled.any()
    assert numpy(d2l.tiny_sum(cpu)()).tolist() == [2]


def test_the_bandwidth_of_large_arrays_is_measured_again_and_each_level_has_its_own(measured, d2l):
    bandwidth = measured["framework"]["bandwidth"]
    assert list(bandwidth) == ["L2", "L3", "memory"]
    for level, figures in bandwidth.items():
        assert list(figures) == ["bytes", "copy", "in place"], level
        assert 2**14 <= figures["bytes"] <= 2**28
        for name in ("copy", "in place"):
            assert 1e7 < figures[name] < 1e14, (level, name)  # however busy the machine was
    large = bandwidth["memory"]
    for name, (function, times) in d2l.memory_passes(d2l.cpu(), large["bytes"]).items():
        function()
        assert agree(large[name], times * large["bytes"] / seconds(function)), name


def test_the_first_call_measures_what_drifts_and_keeps_all_else(measured, d2l, framework, monkeypatch):
    monkeypatch.delenv("D2L_QUICK", raising=False)
    monkeypatch.setattr(asked, "_machines", {})
    kept, today = profile_for(MODULES[framework]), d2l.your_machine()
    assert today == d2l.your_machine()
    old, new = kept.pop("framework"), today.pop("framework")
    assert old["dispatch"]["issue"] != new["dispatch"]["issue"] > 0
    assert old["dispatch"]["wait"] != new["dispatch"]["wait"] > 0
    for name in ("dispatch", "product"):
        assert old[name].keys() == new.pop(name).keys()
    memory = new["bandwidth"].pop("memory")
    assert memory["bytes"] == old["bandwidth"].pop("memory")["bytes"]
    assert 1e7 < memory["copy"] < 1e14
    assert (new["bandwidth"], new["version"]) == (old["bandwidth"], old["version"])
    if not kept["gpus"]:
        assert today == kept


@pytest.mark.only("mxnet")
def test_a_product_that_the_framework_has_not_is_left_out(measured, d2l):
    assert list(measured["framework"]["product"]) == ["float32"]
    with pytest.raises(NotImplementedError):
        d2l.product(d2l.try_gpu(), 8, "bfloat16")


@pytest.mark.only("jax")
def test_the_product_is_that_of_the_device_it_is_asked_of():
    program = """
import jax
jax.config.update("jax_num_cpu_devices", 2)
from d2l_utils import jax as d2l
d2l.synchronize = lambda x: print(x.devices() == {device})
device = jax.local_devices(backend="cpu")[1]
d2l.product(device, 8, "float32")()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.stdout == "True\n", done.stderr


@pytest.mark.only("tensorflow", "jax")  # MXNet's kernel has one thread for each stand-in; PyTorch has a test of its own
def test_as_many_threads_compute_as_the_quota_of_cpus_allows(d2l, framework):
    environment = os.environ | {"OMP_NUM_THREADS": "6"}  # as if there were six CPUs
    for name in ("NPROC", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        environment.pop(name, None)
    found = {}
    for number in (1, 6):
        command = [sys.executable, "-c", THREADS, d2l.__name__, MODULES[framework], str(number)]
        done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=100)
        assert done.returncode == 0, done.stderr
        found[number], *of_numpy = map(int, done.stdout.split())
        assert max(of_numpy) <= number
    assert found[6] >= found[1] + 5
