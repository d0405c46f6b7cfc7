"""Atomic writes and locks."""

import os
import subprocess
import sys
import tempfile
import threading
from time import perf_counter

import homes
import pytest

from d2l_lab.files import cache_folder, locked, write_atomically

HOLDER = """
import sys
from pathlib import Path
from d2l_lab.files import locked
with locked(Path(sys.argv[1]), "nobody waits"):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(("content", "written"), [("µ", "µ".encode()), (b"\xff", b"\xff")])
def test_a_file_is_written_with_its_folders_and_left_alone_where_it_holds_the_content(content, written, tmp_path):
    path = tmp_path / "a" / "b.txt"
    assert write_atomically(path, content)
    assert path.read_bytes() == written
    before = path.stat().st_ino
    assert not write_atomically(path, content)
    assert [each.stat().st_ino for each in path.parent.iterdir()] == [before]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "b.txt"
    write_atomically(path, "old")
    monkeypatch.setattr("os.replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_atomically(path, "new")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("end", ["leaves", "is killed"])
def test_a_lock_makes_a_second_process_wait_until_the_first_leaves_or_dies(tmp_path, capsys, end):
    command, pipe = [sys.executable, "-c", HOLDER, tmp_path / "locks" / "one"], subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.STDOUT) as holder:
        assert holder.stdout.readline() == b"held\n"  # without a word about waiting: the lock was free
        start = perf_counter()
        threading.Timer(0.2, holder.stdin.close if end == "leaves" else holder.kill).start()
        with locked(tmp_path / "locks" / "one", "waiting for the other"):
            assert perf_counter() - start >= 0.2
    assert capsys.readouterr().err == "waiting for the other\n"


@pytest.mark.parametrize("fault", homes.FAULTS)
def test_without_a_home_to_write_to_a_temporary_folder_is_kept_which_one_line_says(
    fault, tmp_path, monkeypatch, capsys
):
    (tmp_path / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    fault(tmp_path / "home", monkeypatch)
    found = [cache_folder(), cache_folder()]
    assert found == [tmp_path / "t" / f"d2l-{os.getuid()}"] * 2
    assert found[0].is_dir()
    line = f"there is no home folder that can be written to: what d2l keeps is in {found[0]}\n"
    assert capsys.readouterr().out == line
