"""The card is measured by each framework with right figures, and the loops that measure compute what they should."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from d2l_utils import card, machine
from d2l_utils.kernels import chase, lay_ring, triad

NAMES = {"pytorch": "PyTorch", "tensorflow": "TensorFlow", "jax": "JAX", "mxnet": "MXNet"}


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The path of a card that is not there yet."""
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("card") / "machine.json"
        patch.setenv("D2L_MACHINE_CARD", str(path))
        yield path


@pytest.fixture(scope="module")
def measured(place, d2l):
    """The card of this machine, measured once for this file."""
    return d2l.your_machine()


def test_a_card_has_all_its_parts(measured, framework):
    assert list(measured) == ["machine", "date", "caches", "bandwidth", "latency", "product", "framework", "gpus"]
    assert list(measured["machine"]) == ["cpu", "cores", "memory_gb", "gpus", "system"]
    assert len(measured["date"]) == 10
    assert all(list(cache) == ["level", "kind", "bytes", "shared_by"] for cache in measured["caches"])
    assert list(measured["bandwidth"]) == ["one core", "all cores"]
    assert list(measured["latency"]) == ["16384", "262144", "4194304", "67108864", "268435456"]
    assert list(measured["product"]) == ["float32"]
    assert list(measured["framework"]) == ["name", "version", "dispatch", "product"]
    assert measured["framework"]["name"] == NAMES[framework]
    assert measured["framework"]["version"][0].isdigit()
    assert "float32" in measured["framework"]["product"]
    assert json.loads(json.dumps(measured)) == measured


def test_figures_are_in_si_units(measured):
    assert all(2**10 <= cache["bytes"] <= 2**34 for cache in measured["caches"])
    assert all(1e8 < value < 1e13 for value in measured["bandwidth"].values())
    assert all(1e-10 < value < 1e-5 for value in measured["latency"].values())
    assert 1e7 < measured["product"]["float32"] < 1e15
    assert 1e-8 < measured["framework"]["dispatch"] < 1e-2
    assert all(1e7 < value < 1e16 for value in measured["framework"]["product"].values())
    for gpu in measured["gpus"]:
        assert gpu["name"]
        assert 1e9 < gpu["bandwidth"] < 1e14
        assert all(1e9 < value < 1e17 for value in gpu["product"].values())


def test_a_load_from_memory_takes_longer_than_one_from_the_first_cache(measured):
    assert measured["latency"]["268435456"] > 3 * measured["latency"]["16384"]


@pytest.mark.usefixtures("measured")
def test_a_second_call_reads_the_file_and_measures_nothing(measured, d2l, monkeypatch, capsys):
    for owner, name in ((card, "_measure_common"), (d2l, "dispatch"), (d2l, "product_rates")):
        monkeypatch.setattr(owner, name, lambda *_: pytest.fail("something is measured"))
    assert d2l.your_machine() == measured
    assert capsys.readouterr().out == ""


@pytest.mark.only("pytorch")
def test_measuring_leaves_the_number_of_threads_as_it_was(measured, d2l, place, monkeypatch):
    import torch

    monkeypatch.setenv("D2L_MACHINE_CARD", str(place.with_name("other.json")))
    monkeypatch.setattr(card, "_measure_common", lambda: {key: measured[key] for key in card.COMMON})
    monkeypatch.setattr(d2l, "cores", lambda: 2)
    used, threads = [], torch.get_num_threads()
    try:
        torch.set_num_threads(1)
        monkeypatch.setattr(d2l, "dispatch", lambda *_: used.append(torch.get_num_threads()) or 1e-6)
        monkeypatch.setattr(d2l, "product_rates", lambda *_: {"float32": 1e9})
        d2l.your_machine()
        monkeypatch.setattr(d2l, "product_rates", lambda *_: 1 / 0)
        monkeypatch.setattr(card, "version", lambda module: "another")
        with pytest.raises(ZeroDivisionError):
            d2l.your_machine()
        assert used == [2, 2]
        assert torch.get_num_threads() == 1
    finally:
        torch.set_num_threads(threads)


