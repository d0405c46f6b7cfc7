"""Files read past the page cache, threads that stay on a core, and how wide a core's vectors are."""

import mmap
import os
import threading

import pytest

from d2l_utils.machine import system
from d2l_utils.machine.system import pinned_threads, vector_bits


def page_of(file, number):
    with file, mmap.mmap(-1, 4096) as page:
        file.seek(4096 * number)
        assert file.readinto(page) == 4096
        return page[:]


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "numbers"
    path.write_bytes(bytes(4096) + bytes(range(256)) * 16)
    return path


def test_pages_read_past_the_cache_are_those_of_the_file(path):
    assert page_of(system.open_direct(path), 1) == bytes(range(256)) * 16


def test_where_the_system_refuses_the_file_is_read_as_usual_and_that_is_said_once(path, monkeypatch, capsys):
    monkeypatch.setattr(system, "_reads", lambda path: False)
    monkeypatch.setattr(system.sys, "platform", "linux")
    system._say_once.cache_clear()
    assert page_of(system.open_direct(path), 0) == page_of(system.open_direct(path), 0) == bytes(4096)
    assert capsys.readouterr().out == "reads here come through the page cache\n"


def test_a_missing_file_is_an_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        system.open_direct(tmp_path / "nothing")


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="the system offers no choice of CPUs")
def test_each_pinned_thread_keeps_to_one_cpu_of_this_process():
    allowed = os.sched_getaffinity(0)
    number = min(2, len(allowed))

    together = threading.Barrier(number)  # so that no thread takes two turns

    def home(_):
        together.wait(timeout=30)
        return os.sched_getaffinity(0)

    with pinned_threads(number) as pool:
        homes = list(pool.map(home, range(number)))
    assert all(len(home) == 1 and home <= allowed for home in homes)
    assert len(set().union(*homes)) == number
    assert os.sched_getaffinity(0) == allowed


def test_more_threads_than_cpus_are_placed_by_the_system():
    number = (os.cpu_count() or 1) + 1
    with pinned_threads(number) as pool:
        assert list(pool.map(abs, range(number))) == list(range(number))


@pytest.mark.parametrize(
    ("flags", "bits"), [("sse2 avx avx2 avx512f", 512), ("sse2 avx avx2", 256), ("fp asimd", 128), (None, 128)]
)
def test_vectors_are_as_wide_as_the_flags_of_the_processor_say(tmp_path, flags, bits):
    path = tmp_path / "cpuinfo"
    if flags:
        path.write_text(f"processor : 0\nflags : {flags}\n")
    assert vector_bits(path) == bits
