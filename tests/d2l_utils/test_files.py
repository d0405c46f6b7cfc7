"""Atomic writes and locks."""

import subprocess
import sys
import threading

import pytest

from d2l_utils.files import locked, write_atomically

HOLDER = """
import sys
from pathlib import Path
from d2l_utils.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_file_is_written_with_its_folders_and_nothing_is_left_beside_it(tmp_path):
    path = tmp_path / "a" / "b.txt"
    assert write_atomically(path, "µ")
    assert path.read_bytes() == "µ".encode()
    assert list(path.parent.iterdir()) == [path]


def test_the_same_content_leaves_a_file_alone(tmp_path):
    path = tmp_path / "b.bin"
    write_atomically(path, b"1")
    before = path.stat().st_ino
    assert not write_atomically(path, b"1")
    assert path.stat().st_ino == before


def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, monkeypatch):
    path = tmp_path / "b.txt"
    write_atomically(path, "old")
    monkeypatch.setattr("os.replace", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_atomically(path, "new")
    assert [each.read_text() for each in tmp_path.iterdir()] == ["old"]


@pytest.mark.parametrize("end", ["leaves", "is killed"])
def test_a_lock_makes_a_second_process_wait_until_the_first_leaves_or_dies(tmp_path, capsys, end):
    path, pipe = tmp_path / "locks" / "one", subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER, path], stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout.readline() == b"held\n"
        threading.Timer(0.2, holder.stdin.close if end == "leaves" else holder.kill).start()
        with locked(path, "waiting for the other"):
            assert holder.wait(5) is not None
    assert capsys.readouterr().err == "waiting for the other\n"


def test_a_free_lock_is_taken_without_a_word(tmp_path, capsys):
    with locked(tmp_path / "one", "waiting"):
        pass
    assert capsys.readouterr().err == ""
