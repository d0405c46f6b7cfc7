"""Processes that a cell starts: what they return and print, how they end, and that nothing is left of them.

The fixture `nothing_is_left` checks after each test that all processes and folders are gone.
"""

import os
import re
import signal
import socket
import sys
import time
from pathlib import Path
from threading import Event

import psutil
import pytest
from launching import by_rank, left, running, wait_until

from d2l_lab.processes import output
from d2l_lab.processes.commands import KEY
from d2l_lab.processes.job import Job, launch, return_value

FORK = """
import os, time
from d2l_lab.processes.job import Job
with Job(["family.py", "stay"], 2) as job:
    job.wait_for_line(1, "up")
    if child := os.fork():
        print("fork", child)
    time.sleep(60)
"""
SLEEP = "import time; time.sleep(60)"
RETURN = "from d2l_lab.processes.job import return_value; return_value({})"
# A rank and a descendant that has lost its parent, in a session of its own; neither ends when it is asked to.
FAMILY = """
import signal, subprocess, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
if "orphan" in sys.argv:
    print("up")
else:
    subprocess.run(f"{sys.executable} {__file__} orphan &", shell=True, start_new_session=True)
if sys.argv[1:]:
    time.sleep(60)
"""
STAYING = {"command": ["family.py", "stay"], "n": 2}
ANYWHERE = "import socket, time; s = socket.create_server(('0.0.0.0', 0)); print('up', *s.getsockname()); "


@pytest.fixture(autouse=True)
def family(nothing_is_left, tmp_path):
    (tmp_path / "family.py").write_text(FAMILY)


# What comes back


def test_the_cell_gets_the_values_in_the_order_of_ranks_once_all_have_ended_and_others_give_none(tmp_path):
    slow_zero = "import os, sys, time\nrank = int(os.environ['RANK'])\nif rank == 0: time.sleep(0.3)\n"
    (tmp_path / "worker.py").write_text(slow_zero + "if rank < 2: " + RETURN.format("[rank, *sys.argv[1:]]"))
    start = time.monotonic()
    assert launch(["worker.py", "a b"], 3) == [[0, "a b"], [1, "a b"], None]
    assert time.monotonic() - start < 6  # it ends with its ranks: 0.6 s where a core is free
    with pytest.raises(RuntimeError, match="only in a process that launch started"):
        return_value(1)


def test_ranks_of_a_starter_such_as_torchrun_are_ranks_of_the_job(tmp_path):
    (tmp_path / "give.py").write_text(RETURN.format("'given'"))
    starter = f"import os\nfor rank in range(3): os.system(f'RANK={{rank}} {sys.executable} give.py')"
    assert launch(by_rank(starter)) == ["given", "given", "given"]


def test_ranks_find_each_other_on_loopback_know_a_key_and_compute_in_one_thread(monkeypatch):
    monkeypatch.delenv(KEY, raising=False)
    names = ["RANK", "WORLD_SIZE", "MASTER_ADDR", "OMP_NUM_THREADS", "ROLE", "PYTHONUNBUFFERED", "MASTER_PORT", KEY]
    give = f"import os; {RETURN.format(f'[os.environ.get(name) for name in {names}]')}"
    first, second = launch(by_rank(give, give), environment=[{"ROLE": "server"}, {"OMP_NUM_THREADS": 3}])
    assert first[:6] == ["0", "2", "127.0.0.1", "1", "server", "1"]
    assert second == ["1", "2", "127.0.0.1", "3", None, "1", *first[6:]]
    assert 1024 <= int(first[6]) < 65536
    ((*_, key),) = launch(by_rank(give))
    assert key != first[7]
    assert len(key) == len(first[7]) == 32
    monkeypatch.setenv(KEY, "by hand")
    assert launch(by_rank(give))[0][7] == "by hand"


def test_hosts_names_a_free_address_for_each_rank():
    addresses = "(os.environ['HOSTS'].split(','), os.environ['MASTER_PORT'])"
    listen = "host, port = os.environ['HOSTS'].split(',')[int(os.environ['RANK'])].split(':')\n"
    listen += "socket.create_server((host, int(port)))\n"
    code = f"import os, socket\n{listen}{RETURN.format(addresses)}"
    (hosts, master_port), other = launch(by_rank(code, code))
    assert (hosts, master_port) == other
    assert len({*hosts, f"127.0.0.1:{master_port}"}) == 3


