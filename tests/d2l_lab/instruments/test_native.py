"""C in a notebook: a compiler is found, or its absence told in a line; libraries and arrays are as promised."""

import ctypes
import os
import shutil
import stat
import subprocess
import sys
import threading

import numpy as np
import pytest

from d2l_lab.instruments import native
from d2l_lab.instruments.timing import Measurement
from d2l_lab.machine.disturbance import Disturbance

needs_compiler = pytest.mark.skipif(not shutil.which("cc"), reason="no C compiler")
TWICE = "int twice(int x) { return 2 * x; }\nint lanes(void) { return LANES; }\n"


@pytest.fixture(autouse=True)
def default_compilers(monkeypatch):
    for variable in ("CC", "CXX"):
        monkeypatch.delenv(variable, raising=False)


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "twice.c"
    path.write_text(TWICE)
    return str(path)


def fake(folder, name, script):
    """Put a program of this name into a folder."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@needs_compiler
def test_a_function_in_c_is_called_from_python(source):
    library = ctypes.CDLL(native.compiled(source))
    assert library.twice(21) == 42
    assert library.lanes() in (4, 8, 16)


@needs_compiler
def test_a_source_that_has_changed_gives_a_new_library(source, tmp_path):
    before = ctypes.CDLL(native.compiled(source))
    (tmp_path / "twice.c").write_text(TWICE.replace("2 * x", "3 * x"))
    assert (before.twice(1), ctypes.CDLL(native.compiled(source)).twice(1)) == (2, 3)


@needs_compiler
def test_a_library_is_gone_when_the_process_has_ended(source):
    program = f"from d2l_lab.instruments.native import compiled; print(compiled({source!r}))"
    path = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.strip()
    assert path
    assert not os.path.exists(os.path.dirname(path))


@needs_compiler
def test_a_mistake_in_a_program_is_told_in_the_compilers_words(source, tmp_path):
    (tmp_path / "twice.c").write_text("int twice(int x) { return 2 * y; }\n")
    with pytest.raises(native.CompilerError, match=r"(?s)does not compile .*twice\.c:.*y"):
        native.compiled(source)


@pytest.mark.parametrize(("suffix", "tried"), [(".c", r"\$CC cc gcc clang"), (".cc", r"\$CXX c\+\+ g\+\+ clang\+\+")])
def test_without_a_compiler_a_line_says_what_to_install(monkeypatch, tmp_path, suffix, tried):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(native.NoCompilerError, match=rf"^no compiler for {suffix} \(tried {tried}\): install [^\n]*$"):
        native.find_compiler(suffix)


def test_without_a_compiler_a_section_goes_on_and_says_so(monkeypatch, tmp_path, capsys):
    fake(tmp_path, "c++", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert native.has_compiler(".cc")
    assert not native.has_compiler(".c")
    assert capsys.readouterr().out.startswith("no compiler for .c (tried ")


@needs_compiler
def test_a_program_includes_what_an_earlier_section_wrote(tmp_path):
    (tmp_path / "rows.c").write_text('#include "tile.h"\nint rows(void) { return ROWS; }\n')
    assert ctypes.CDLL(native.compiled(str(tmp_path / "rows.c"))).rows() == 6


def test_a_notebook_shows_the_words_of_an_error_without_a_traceback():
    assert native.CompilerError("first\nsecond")._render_traceback_() == ["first", "second"]


def test_the_compiler_that_the_environment_names_comes_first(monkeypatch, tmp_path):
    chosen = fake(tmp_path, "chosen", "exit 0")
    monkeypatch.setenv("CC", f"{chosen} -m64")
    assert native.find_compiler(".c") == (chosen, "-m64")


def test_clang_is_found_where_it_is_the_only_one(monkeypatch, tmp_path):
    fake(tmp_path, "clang", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert native.find_compiler(".c") == ("clang",)


@pytest.mark.parametrize(
    ("script", "found"),
    [
        (
            "echo '#define __AVX__ 1'; echo '#define __AVX512F__ 1'",
            (("-march=native", "-mprefer-vector-width=512"), 16),
        ),
        ("echo '#define __AVX__ 1'", (("-march=native",), 8)),
        ("case $1 in -march*) exit 1;; esac", (("-mcpu=native",), 4)),
        ("case $1 in -m*) exit 1;; esac", ((), 4)),
    ],
)
def test_the_flags_for_this_processor_are_those_that_the_compiler_knows(tmp_path, script, found):
    assert native.processor_flags((fake(tmp_path, "compiler", script),)) == found


@pytest.mark.parametrize("values", [np.ones(1), np.arange(15).reshape(3, 5).T, np.zeros((10, 100), np.float32)])
def test_an_array_begins_where_a_cache_line_does(values):
    array = native.aligned(values)
    assert array.ctypes.data % native.LINE == 0
    assert array.dtype == "float32"
    assert array.flags.c_contiguous
    assert np.array_equal(array, values)


@pytest.mark.parametrize(("rows", "threads"), [(1, 1), (24, 1), (24, 3), (13, 2)])
def test_threads_share_the_rows_of_a_product(rows, threads):
    A, B, parts = np.ones((24, 8), np.float32), np.full((8, 8), 2, np.float32), []

    def kernel(a, b, c, n, count, extra):
        parts.append((count, n, extra))
        np.ctypeslib.as_array(ctypes.cast(c.data, ctypes.POINTER(ctypes.c_float)), (count, n))[:] = 16

    found = native.per_row(kernel, A, B, rows, 5, threads=threads)
    assert sum(count for count, *_ in parts[:threads]) == rows
    assert {part[1:] for part in parts} == {(8, 5)}
    assert found.number % rows == 0


def test_a_row_takes_what_disturbed_the_measurement(monkeypatch):
    found = Measurement((6.0, 3.0, 9.0), 2, Disturbance(others=1.0, cores=2))
    monkeypatch.setattr(native, "measure", lambda *_, **__: found)
    A, B = np.zeros((3, 4), np.float32), np.zeros((4, 4), np.float32)
    assert native.per_row(lambda *_: None, A, B, 3) == Measurement((2.0, 1.0, 3.0), 6, found.disturbance)


def test_a_kernel_that_does_not_multiply_is_not_timed():
    with pytest.raises(AssertionError, match="is not A B"):
        native.per_row(lambda *_: None, np.ones((2, 4), np.float32), np.ones((4, 4), np.float32), 2)


@pytest.mark.parametrize("threads", [1, 3])
def test_calls_together_are_under_way_at_the_same_time(threads):
    all_there = threading.Barrier(threads, timeout=30)  # breaks, with an error, unless all calls wait there at once
    assert len(native.together(all_there.wait, threads)()) == threads
