"""Processes that a cell starts: what they give and print, how they end, and that nothing is left of them."""

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from types import SimpleNamespace

import numpy as np
import psutil
import pytest
from launching import by_rank, is_soon_empty, left, python, running

from d2l_utils.jobs import processes, supervisor
from d2l_utils.jobs.job import Job, exposed, free_ports, launch, return_value

FORK = """
import os, time
from d2l_utils.jobs.job import Job
with Job("family.py", 2) as job:
    job.wait_for_line(1, "up")
    if child := os.fork():
        print("fork", child)
    time.sleep(60)
"""
SLEEP = "import time; time.sleep(60)"
# A rank and a descendant that has lost its parent, in a session of its own; neither ends when it is asked to.
FAMILY = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if len(sys.argv) == 1:
    subprocess.run(f"{sys.executable} {__file__} orphan &", shell=True, start_new_session=True)
else:
    print("up")
time.sleep(60)
"""

pytestmark = pytest.mark.usefixtures("nothing_is_left")


def test_the_cell_gets_the_values_in_the_order_of_ranks(tmp_path):
    (tmp_path / "worker.py").write_text(
        "import os, sys, time, numpy as np\n"
        "from d2l_utils.jobs.job import return_value\n"
        "rank = int(os.environ['RANK'])\n"
        "time.sleep(0.3 * (rank == 0))\n"
        "return_value({'rank': rank, 'words': sys.argv[1:], 'x': np.full(2, rank)})\n"
    )
    first, second = launch(["worker.py", "a b"], 2)
    assert (first["rank"], second["rank"]) == (0, 1)
    assert first["words"] == ["a b"]
    np.testing.assert_array_equal(second["x"], [1, 1])


def test_a_rank_that_hands_nothing_back_counts_as_none():
    give = "from d2l_utils.jobs.job import return_value; return_value(5)"
    assert launch(by_rank("pass", give)) == [None, 5]


def test_a_launch_ends_with_its_ranks():
    start = time.monotonic()
    launch(python("pass"))
    assert time.monotonic() - start < 5  # 0.1 s where a core is free


def test_ranks_of_a_starter_such_as_torchrun_are_ranks_of_the_job(tmp_path):
    (tmp_path / "give.py").write_text("from d2l_utils.jobs.job import return_value; return_value('given')")
    starter = f"import os\nfor rank in range(3): os.system(f'RANK={{rank}} {sys.executable} give.py')"
    assert launch(python(starter)) == ["given", "given", "given"]


def test_a_value_needs_a_launch_that_waits_for_it():
    with pytest.raises(RuntimeError, match="only in a process that launch started"):
        return_value(1)


def test_ranks_find_each_other_on_loopback_and_compute_in_one_thread():
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", "OMP_NUM_THREADS", "ROLE", "PYTHONUNBUFFERED"]
    give = f"import os\nfrom d2l_utils.jobs.job import return_value\nreturn_value([os.environ.get(name) for name in {names}])"
    first, second = launch(python(give), 2, environment=[{"ROLE": "server"}, {"OMP_NUM_THREADS": 3}])
    assert first[:3] + first[4:] == ["0", "2", "127.0.0.1", "1", "server", "1"]
    assert second[:3] + second[4:] == ["1", "2", "127.0.0.1", "3", None, "1"]
    assert first[3] == second[3]
    assert 1024 <= int(first[3]) < 65536


def test_free_ports_differ_and_can_be_used():
    ports = free_ports(20)
    assert len(set(ports)) == 20
    socket.create_server(("127.0.0.1", ports[0])).close()


def test_a_line_appears_behind_its_rank_in_the_stream_that_it_was_written_to(capsys):
    launch(by_rank("print('one\\n\\ntwo')", "import sys; print('three', file=sys.stderr)"))
    said = capsys.readouterr()
    assert (said.out, said.err) == ("[0] one\n[0] \n[0] two\n", "[1] three\n")


def test_output_appears_while_the_rank_runs(capsys):
    with Job(python(f"print('early'); {SLEEP}")) as job:
        assert job.wait_for_line(0, "arl") == "early"
        assert capsys.readouterr().out == "[0] early\n"
        assert job.status == [None]


@pytest.mark.parametrize(
    ("written", "lines"),
    [
        (b"no end of line", ["no end of line"]),
        (b"gr\xfcn\n", ["gr\N{REPLACEMENT CHARACTER}n"]),
        ("grün\n".encode(), ["grün"]),
        (b"1 %\r2 %\r\n", ["1 %", "2 %"]),
        (b"x" * 2500, ["x" * 1000, "x" * 1000, "x" * 500]),
    ],
)
def test_whatever_a_rank_writes_arrives_as_lines(written, lines):
    with Job(python(f"import sys; sys.stdout.buffer.write({written!r})")) as job:
        job.wait()
    assert job.output == [lines]


def test_of_very_many_lines_the_first_appear_and_the_last_is_known():
    with pytest.raises(RuntimeError, match=r"^rank 0 ended with status 1; its last line: 199999$"):
        with Job(python("for i in range(200_000): print(i)\nraise SystemExit(1)")) as job:
            job.wait()
    assert job.output[0][:2] == ["0", "1"]
    assert job.output[0][-2:] == ["999", "… more than 1000 lines: the rest is not shown"]


def test_a_line_that_never_comes_is_an_error():
    with Job(by_rank("print('other')", SLEEP)) as job:
        with pytest.raises(RuntimeError, match="rank 0 ended without a line that contains 'up'"):
            job.wait_for_line(0, "up")


@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        ("print('before'); raise ValueError('why')", "rank 1 ended with status 1; its last line: ValueError: why"),
        ("print('a'); print('==='); import os; os.abort()", "rank 1 was ended by SIGABRT; its last line: a"),
        ("import os; os._exit(3)", "rank 1 ended with status 3; it printed nothing"),
    ],
)
def test_the_first_failure_ends_all_and_is_said_in_one_line(fault, reason, tmp_path):
    start = time.monotonic()
    with pytest.raises(RuntimeError) as error:
        launch(by_rank(SLEEP, fault, f"import signal; signal.signal(signal.SIGTERM, lambda *_: 0)\n{SLEEP}"))
    assert str(error.value) == reason
    assert time.monotonic() - start < 8
    assert left(tmp_path) == []


def test_a_failure_is_not_lost_if_nobody_waits():
    def cell():
        with Job(by_rank("raise SystemExit(2)", SLEEP)) as job:
            while job.status[1] is None:
                time.sleep(0.01)

    with pytest.raises(RuntimeError, match="rank 0 ended with status 2; it printed nothing"):
        cell()


def test_the_deadline_names_the_ranks_that_still_run():
    with pytest.raises(RuntimeError, match=r"^the deadline of 0.7 s has passed; still running: rank 0, 2$"):
        launch(by_rank(SLEEP, "pass", SLEEP), deadline=0.7)


def test_a_rank_that_may_fail_ends_alone():
    give = "import time; time.sleep(0.5)\nfrom d2l_utils.jobs.job import return_value; return_value(1)"
    with Job(by_rank(give, "import os; os.kill(os.getpid(), 9)"), may_fail=[1]) as job:
        assert job.wait() == [1, None]
    assert job.status == [0, -signal.SIGKILL]


def test_the_cell_can_kill_a_rank_while_the_others_go_on():
    wait = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('went on')"
    with Job(by_rank(wait, SLEEP)) as job:
        job.kill(-1)
        assert job.status == [None, -signal.SIGKILL]
        open("go", "w").close()
        job.wait()
    assert job.output[0] == ["went on"]
    assert job.status[0] == 0


def test_servers_end_when_the_worker_that_is_waited_for_has_ended():
    with Job(by_rank(SLEEP, "from d2l_utils.jobs.job import return_value; return_value(2)")) as job:
        assert job.wait(1) == [None, 2]
        assert job.status == [None, 0]
    assert job.status == [-signal.SIGTERM, 0]


def test_what_a_rank_leaves_behind_ends_with_the_job(tmp_path):
    (tmp_path / "family.py").write_text(FAMILY.replace("time.sleep(60)", "time.sleep(60 * (len(sys.argv) - 1))"))
    assert launch("family.py", 2) == [None, None]
    assert left(tmp_path) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_nothing_outlives_the_kernel(number, driver, tmp_path):
    (tmp_path / "family.py").write_text(FAMILY)
    kernel, _ = driver("[1] up", command="family.py", n=2)
    assert len(left(tmp_path)) >= 6  # the kernel, the supervisor, two ranks, an orphan or two, and a folder
    os.killpg(kernel.pid, number)  # as Jupyter does
    kernel.wait(8)
    assert is_soon_empty(tmp_path)


def test_a_fork_of_the_kernel_does_not_keep_the_ranks_alive(driver, tmp_path):
    (tmp_path / "family.py").write_text(FAMILY)
    kernel, line = driver("fork", code=FORK)
    fork = psutil.Process(int(line.split()[1]))
    kernel.kill()
    kernel.wait()
    end = time.monotonic() + 8
    while left(tmp_path) != [fork] and time.monotonic() < end:
        time.sleep(0.05)
    assert left(tmp_path) == [fork]
    fork.kill()
    assert is_soon_empty(tmp_path)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing tells whose process that is")
def test_a_process_without_parent_and_environment_ends_too():
    orphan = f"env -i {sys.executable} -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' &"
    with Job(python(f"import os\nos.system({orphan!r}); {SLEEP}")) as job:
        orphan = psutil.Process(int(job.wait_for_line(0, "")))
        assert orphan.is_running()
    assert not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE


def test_an_interrupted_cell_ends_what_it_started(tmp_path):
    def cell():
        with Job("family.py", 2) as job:
            job.wait_for_line(1, "up")
            os.kill(os.getpid(), signal.SIGINT)
            job.wait()

    (tmp_path / "family.py").write_text(FAMILY)
    with pytest.raises(KeyboardInterrupt):
        cell()
    assert left(tmp_path) == []


def test_ranks_end_when_the_process_that_watches_them_is_killed(tmp_path):
    def cell():
        with Job("family.py", 2) as job:
            job.wait_for_line(1, "up")
            (watching,) = [process for process in running(tmp_path) if "d2l_utils.jobs.supervisor" in process.cmdline()]
            watching.kill()
            job.wait()

    (tmp_path / "family.py").write_text(FAMILY)
    with pytest.raises(RuntimeError, match="the process that watches the ranks has died"):
        cell()
    assert left(tmp_path) == []


class Immortal:
    """A process that no signal ends, such as one that waits for a disk for ever."""

    pid, signals = 1, ()

    def status(self):
        return psutil.STATUS_DISK_SLEEP

    def terminate(self):
        self.signals += ("TERM",)

    def kill(self):
        self.signals += ("KILL",)


def test_what_cannot_be_killed_is_returned_after_a_while(monkeypatch):
    monkeypatch.setattr(processes, "GRACE", 0.1)
    monkeypatch.setattr(processes, "BOUND", 0.2)
    process = Immortal()
    assert processes.end(lambda: [process]) == [process]
    assert process.signals[0] == "TERM"
    assert set(process.signals[1:]) == {"KILL"}


def test_what_cannot_be_killed_is_said_in_one_line(monkeypatch):
    told = SimpleNamespace(
        commands=[], environments=[], place="", folder="f", deadline=1, may_fail=[], loopback_only=True
    )
    monkeypatch.setattr(supervisor, "end", lambda find: [Immortal()])
    watching = supervisor.Supervisor(**vars(told))
    watching.closed.set()
    watching.finish("rank 0 failed")
    said = json.loads(watching.outgoing.get())
    assert said["reason"] == "rank 0 failed; these processes cannot be killed: 1"


LISTEN = "import socket, time\ns = socket.create_server(({!r}, 0), family=socket.{})\n"


def test_a_rank_that_others_could_reach_ends_the_job(tmp_path):
    (tmp_path / "server.py").write_text(LISTEN.format("0.0.0.0", "AF_INET") + "time.sleep(60)")
    with pytest.raises(RuntimeError) as error:
        launch([python(SLEEP), [sys.executable, "server.py"]])
    expected = rf"rank 1 listens on 0\.0\.0\.0:\d+, which is not loopback: process \d+, {sys.executable} server\.py"
    assert re.fullmatch(expected, str(error.value)), error.value


def test_a_rank_may_listen_beyond_loopback_if_the_cell_says_so():
    launch(python(LISTEN.format("0.0.0.0", "AF_INET") + "time.sleep(0.6)"), loopback_only=False)


@pytest.mark.parametrize(
    ("address", "family"), [("127.0.0.1", "AF_INET"), ("127.3.0.1", "AF_INET"), ("::1", "AF_INET6")]
)
def test_a_rank_may_listen_on_loopback(address, family):
    launch(python(LISTEN.format(address, family) + "time.sleep(0.6)"))


@pytest.mark.parametrize(
    ("address", "family", "reachable"),
    [
        ("0.0.0.0", socket.AF_INET, "0.0.0.0"),
        ("::", socket.AF_INET6, "[::]"),
        ("127.0.0.1", socket.AF_INET, None),
        ("::1", socket.AF_INET6, None),
        ("::ffff:127.0.0.1", socket.AF_INET6, None),
    ],
)
def test_a_socket_that_listens_beyond_loopback_is_listed(address, family, reachable):
    here = psutil.Process()
    before = exposed([here])
    with socket.create_server((address, 0), family=family, dualstack_ipv6=address.startswith("::ffff")) as server:
        found = [one for one in exposed([here]) if one not in before]
        expected = (here.pid, processes.shlex.join(here.cmdline()), f"{reachable}:{server.getsockname()[1]}")
        assert found == ([expected] if reachable else [])


def test_a_process_that_has_ended_listens_nowhere():
    process = subprocess.Popen(python("pass"))
    one = psutil.Process(process.pid)
    process.wait()
    assert exposed([one]) == []


@pytest.mark.parametrize(
    ("arguments", "error", "said"),
    [
        ({"command": "gone.py"}, FileNotFoundError, "there is no script 'gone.py' in"),
        ({"command": __file__ + "c"}, FileNotFoundError, "is no script .* and no program that can be run"),
        ({"command": ["./notes"]}, FileNotFoundError, "'./notes' is no script"),
        ({"command": ["true"], "n": 0}, ValueError, "at least one process"),
        ({"command": []}, ValueError, "at least one process"),
        ({"command": [["true"], ["true"]], "n": 3}, ValueError, "n=3, 2 commands"),
        ({"command": ["true"], "n": 2, "environment": [{}]}, ValueError, "n=2, 1 environments"),
        ({"command": ["true"], "deadline": 0}, ValueError, "a deadline is a number of seconds above 0"),
    ],
)
def test_a_call_that_cannot_work_is_refused_before_anything_starts(arguments, error, said, tmp_path):
    (tmp_path / "notes").touch()
    with pytest.raises(error, match=said):
        launch(**arguments)


def test_a_program_that_the_system_refuses_to_start_is_named(tmp_path):
    program = tmp_path / "program"
    program.write_text("no program")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match="rank 1 cannot be started: .*Exec format error"):
        launch([python(SLEEP), [str(program)]])