def test_ranks_have_no_proxy_unless_they_are_given_one_and_the_notebook_keeps_its_own(monkeypatch):
    """gRPC would send to a proxy what goes over loopback, and JAX would warn of it."""
    for name in ("http_proxy", "HTTPS_PROXY", "all_proxy", "no_grpc_proxy", "GRPC_ADDRESS_HTTP_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    names = "[name for name in os.environ if '_proxy' in name.lower()]"
    give = f"import os; {RETURN.format(names)}"
    assert launch(by_rank(give, give), environment=[{}, {"https_proxy": "http://proxy"}]) == [[], ["https_proxy"]]
    assert os.environ["http_proxy"] == "http://127.0.0.1:9"


# What is printed


def test_a_line_appears_behind_its_rank_in_its_stream_while_it_runs_and_one_that_never_comes_is_an_error(capsys):
    launch(by_rank("print('one\\n\\ntwo')", "import sys; print('three', file=sys.stderr)"))
    assert capsys.readouterr() == ("[0] one\n[0] \n[0] two\n", "[1] three\n")
    with Job(by_rank(f"print('early'); {SLEEP}", "import time; time.sleep(0.5)")) as job:
        assert job.wait_for_line(0, "arl") == "early"
        assert capsys.readouterr().out == "[0] early\n"
        assert job.status[0] is None
        with pytest.raises(RuntimeError, match="rank 1 ended without a line that contains 'up'"):
            job.wait_for_line(1, "up")


def test_whatever_a_rank_writes_arrives_as_lines():
    written = (b"no end of line", b"gr\xfcn\n", "grün\n".encode(), b"a\0b\n", b"x" * 2500)
    with Job(by_rank(*(f"import sys; sys.stdout.buffer.write({one!r})" for one in written))) as job:
        job.wait()
    assert job.output == [["no end of line"], ["gr\N{REPLACEMENT CHARACTER}n"], ["grün"], ["ab"], ["x" * 2500]]


def test_a_progress_bar_is_one_line_in_the_cell_and_a_frame_is_found_all_the_same(capsys):
    bar = "import sys, time\nfor i in range(101): print(f'\\r{i}%', end='', file=sys.NAME); time.sleep(0.003)"
    with Job(by_rank(bar.replace("NAME", "stdout"), bar.replace("NAME", "stderr"))) as job:
        assert job.wait_for_line(1, "37") == "37%"
        job.wait()
        assert job.wait_for_line(0, "38") == "38%"
    assert job.output == [["100%"], ["100%"]]
    assert capsys.readouterr() == ("[0] 100%\n", "[1] 100%\n")


def test_of_very_many_lines_the_cell_shows_the_first_and_the_job_has_all(capsys):
    with Job(by_rank("for i in range(50_000): print(i)\nraise SystemExit(1)"), may_fail=[0]) as job:
        assert job.wait_for_line(0, "4321") == "4321"
        job.wait()
    assert job.output == [[str(i) for i in range(50_000)]]
    shown = capsys.readouterr().out.splitlines()
    assert (shown[0], shown[999]) == ("[0] 0", "[0] 999")
    assert shown[1000:] == ["[0] … more than 1000 lines: the rest is not shown", "[0] … 49000 lines were not shown"]


def test_a_text_is_found_in_a_long_line_which_the_cell_shows_in_pieces(capsys):
    with Job(by_rank("print('x' * 995 + 'across the edge' + 'x' * 50_000)")) as job:
        assert len(job.wait_for_line(0, "across the edge")) == 995 + 15 + 50_000
        job.wait()
    assert {len(line) for line in capsys.readouterr().out.splitlines()} == {len("[0] ") + 1000, len("[0] ") + 10}


def test_what_a_rank_has_printed_is_there_when_it_has_ended_although_a_child_holds_its_pipe():
    child = "import subprocess, sys; print('here', end='', flush=True); subprocess.Popen(['sleep', '60'])"
    with Job(by_rank(child, SLEEP)) as job:
        assert job.wait_for_line(0, "her") == "here"
        wait_until(lambda: job.status[0] == 0)


def test_a_rank_that_prints_without_end_waits_for_the_notebook_and_its_newest_lines_are_kept(monkeypatch):
    monkeypatch.setattr(output, "MEMORY", 15_000)
    counting = (
        "import itertools\nat = open('at', 'w', buffering=1)\nfor i in itertools.count():\n"
        "    print(i, 10_000 * 'x')\n    print(i, file=at)"
    )
    blocked = Event()
    monkeypatch.setattr(output.Output, "show", lambda *_: blocked.wait(30))
    with Job(by_rank(counting)) as job:
        wait_until(lambda: Path("at").exists() and lines_in("at") > 10)
        wait_until(is_still)
        blocked.set()
        job.wait_for_line(0, f"{lines_in('at') + 50} x")
    assert re.fullmatch(r"… \d+ lines before these were not kept", job.output[0][0])
    assert sum(map(len, job.output[0])) < 20_000


def lines_in(name):
    return Path(name).read_text().count("\n")


def is_still():
    """Tell whether the file has not grown for a while."""
    before = lines_in("at")
    time.sleep(0.3)
    return lines_in("at") == before


# How ranks end


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        (
            "import atexit; atexit.register(print, 'b'); raise ValueError('why')",
            "rank 1 ended with status 1; its last line: ValueError: why",
        ),
        ("for i in range(50_000): print(i)\nraise SystemExit(1)", "rank 1 ended with status 1; its last line: 49999"),
        ("raise SystemExit(2000 * 'x')", f"rank 1 ended with status 1; its last line: {1000 * 'x'}"),
        ("print('a'); print('==='); import os; os.abort()", "rank 1 was ended by SIGABRT; its last line: a"),
        ("import os; os.kill(os.getpid(), 40)", "rank 1 was ended by signal 40; it printed nothing"),
        ("pass", "the deadline of 0.7 s has passed; still running: rank 0, 2"),
    ],
)
def test_the_first_failure_or_the_deadline_ends_all_and_is_said_in_one_line(code, reason):
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=f"^{re.escape(reason)}$"):
        launch(by_rank(SLEEP, code, SLEEP), deadline=0.7 if code == "pass" else 60)
    assert time.monotonic() - start < 8


