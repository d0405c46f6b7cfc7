"""C and C++ in a notebook: a compiler, arrays that begin where a cache line does, and the time of a product's row."""

import atexit
import os
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from d2l_lab.instruments.timing import Measurement, measure

FLAGS = ("-O3", "-ffast-math", "-shared", "-fPIC", "-w")  # errors alone
NATIVE = ("-march=native", "-mcpu=native")  # for this very processor; older compilers for Arm know only the second
WIDEST = ("-mprefer-vector-width=512",)  # by themselves, compilers take half of it for Intel
COMPILERS = {".c": ("CC", "cc", "gcc", "clang"), ".cc": ("CXX", "c++", "g++", "clang++")}
LANES = {"__AVX512F__": 16, "__AVX__": 8}  # numbers of float32 in a vector register, by the compiler's macro
SPIN = 0.1  # seconds in which the threads of NumPy's product, which keep a core busy while they wait, go to sleep
SEEN = 0.4  # seconds of runs, after which it is known what others did meanwhile
LINE = 128  # bytes; the longest cache line of today's processors
HEADERS = Path(__file__).parents[1] / "kernels"  # programs of a section that later ones include


class CompilerError(Exception):
    """A compiler refused a program, or there is none; the message is all that a reader needs."""

    def _render_traceback_(self) -> list[str]:
        """Return what IPython shows in place of a traceback."""
        return str(self).split("\n")


class NoCompilerError(CompilerError):
    """There is no compiler; a build leaves the notebook out."""


def compiled(source: str, *flags: str) -> Path:
    """Compile a program in C (.c) or C++ (.cc) into a library for this processor, and return the library's path.

    The macro LANES is the number of float32 values in a vector register: 16, 8 or 4. The program may include what
    d2l_lab/kernels holds. The library is gone when the process ends: on another processor it might not run.

    Parameters
    ----------
    source
        The program's path.
    *flags
        Further arguments of the compiler, such as where headers and libraries lie.

    Raises
    ------
    CompilerError
        If the compiler finds a mistake; NoCompilerError if there is none.
    """
    compiler = find_compiler(Path(source).suffix)
    native, lanes = processor_flags(compiler)
    library = folder() / f"{Path(source).stem}-{len(list(folder().iterdir()))}.so"
    # Libraries come last: a linker looks in them for what it has missed before.
    defined = [f"-DLANES={lanes}", f"-I{HEADERS}"]
    command = [*compiler, *FLAGS, *native, *defined, str(source), "-o", str(library), *flags, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CompilerError(f"{compiler[0]} does not compile {source}:\n{done.stderr.strip()}")
    return library


def find_compiler(suffix: str) -> tuple[str, ...]:
    """Return the compiler for files that end so, as words of a command: the environment's choice, or one of ours."""
    variable, *names = COMPILERS[suffix]
    chosen = shlex.split(os.environ.get(variable, ""))
    for command in [chosen] if chosen else [[name] for name in names]:
        if shutil.which(command[0]):
            return tuple(command)
    tried = " ".join([f"${variable}", *names])
    raise NoCompilerError(
        f"no compiler for {suffix} (tried {tried}): install GCC or Clang (Debian: apt install g++, macOS: "
        "xcode-select --install), then run this cell again"
    )


def has_compiler(suffix: str) -> bool:
    """Return whether there is a compiler for files that end so; if not, say which ones were looked for."""
    try:
        find_compiler(suffix)
    except NoCompilerError as error:
        print(error)
        return False
    return True


@cache
def processor_flags(compiler: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Return the flags with which a compiler writes for this very processor, if it knows any, and the lanes it has."""
    for flags in [(flag,) for flag in NATIVE] + [()]:
        command = [*compiler, *flags, "-x", "c", "-dM", "-E", os.devnull]  # prints all macros, compiles nothing
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            break
    lanes = next((lanes for macro, lanes in LANES.items() if f"#define {macro} " in done.stdout), 4)
    return flags + WIDEST * (lanes == 16), lanes


@cache
def folder() -> Path:
    """Return the folder of this process's libraries, which goes with it."""
    made = tempfile.mkdtemp(prefix="kernels-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def aligned(values: np.ndarray) -> np.ndarray:
    """Return a copy in float32, in rows, whose first number begins a cache line."""
    room = np.empty(values.size + LINE // 4, dtype=np.float32)
    first = -room.ctypes.data // 4 % (LINE // 4)
    copy = room[first : first + values.size].reshape(values.shape)
    copy[:] = values
    return copy


def together(call: Callable[[], object], threads: int) -> Callable[[], object]:
    """Return a function that runs a call of C in so many threads at once, since a call of C releases Python's lock."""
    pool = ThreadPoolExecutor(threads)
    return lambda: list(pool.map(lambda _: call(), range(threads)))


def per_row(
    kernel: Callable[..., object], A: np.ndarray, B: np.ndarray, rows: int, *more: int, threads: int = 1
) -> Measurement:
    """Check that a kernel multiplies, then measure its seconds for a row of C = A B.

    Parameters
    ----------
    kernel
        A function of C, called with the addresses of A, B and C, with n, the number of rows, and `more`. It may add to
        what C holds, which are zeros at first.
    A, B
        Matrices in float32 of shapes (m, n) and (n, n).
    rows
        How many rows of C it computes in a call, at most m.
    threads
        How many threads divide the rows, each a multiple of six but the last; a call of C releases Python's lock.

    Raises
    ------
    AssertionError
        If the rows are not those of A B.
    """
    n, C = len(B), aligned(np.zeros((rows, len(B))))
    ends = [rows * i // threads // 6 * 6 for i in range(threads)] + [rows]

    def compute(first: int, end: int) -> None:
        kernel(A[first:].ctypes, B.ctypes, C[first:].ctypes, n, end - first, *more)

    with ThreadPoolExecutor(threads) as pool:

        def compute_all() -> None:
            list(pool.map(compute, ends[:-1], ends[1:]))

        compute_all()
        assert np.allclose(C, A[:rows] @ B, rtol=1e-3), "the kernel's C is not A B"
        time.sleep(SPIN)
        found = measure(compute_all, 30, SEEN)
    seconds = tuple(seconds / rows for seconds in found.seconds)
    return replace(found, seconds=seconds, number=found.number * rows)
