"""What tests have started ends with pytest, even if that is killed."""

import os
import subprocess
import sys
from pathlib import Path

import psutil
from launching import running, wait_until

TESTS = Path(__file__).parent
STAY = """
import os, signal, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(f"{os.getpid()}.pid", "w").close()
time.sleep(60)
"""
STARTS = """
import subprocess, sys, time
from d2l_lab.processes.job import Job

def test_that_starts_processes():
    stay = [sys.executable, "stay.py"]
    subprocess.Popen(stay, start_new_session=True)
    with Job([stay, ["sh", "-c", f"env -i {sys.executable} stay.py & sleep 60"]]):
        time.sleep(60)
"""


def lives(pid):
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def test_nothing_that_a_test_has_started_outlives_a_pytest_that_is_killed(tmp_path):
    (tmp_path / "stay.py").write_text(STAY)
    (tmp_path / "test_it.py").write_text(STARTS)
    environment = os.environ | {"TMPDIR": str(tmp_path), "PYTHONPATH": f"{TESTS.parent}{os.pathsep}{TESTS}"}
    command = [sys.executable, "-m", "pytest", "-p", "reaper", "-p", "no:cacheprovider", "test_it.py"]
    with subprocess.Popen(command, cwd=tmp_path, env=environment, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: len(list(tmp_path.glob("*.pid"))) == 3, seconds=30)
        process.kill()
    pids = [int(path.stem) for path in tmp_path.glob("*.pid")]
    wait_until(lambda: not running(tmp_path) and not any(map(lives, pids)))
