"""Every notebook runs from its first cell to its last, all its claims hold, and the checked outputs come again."""

import pytest
from running import run


def test_a_notebook_runs(notebook, record_property):
    """One that fails is run once more, alone; what listens where others can reach it fails at once."""
    first = run(notebook)
    record_property("ran", str(first))
    if first.listeners:
        pytest.fail(str(first), pytrace=False)
    if first.faults:
        second = run(notebook)
        record_property("ran", str(second))
        if second.listeners or second.faults:
            pytest.fail(f"first run {first}\nsecond run {second}", pytrace=False)
