"""The framework that a function works with: that of the module it is called from."""

from types import ModuleType

import pytest

from d2l_lab.instruments import framework as module
from d2l_lab.instruments import loops, memory
from d2l_lab.machine.disturbance import Disturbance
from d2l_lab.machine.today import Change, Today
from d2l_lab.protocol import Counters
from d2l_utils import common


@pytest.fixture
def imported(monkeypatch):
    """A function that makes and registers modules of frameworks with these names, as their folders do."""
    monkeypatch.setattr(module, "_imported", [])

    def make(*names):
        found = [ModuleType(f"d2l_utils.{name}") for name in names]
        for place, one in enumerate(found):
            vars(one).update({name: getattr(common, name) for name in common.__all__})
            one.synchronize = lambda: None
            one.memory_counters = lambda place=place: Counters(lambda: 0, lambda: None, lambda: place)
            for _ in range(2):  # a module that is reloaded registers again
                module.register(one)
        return found

    return make


@pytest.mark.parametrize(("names", "said"), [((), "none"), (("jax", "torch"), "d2l_utils.jax and d2l_utils.torch")])
def test_where_nobody_says_which_of_none_or_several_an_error_names_them(names, said, imported):
    imported(*names)
    with pytest.raises(RuntimeError, match=f"from the module of a framework, such as .*; imported: {said}$"):
        module.framework()


def test_the_only_one_need_not_be_named(imported):
    assert imported("jax") == [module.framework()]


def test_of_two_in_a_process_each_works_with_its_own_also_after_an_error(imported, monkeypatch):
    first, second = imported("jax", "torch")
    for place, one in enumerate((first, second)):
        assert one.memory_of(lambda: 1).peak == place
        with pytest.raises(ZeroDivisionError):
            one.memory_over_time(lambda: 1 / 0)
    monkeypatch.setattr(module, "profile_for", lambda name: name)
    monkeypatch.setenv("D2L_QUICK", "1")
    assert (first.your_machine(), second.your_machine()) == ("jax", "torch")
    for one in (first, second):
        one.Loop = type("Loop", (loops.Loop,), {"make": lambda self, *_, one=one: 1 / (self.d2l is not one)})
        one.try_gpu = lambda: None
        for call in (one.try_lever, one.running_total):
            with pytest.raises(ZeroDivisionError):  # its own loop was asked, and knows its framework
                call("bfloat16") if call is one.try_lever else call({"bfloat16": None})


def test_beside_a_gpu_the_bytes_of_the_cpu_count_where_they_are_asked_for(imported, monkeypatch):
    (one,) = imported("jax")
    monkeypatch.setattr(memory, "process_counters", lambda: Counters(lambda: 0, lambda: None, lambda: 7))
    assert one.memory_of(lambda: 1).peak == 0
    assert one.memory_of(lambda: 1, on_cpu=True).peak == 7


def test_what_is_bound_keeps_its_name_and_words_and_all_else_is_shared(imported):
    (one,) = imported("jax")
    differing = {name for name in common.__all__ if getattr(one, name) is not getattr(common, name)}
    assert differing == {"bill", "memory_of", "memory_over_time", "running_total", "try_lever", "your_machine"}
    for name in differing:
        assert (getattr(one, name).__name__, getattr(one, name).__doc__) == (name, getattr(common, name).__doc__)


@pytest.fixture
def today(imported, monkeypatch):
    """A framework, and its machine of today, of which a list tells for which profiles it was measured."""
    changes = [
        Change(("bandwidth", "memory", "in place"), "", 52e9, 96e9),
        Change(("dispatch", "wait"), "A100", 20e-6, 9e-6),
    ]
    measured = []

    def measure(d2l, kept):
        measured.append(kept)
        return Today({"P": [1]}, changes, {"": "MemoryError: no room"}, Disturbance(0.8, 2))

    monkeypatch.setattr(module, "measure_today", measure)
    monkeypatch.setattr(module, "profile_for", lambda name: f"profile for {name}")
    monkeypatch.setattr(module, "_machines", {})
    return imported("jax")[0], measured


def test_the_first_call_of_a_process_measures_today_and_says_what_changed(today, monkeypatch, capsys):
    monkeypatch.delenv("D2L_QUICK", raising=False)
    d2l, measured = today
    found = d2l.your_machine()
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 88  # a page shows as many characters in a window of 1400 px
    assert lines == [
        "a pass over memory in place: today 52.0 GB/s, 96.0 GB/s when the profile was made",
        "a tiny operation waited for (A100): today 20.0 µs, 9.00 µs when the profile was made",
        "predictions use the figures of today",
        "some figures could not be measured today, so the profile's stand: MemoryError: no room",
        "while this machine was measured, other programs took 0.8 of 2 cores",
    ]
    found["P"].append("changed by a reader")
    assert (d2l.your_machine(), measured) == ({"P": [1]}, ["profile for jax"])
    assert capsys.readouterr().out == ""


def test_a_quick_run_reads_the_profile_and_measures_nothing(today, monkeypatch):
    monkeypatch.setenv("D2L_QUICK", "1")
    d2l, measured = today
    assert (d2l.your_machine(), measured) == ("profile for jax", [])
