"""Each framework's own engine under the launcher: what it computes, and that nothing is left of it."""

import os
import signal
import time

import pytest
from engines import ENGINES
from launching import left, wait_until

from d2l_lab.processes.job import Job


@pytest.fixture
def engine(framework, nothing_is_left, tmp_path):
    """The framework's way to run several processes, its program in the working directory."""
    (tmp_path / "engine.py").write_text(ENGINES[framework].program)
    return ENGINES[framework]


def test_an_engine_computes_with_all_its_ranks(engine):
    with Job(**engine.arguments) as job:
        assert job.wait(*engine.waited_for) == engine.values


def test_an_engine_ends_with_the_kernel(engine, driver, tmp_path, monkeypatch):
    monkeypatch.setenv("STAY", "")
    kernel, _ = driver(f"[{engine.victim}] up", **engine.arguments)
    kernel.kill()
    kernel.wait()
    wait_until(lambda: not left(tmp_path))


def test_an_engine_that_loses_a_worker_fails_or_hangs_and_leaves_nothing(engine, monkeypatch):
    monkeypatch.setenv("STAY", "")
    with Job(**engine.arguments, may_fail=range(4)) as job:
        victim, _ = (job.wait_for_line(rank, "up") for rank in (engine.victim, engine.survivor))
        os.kill(int(victim.split()[1]), signal.SIGKILL)
        if engine.notices:
            job.wait(engine.survivor)
        else:
            time.sleep(2)
        assert bool(job.status[engine.survivor]) is engine.notices
