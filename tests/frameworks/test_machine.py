"""The profile is measured by each framework with right figures, and the loops that measure compute what they should."""

import json
import subprocess
import sys
import time

import numpy as np
import pytest

from d2l_utils.machine import probes, profile
from d2l_utils.machine.probes import chase, lay_ring, triad
from d2l_utils.timing import Measurement


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """The path of a profile that is not there yet."""
    with pytest.MonkeyPatch.context() as patch:
        path = tmp_path_factory.mktemp("profile") / "machine.json"
        patch.setenv("D2L_MACHINE_PROFILE", str(path))
        yield path


@pytest.fixture(scope="module")
def measured(place, d2l):
    """The profile of this machine, measured once for this file."""
    return d2l.your_machine()


def test_a_card_has_all_its_parts(measured):
    assert list(measured) == ["machine", "date", "caches", "bandwidth", "latency", "product", "framework", "gpus"]
    assert list(measured["machine"]) == ["cpu", "cores", "memory_gb", "gpus", "system"]
    assert len(measured["date"]) == 10
    assert all(list(cache) == ["level", "kind", "bytes", "shared_by"] for cache in measured["caches"])
    assert list(measured["bandwidth"]) == ["one core", "all cores"]
    assert list(measured["latency"]) == ["16384", "262144", "4194304", "67108864", "268435456"]
    assert list(measured["product"]) == ["float32"]
    assert list(measured["framework"]) == ["version", "dispatch", "product"]
    assert measured["framework"]["version"][0].isdigit()
    assert "float32" in measured["framework"]["product"]
    assert json.loads(json.dumps(measured)) == measured


def seconds(function, runs=5):
    """Return the seconds of the fastest of several runs by a clock of our own."""
    found = []
    for _ in range(runs):
        start = time.perf_counter()
        function()
        found.append(time.perf_counter() - start)
    return min(found)


def agree(figure, again, factor=4):
    """Tell whether a figure is measured again as far as a busy machine lets it."""
    return figure / factor < again < figure * factor


def test_the_figures_of_memory_agree_with_a_copy_and_its_latency_grows(measured):
    x = np.ones(2**23)
    y = np.empty_like(x)
    assert agree(measured["bandwidth"]["one core"], 2 * x.nbytes / seconds(lambda: np.copyto(y, x)))
    assert measured["bandwidth"]["all cores"] > 0.6 * measured["bandwidth"]["one core"]
    assert measured["latency"]["268435456"] > 3 * measured["latency"]["16384"]


def test_the_figures_of_the_framework_are_measured_again(measured, d2l):
    n, part = 2000, measured["framework"]
    again = 2 * n**3 / seconds(d2l._product(d2l.try_gpu(-1), n, "float32"))
    assert agree(part["product"]["float32"], again)
    add = d2l._tiny_sum(d2l.try_gpu())
    assert agree(part["dispatch"], seconds(lambda: d2l.synchronize([add() for _ in range(1000)][-1])) / 1000)


def test_a_second_call_reads_the_file_and_measures_nothing(measured, d2l, monkeypatch, capsys):
    monkeypatch.setattr(profile, "_run_program", lambda *_: pytest.fail("something is measured"))
    assert d2l.your_machine() == measured
    assert capsys.readouterr().out == ""


def test_a_product_and_a_copy_have_the_size_that_is_asked_for_and_are_waited_for(d2l, numpy, monkeypatch):
    waited, cpu = [], d2l.try_gpu(-1)
    monkeypatch.setattr(d2l, "synchronize", waited.append)
    d2l._product(cpu, 8, "float32")()
    d2l._copy(cpu, 64)()
    product, copy = map(numpy, waited)
    assert (product.shape, product.dtype) == ((8, 8), "float32")
    assert 0 < product.min() < product.max() < 8  # sums of eight products of random numbers below 1
    assert copy.nbytes == 64
    assert abs(copy).tolist() == [1] * 16
    assert numpy(d2l._tiny_sum(cpu)()).tolist() == [2]