@pytest.mark.only("jax")
def test_the_product_is_that_of_the_device_it_is_asked_of():
    program = """
import jax
jax.config.update("jax_num_cpu_devices", 2)
from d2l_utils import jax as d2l
d2l.synchronize = lambda x: print(x.devices() == {device})
device = jax.local_devices(backend="cpu")[1]
d2l._product(device)(8, "float32")()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.stdout == "True\n", done.stderr


# The compiled loops and what is made of them


@pytest.mark.parametrize("length", [1, 7, 1000])
def test_the_triad_equals_numpys(length):
    a, b, c = np.random.default_rng(0).random((3, length))
    triad(a, b, c, 3.0)
    np.testing.assert_allclose(a, b + 3 * c, rtol=1e-12)


@pytest.mark.parametrize("size", [2**7, 2**10, 2**14, 2**18])
def test_the_ring_is_one_cycle_over_all_lines(size):
    ring, lines = np.full(2**18 // 8, -1), size // 64
    lay_ring(ring, size)
    places = [chase(ring, 0, steps) for steps in range(lines + 1)] if lines < 1000 else walk(ring, lines)
    assert sorted(places[:-1]) == list(range(0, 8 * lines, 8))
    assert places[-1] == places[0] == 0


def walk(ring, steps):
    places = [0]
    for _ in range(steps):
        places.append(chase(ring, places[-1], 1))
    return places


def test_the_threads_of_the_triad_share_the_whole_arrays():
    moved = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("d2l_utils.kernels.triad", lambda a, b, c, s: moved.append(a.size))
        assert machine.triad_bandwidth(3, 1000) > 0
    assert sorted(moved)[::24] == [333, 333, 334]  # (1 warm-up + 5 runs) × 4 passes


def test_a_kind_of_number_that_is_slow_is_left_out():
    seconds = {"quick": 0.0, "slow": 0.02}

    def prepare(n, kind):
        return lambda: time.sleep(seconds[kind])

    rates = machine.product_rates(prepare, 800, ("quick", "slow"))
    assert list(rates) == ["quick"]


def test_a_product_counts_a_multiplication_and_an_addition_for_each_pair():
    seconds = {100: 0.0005, 800: 0.05}
    rates = machine.product_rates(lambda n, kind: lambda: time.sleep(seconds[n]), 800, ("float32",))
    assert rates["float32"] == pytest.approx(2 * 800**3 / 0.05, rel=0.3)


def test_a_product_that_turns_out_to_last_too_long_is_left_out():
    seconds = {100: 0.0, 800: 0.05}
    assert machine.product_rates(lambda n, kind: lambda: time.sleep(seconds[n]), 800, ("float32",), 0.02) == {}


def test_a_kind_of_number_that_is_missing_is_left_out_unless_it_is_float32():
    def prepare(n, kind):
        return lambda: {"float32": 1, "float64": 1}[kind]

    assert list(machine.product_rates(prepare, 8, ("bfloat16", "float64", "float32"))) == ["float64", "float32"]
    with pytest.raises(KeyError):
        machine.product_rates(lambda n, kind: lambda: {}[kind], 8, ("float32",))


def test_the_triad_counts_24_bytes_an_element_and_numpys_product_2_flops_a_pair(monkeypatch):
    monkeypatch.setattr(machine, "best", lambda function: 2.0)
    assert machine.triad_bandwidth(2, 1000) == 24 * 1000 * 4 / 2  # four passes
    assert machine.numpy_product(10) == 2 * 10**3 / 2


def test_a_copy_counts_what_is_read_and_what_is_written():
    assert machine.copy_bandwidth(lambda: time.sleep(0.01), 10**6) == pytest.approx(2e8, rel=0.3)


def test_the_dispatch_is_that_of_one_operation():
    waited, count = set(), 0

    def add():
        nonlocal count
        count += 1
        time.sleep(0.002)
        return "an earlier one" if count % 10 else "last"

    assert 0.002 < machine.dispatch(add, waited.add, calls=10) < 0.01
    assert waited == {"last"}
