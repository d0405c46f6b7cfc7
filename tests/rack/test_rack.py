"""The rack in one machine: its links, its record, what it refuses, and that nothing of it is left."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys

import pytest
from launching import ROOT, running, wait_until

from d2l_lab.collectives.cost_model import ring_time, star_time
from d2l_lab.machine import datasheets
from rack import namespaces
from rack.__main__ import PLACE, table
from rack.inside import SLOWER, fit
from rack.switch import PACKET, Links

pytestmark = pytest.mark.slow
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system is what is refused")


# Links


def test_a_packet_waits_for_those_before_it_on_either_link_also_if_it_is_slow_or_part_of_a_message():
    links = Links([1e3] * 3, 0.5)
    assert links.arrival(0, 0, 1, 1000) == pytest.approx(1.5)  # alone
    assert links.arrival(0, 0, 2, 1000) == pytest.approx(2.5)  # host 0 sends one after the other
    assert links.arrival(0, 2, 1, 1000) == pytest.approx(2.5)  # host 1 receives one after the other
    assert links.arrival(0, 1, 0, 1000) == pytest.approx(1.5)
    assert links.arrival(10, 0, 1, 2000) == pytest.approx(12.5)  # alone again
    links = Links([1e3, 1e3, 1e2], 0.5)
    assert links.arrival(0, 0, 1, 1000) == pytest.approx(1.5)
    assert links.arrival(0, 2, 0, 1000) == pytest.approx(10.5)  # enters while it still leaves
    assert links.arrival(10, 1, 2, 1000) == pytest.approx(20.5)
    whole, cut = Links([1e3] * 2, 0.5), Links([1e3] * 2, 0.5)
    assert whole.arrival(0, 0, 1, 900) == pytest.approx([cut.arrival(0, 0, 1, 300) for _ in range(3)][-1])
    assert PACKET < 2**16


# The record


@pytest.fixture(scope="module")
def record():
    return datasheets.rack_record()


def test_the_record_has_what_its_reader_says_of_the_link_that_was_set_and_a_bit_of_software(record):
    assert record.keys() == {"date", "cores", "rate", "delay", "rounds", "alpha", "b", "pingpong", "runs", "slow"}
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", record["date"])
    assert record["rounds"] >= 3
    columns = ["n", "algorithm", "bytes", "predicted", "seconds", "low", "high"]
    assert all(list(run) == columns for run in record["runs"])
    kinds = {(run["n"], run["algorithm"], run["bytes"]) for run in record["runs"]}
    sizes = {size for *_, size in kinds}
    assert kinds == {(n, name, size) for n in (2, 4, 8) for name in ("star", "ring") for size in sizes}
    assert len(kinds) == len(record["runs"]) == 12
    assert PLACE == datasheets.FOLDER / "rack.json"  # where the package looks for it
    sizes = [2**k for k in range(10, 21)]
    assert fit(sizes, [7e-4 + size / 12e6 for size in sizes]) == pytest.approx((7e-4, 12e6))
    assert fit(**record["pingpong"]) == pytest.approx((record["alpha"], record["b"]))
    assert record["delay"] < record["alpha"] < 2 * record["delay"]
    assert 0.9 * record["rate"] < record["b"] < record["rate"]


def test_the_predictions_are_those_of_the_cost_model_and_the_slow_link_shows_in_the_pairs_of_its_host_alone(record):
    largest = max(run["bytes"] for run in record["runs"])
    for run in record["runs"]:
        cost = star_time if run["algorithm"] == "star" else ring_time
        assert run["predicted"] == pytest.approx(cost(run["n"], run["bytes"], record["alpha"], record["b"]))
        assert 0 < run["low"] <= run["seconds"] <= run["high"]
        low, high = (0.9, 1.2) if run["bytes"] == largest else (0.6, 1.7)  # latencies overlap; cores are shared
        assert low < run["seconds"] / run["predicted"] < high, run
    slow = record["slow"]
    assert slow["rate"] == record["rate"] / SLOWER
    for i, row in enumerate(slow["pairs"]):
        for j, seconds in enumerate(row):
            b = record["b"] / SLOWER if slow["host"] in (i, j) else record["b"]
            assert seconds == pytest.approx(0 if i == j else record["alpha"] + slow["bytes"] / b, rel=0.3)
    assert slow["seconds"].keys() == {"star", "ring"}


# What is refused


def command(folder, *sizes):
    """The command of a small rack that writes its record into the folder."""
    small = ("--hosts", "2", "--rounds", "1", "--sizes", *sizes)
    return [sys.executable, "-m", "rack", *small, "--to", str(folder / "rack.json")]


def run_rack(folder, *sizes, **options):
    return subprocess.run(command(folder, *sizes), cwd=ROOT, capture_output=True, text=True, timeout=60, **options)


@on_linux
@pytest.mark.parametrize(
    ("programs", "message"),
    [
        ({"unshare": "exit 0"}, "needs ip and nsenter (Debian: apt-get install iproute2 util-linux)"),
        (
            {"ip": "exit 0", "nsenter": "exit 0", "unshare": "echo 'unshare: not permitted' >&2; exit 1"},
            "(unshare: not permitted): try root",
        ),
    ],
)
def test_missing_programs_and_rights_are_refused_in_one_line(programs, message, tmp_path):
    for name, script in programs.items():
        path = tmp_path / name
        path.write_text(f"#!{shutil.which('sh')}\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
    done = run_rack(tmp_path, "64", env=os.environ | {"PATH": str(tmp_path)})
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert message in done.stderr
    assert not (tmp_path / "rack.json").exists()


def test_another_system_is_refused():
    assert "this is darwin" in namespaces.refusal("darwin")


# Real racks


@pytest.fixture
def networks_remain(nothing_is_left):
    """Check after a test that its processes are gone and that the machine has the networks that it had."""
    before = networks()
    yield
    assert networks() == before


def networks():
    return [subprocess.run(["ip", *words], capture_output=True).stdout for words in (["netns"], ["-o", "-br", "link"])]


@pytest.mark.usefixtures("namespaces", "networks_remain")
def test_a_rack_of_two_hosts_is_built_used_and_removed_and_ends_with_a_rank_that_fails(tmp_path):
    done = run_rack(tmp_path, "4096")
    assert (done.returncode, done.stderr) == (0, "")
    record = json.loads((tmp_path / "rack.json").read_text(encoding="utf-8"))
    assert [run["algorithm"] for run in record["runs"]] == ["star", "ring"]
    assert all(run["seconds"] > 2 * record["delay"] for run in record["runs"])  # a message there and one back
    lines = done.stdout.splitlines()
    assert lines == list(table(record))
    assert f"{1e6 * record['alpha']:.0f} µs" in lines[0]
    assert [line.split()[1] for line in lines[2:-1]] == ["star", "ring"]
    (tmp_path / "rack.json").unlink()
    done = run_rack(tmp_path, "-64")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "no rack: of 2 ranks, in their order, the exit statuses are [1, 1]"
    assert not (tmp_path / "rack.json").exists()


@pytest.mark.usefixtures("namespaces", "networks_remain")
@pytest.mark.parametrize(
    ("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGKILL, -signal.SIGKILL)]
)
def test_a_rack_that_is_ended_from_outside_leaves_nothing(tmp_path, number, status):
    process = subprocess.Popen(command(tmp_path, "1000000"), cwd=ROOT, stdout=subprocess.DEVNULL)
    wait_until(lambda: running(tmp_path, "d2l_lab.collectives.measure"), seconds=30)
    process.send_signal(number)
    assert process.wait(timeout=10) == status
    wait_until(lambda: not running(tmp_path), seconds=5)