@pytest.mark.only("mxnet")
def test_a_product_that_the_framework_has_not_is_left_out(measured, d2l):
    assert list(measured["framework"]["product"]) == ["float32"]
    with pytest.raises(NotImplementedError):
        d2l._product(d2l.try_gpu(), 8, "bfloat16")


@pytest.mark.only("jax")
def test_the_product_is_that_of_the_device_it_is_asked_of():
    program = """
import jax
jax.config.update("jax_num_cpu_devices", 2)
from d2l_utils import jax as d2l
d2l.synchronize = lambda x: print(x.devices() == {device})
device = jax.local_devices(backend="cpu")[1]
d2l._product(device, 8, "float32")()
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
        patch.setattr(probes, "triad", lambda a, b, c, s: moved.append(a.size))
        assert probes.triad_bandwidth(3, 1000) > 0
    assert sorted(moved)[::24] == [333, 333, 334]  # (1 warm-up + 5 runs) × 4 passes


def test_a_kind_of_number_that_is_slow_is_left_out():
    seconds = {"quick": 0.0, "slow": 0.02}

    def prepare(n, kind):
        return lambda: time.sleep(seconds[kind])

    rates = probes.product_rates(prepare, 800, ("quick", "slow"))
    assert list(rates) == ["quick"]


def test_a_product_that_turns_out_to_last_too_long_is_left_out():
    seconds = {100: 0.0, 800: 0.05}
    assert probes.product_rates(lambda n, kind: lambda: time.sleep(seconds[n]), 800, ("bfloat16",), 0.02) == {}


def test_float32_stays_however_slow_its_product_is():
    rates = probes.product_rates(lambda n, kind: lambda: time.sleep(0.02), 8, ("float32",), 0.01)
    assert rates == {"float32": pytest.approx(2 * 8**3 / 0.02, rel=0.5)}


def test_a_kind_of_number_that_is_missing_is_left_out_unless_it_is_float32():
    def prepare(n, kind):
        return lambda: {"float32": 1, "float64": 1}[kind]

    assert list(probes.product_rates(prepare, 8, ("bfloat16", "float64", "float32"))) == ["float64", "float32"]
    with pytest.raises(KeyError):
        probes.product_rates(lambda n, kind: lambda: {}[kind], 8, ("float32",))


def test_the_triad_counts_24_bytes_an_element_and_numpys_product_2_flops_a_pair(monkeypatch):
    monkeypatch.setattr(probes, "best", lambda function: 2.0)
    assert probes.triad_bandwidth(2, 1000) == 24 * 1000 * 4 / 2  # four passes
    assert probes.numpy_product(10) == 2 * 10**3 / 2


def test_the_latency_is_that_of_one_load_of_many(monkeypatch):
    steps = []
    monkeypatch.setattr(probes, "chase", lambda ring, place, number: steps.append(number) or 0)
    monkeypatch.setattr(probes, "best", lambda walk: walk() or 2.0)
    assert probes.latencies([2**7, 2**20]) == [2.0 / number for number in steps]
    assert min(steps) >= 2**18  # so that the call itself does not count


def test_rates_count_what_is_done_in_the_fastest_run(monkeypatch):
    """A function returns the seconds that it is to take."""
    monkeypatch.setattr(probes, "measure", lambda run, **_: Measurement((3 * run(), run(), 2 * run()), 1))
    rates = probes.product_rates(lambda n, kind: lambda: n / 100_000, 800, ("float32",))
    assert rates == {"float32": pytest.approx(2 * 800**3 / 0.008)}
    assert probes.copy_bandwidth(lambda: 0.5, 10**6) == pytest.approx(2 * 10**6 / 0.5)  # read and written


def test_the_dispatch_is_the_median_of_one_operation_of_many_with_the_wait_for_the_last(monkeypatch):
    monkeypatch.setattr(probes, "measure", lambda issue, **_: Measurement((issue() or 0.3, 0.1, 0.2), 1))
    issued, waited = [], []
    assert probes.dispatch(lambda: issued.append(0) or len(issued), waited.append, calls=10) == pytest.approx(0.02)
    assert (len(issued), waited) == (10, [10])
