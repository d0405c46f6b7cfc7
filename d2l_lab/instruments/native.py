"""C and C++ in a notebook: a compiler with the flags that it knows, and arrays that begin where a cache line does."""

import atexit
import math
import os
import shlex
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

import numpy as np

FLAGS = ("-O3", "-ffast-math", "-shared", "-fPIC", "-w")  # errors alone
NATIVE = ("-march=native", "-mcpu=native")  # for this very processor; older compilers for Arm know only the second
COMPILERS = {".c": ("CC", "cc", "gcc", "clang"), ".cc": ("CXX", "c++", "g++", "clang++")}
LANES = {"__AVX512F__": 16, "__AVX__": 8}  # numbers of float32 in a vector register, by the compiler's macro
LINE = 128  # bytes; the longest cache line of today's processors


class CompilerError(Exception):
    """There is no compiler, or it refused a program; the message is all that a reader needs."""


def compiled(source: str, *flags: str) -> Path:
    """Compile a program in C (.c) or C++ (.cc) into a library for this processor, and return the library's path.

    The macro LANES is the number of float32 values in a vector register: 16, 8 or 4. The library is gone when the
    process ends: on another processor it might not run.

    Parameters
    ----------
    source
        The program's path.
    *flags
        Further arguments of the compiler, such as where headers and libraries lie.

    Raises
    ------
    CompilerError
        If there is no compiler, or it finds a mistake.
    """
    compiler = find_compiler(Path(source).suffix)
    native, lanes = processor_flags(compiler)
    library = folder() / f"{Path(source).stem}-{len(list(folder().iterdir()))}.so"
    # Libraries come last: a linker looks in them for what it has missed before.
    command = [*compiler, *FLAGS, *native, f"-DLANES={lanes}", str(source), "-o", str(library), *flags, "-lm"]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise CompilerError(f"{compiler[0]} does not compile {source}:\n{done.stderr.strip()}")
    return library


def find_compiler(suffix: str) -> tuple[str, ...]:
    """Return the compiler for files that end so, as words of a command: the environment's choice, or one by its name."""
    variable, *names = COMPILERS[suffix]
    chosen = shlex.split(os.environ.get(variable, ""))
    for command in [chosen] if chosen else [[name] for name in names]:
        if shutil.which(command[0]):
            return tuple(command)
    tried = " ".join([f"${variable}", *names])
    raise CompilerError(
        f"no compiler for {suffix} (tried {tried}): install GCC or Clang (Debian: apt install g++, macOS: "
        "xcode-select --install), then run this cell again"
    )


@cache
def processor_flags(compiler: tuple[str, ...]) -> tuple[tuple[str, ...], int]:
    """Return the flag with which a compiler writes for this very processor, if it knows one, and the lanes it has."""
    for flags in [(flag,) for flag in NATIVE] + [()]:
        command = [*compiler, *flags, "-x", "c", "-dM", "-E", os.devnull]  # prints all macros, compiles nothing
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode == 0:
            break
    return flags, next((lanes for macro, lanes in LANES.items() if f"#define {macro} " in done.stdout), 4)


@cache
def folder() -> Path:
    """Return the folder of this process's libraries, which goes with it."""
    made = tempfile.mkdtemp(prefix="kernels-")
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return Path(made)


def aligned(*shape: int) -> np.ndarray:
    """Return zeros in float32 whose first number begins a cache line, in pages that the process has."""
    count = math.prod(shape)
    room = np.full(count + LINE // 4, 0, dtype=np.float32)  # np.zeros would leave the pages to the first write
    first = -room.ctypes.data // 4 % (LINE // 4)
    return room[first : first + count].reshape(shape)