def test_a_failure_is_not_lost_if_nobody_waits_and_a_job_runs_once():
    with pytest.raises(RuntimeError, match="rank 0 ended with status 2; it printed nothing"):
        with Job(by_rank("raise SystemExit(2)", SLEEP)) as job:
            wait_until(lambda: job.status[1] is not None)
    with Job(by_rank("pass")) as job:
        job.wait()
    with pytest.raises(RuntimeError, match="a Job runs once"), job:
        pass


def test_a_rank_that_may_fail_ends_alone_and_servers_end_with_the_worker_that_is_waited_for():
    with Job(by_rank(f"import time; time.sleep(0.5)\n{RETURN.format(1)}", "raise SystemExit(1)"), may_fail=[1]) as job:
        assert job.wait() == [1, None]
    assert job.status == [0, 1]
    assert job.endings == "rank 0 ended with status 0, rank 1 ended with status 1"
    with Job(by_rank(SLEEP, RETURN.format(2))) as job:
        assert job.wait(1) == [None, 2]
        assert job.status == [None, 0]
    assert job.status == [-signal.SIGTERM, 0]


def test_the_cell_can_kill_a_rank_while_the_others_go_on():
    wait = "import os, time\nwhile not os.path.exists('go'): time.sleep(0.01)\nprint('went on')"
    with Job(by_rank(wait, SLEEP)) as job:
        with pytest.raises(IndexError, match="there is no rank 2 in a job of 2"):
            job.kill(2)
        job.kill(-1)
        assert job.status == [None, -signal.SIGKILL]
        assert job.endings == "rank 0 still runs, rank 1 was ended by SIGKILL"
        Path("go").touch()
        job.wait()
    assert (job.output[0], job.status[0]) == (["went on"], 0)


# What is left


def test_what_a_rank_leaves_behind_ends_with_the_job():
    assert launch("family.py", 2) == [None, None]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_nothing_outlives_the_kernel(number, driver, tmp_path):
    kernel, _ = driver("[1] up", **STAYING)
    assert len(left(tmp_path)) >= 6  # the kernel, the supervisor, two ranks, an orphan or two, and a folder
    os.killpg(kernel.pid, number)  # as Jupyter does
    assert kernel.wait(8) == -number
    wait_until(lambda: not left(tmp_path))


def test_a_fork_of_the_kernel_does_not_keep_the_ranks_alive(driver, tmp_path):
    kernel, line = driver("fork", code=FORK)
    fork = psutil.Process(int(line.split()[1]))
    kernel.kill()
    kernel.wait()
    wait_until(lambda: left(tmp_path) == [fork])
    fork.kill()
    wait_until(lambda: not left(tmp_path))


def test_ranks_end_when_their_supervisor_is_killed(tmp_path):
    def cell():
        with Job(**STAYING) as job:
            job.wait_for_line(1, "up")
            (supervisor,) = running(tmp_path, "d2l_lab.processes.supervisor")
            supervisor.kill()
            job.wait()

    with pytest.raises(RuntimeError, match="process that watches the ranks has died"):
        cell()


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere nothing tells whose process that is")
def test_a_process_without_parent_and_environment_ends_too():
    orphan = f"env -i {sys.executable} -c 'import os, time; print(os.getpid(), flush=True); time.sleep(60)' &"
    with Job(by_rank(f"import os\nos.system({orphan!r}); {SLEEP}")) as job:
        orphan = psutil.Process(int(job.wait_for_line(0, "")))
        assert orphan.is_running()
    assert not orphan.is_running() or orphan.status() == psutil.STATUS_ZOMBIE


# Who can reach it


@pytest.mark.parametrize("after", [0, 2.2], ids=["at once", "when the supervisor looks seldom"])
def test_a_rank_that_others_could_reach_ends_the_job(after, tmp_path):
    (tmp_path / "server.py").write_text(f"import time; time.sleep({after}); {ANYWHERE}time.sleep(60)")
    start = time.monotonic()
    with pytest.raises(RuntimeError) as error:
        launch([*by_rank(SLEEP), [sys.executable, "server.py"]])
    expected = rf"rank 1 listens on 0\.0\.0\.0:\d+, which is not loopback: process \d+, {sys.executable} server\.py"
    assert re.fullmatch(expected, str(error.value)), error.value
    assert time.monotonic() - start < after + 5


@pytest.mark.usefixtures("namespaces")
@pytest.mark.parametrize("isolated", [True, "if possible"])
def test_ranks_of_an_isolated_job_reach_each_other_and_nobody_else_reaches_them(isolated):
    call = "import os, socket, time\nwhile not os.path.exists('port'): time.sleep(0.01)\n"
    call += "time.sleep(0.1)\nsocket.create_connection(('127.0.0.1', int(open('port').read()))).close()"
    serve = f"{ANYWHERE}open('port', 'w').write(str(s.getsockname()[1])); s.accept(); print('called'); time.sleep(60)"
    with Job(by_rank(serve, call), isolated=isolated) as job:
        port = int(job.wait_for_line(0, "up").split()[-1])
        with pytest.raises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", port))
        job.wait_for_line(0, "called")
        job.wait(1)


def test_where_no_network_can_be_had_an_isolated_job_is_refused_with_the_cure_and_nothing_starts(monkeypatch):
    monkeypatch.setenv("PATH", "")
    refusal = r"no network of their own .+: run them on Linux, as root .+ or pass isolated=\"if possible\""
    with pytest.raises(RuntimeError, match=refusal):
        launch(by_rank("open('started', 'w')"), isolated=True)
    assert not Path("started").exists()


def test_if_the_caller_allows_it_they_run_all_the_same_and_a_line_says_who_can_reach_them(monkeypatch, capsys):
    monkeypatch.setenv("PATH", "")
    launch(by_rank(f"{ANYWHERE}time.sleep(0.6)"), isolated="if possible")
    first, second = capsys.readouterr().out.splitlines()
    assert re.fullmatch(r"no network of their own .+: .* their servers listen on all networks .* a firewall .*", first)
    assert second.startswith("[0] up 0.0.0.0")


# What is refused


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"command": "gone.py"}, FileNotFoundError, "there is no script 'gone.py' in"),
        ({"command": "gone"}, FileNotFoundError, "'gone' is no script .* and no program that can be run"),
        ({"command": ["./notes"]}, FileNotFoundError, "'./notes' is no script"),
        ({"command": ["true"], "n": 0}, ValueError, "at least one process"),
        ({"command": []}, ValueError, "at least one process"),
        ({"command": [["true"], ["true"]], "n": 3}, ValueError, "n=3, 2 commands"),
        ({"command": ["true"], "n": 2, "environment": [{}]}, ValueError, "n=2, 1 environments"),
        ({"command": ["true"], "isolated": "perhaps"}, ValueError, "isolated is True, False or 'if possible'"),
        ({"command": ["true"], "deadline": 0}, ValueError, "a deadline is a number of seconds above 0"),
    ],
)
def test_a_call_that_cannot_work_is_refused_before_anything_starts(arguments, error, message, tmp_path):
    (tmp_path / "notes").touch()
    with pytest.raises(error, match=message):
        launch(**arguments)


def test_a_program_that_the_system_refuses_to_start_is_named(tmp_path):
    program = tmp_path / "program"
    program.write_text("no program")
    program.chmod(0o755)
    with pytest.raises(RuntimeError, match="rank 1 cannot be started: .*Exec format error"):
        launch([*by_rank(SLEEP), [str(program)]])
